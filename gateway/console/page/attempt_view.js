// How a try is shown: its events as they come, a question of the server, the requests and the answers as they were.
import { html, still, useEffect, useRef, useState } from "./dom.js";
import { Advice } from "./advice.js";
import { curlOf } from "./attempt.js";
import { Fields, useForm } from "./fields.js";
import { bytes, clock, link, ms, name, visible } from "./text.js";
import { Copy } from "./widgets.js";

const shownEvents = 500;
const marks = { running: "…", done: "●", failed: "✕", cancelled: "○" };

export function AttemptList({ tries, chosen, choose }) {
  return html`<ol class="tries plain" aria-label="Tries">${tries.map((each) => html`<li key=${each.id}>
    <button class="quiet" aria-current=${each === chosen ? "true" : null} onClick=${() => choose(each.id)}>
      <span aria-hidden="true">${marks[each.status]}</span> ${clock(each.at)} ${name(each.label, 60)} · ${each.status}${each.ms === undefined ? "" : ` · ${ms(each.ms)}`}
    </button></li>`)}</ol>`;
}

const Event = still(({ event: { ms: time, kind, state, words: said } }) => html`<div class=${kind === "error" ? "bad" : ""}>
  <span class="dim">+${ms(time)}</span> <b>${name(kind, 60)}</b> ${state && html`<span class="tag">${name(state, 60)}</span>`}
  ${said && html`<span class="break"> ${said}</span>`}</div>`);

function Events({ of }) {
  const box = useRef(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const scrolled = ({ target }) => { atEnd.current = target.scrollHeight - target.scrollTop - target.clientHeight < 40; };
  const before = of.missed + Math.max(0, of.events.length - shownEvents);
  return html`<div role="log" aria-label="Events" class="events" tabindex="0" ref=${box} onScroll=${scrolled}>
    ${before > 0 && html`<div class="dim">${before} earlier events are not shown.</div>`}
    ${of.events.slice(-shownEvents).map((event, i) => html`<${Event} key=${before + i} event=${event} />`)}
    ${of.running && of.events.length === 0 && html`<div class="dim">Waiting for the first event …</div>`}
  </div>`;
}

function Question({ params, reply }) {
  const isUrl = params?.mode === "url";
  const form = useForm(params?.requestedSchema ?? { type: "object", properties: {} }, "question");
  const accept = (event) => {
    event.preventDefault();
    const content = isUrl ? undefined : form.read();
    if (isUrl || content !== undefined) reply({ action: "accept", ...(isUrl ? {} : { content }) });
  };
  const target = isUrl ? link(params.url) : "";
  return html`<form class="panel question stack" aria-label="Question of the server" noValidate onSubmit=${accept}>
    <h3>The server asks</h3>
    <p class="break">${visible(String(params?.message ?? "").slice(0, 4000))}</p>
    ${isUrl && html`<p>${target ? html`<a href=${target} target="_blank" rel="noopener noreferrer">${visible(target)}</a>` : html`<code>${visible(params.url)}</code>`}</p>`}
    ${!isUrl && html`<${Fields} form=${form} prefix="question" label="Answer as JSON" />`}
    <div class="row"><button type="submit">Answer</button>
      <button type="button" onClick=${() => reply({ action: "decline" })}>Decline</button>
      <button type="button" onClick=${() => reply({ action: "cancel" })}>Dismiss</button></div>
  </form>`;
}

const secret = /^(authorization|proxy-authorization|.*(token|secret|password|api-?key).*)$/i;
const head = (first, fields) => [first, ...fields.map(([key, value]) => `${key}: ${secret.test(key) ? "••••" : value}`)].join("\n");

function pretty(text) {
  try {
    return text.length < 100000 && /^\s*[[{]/.test(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  } catch {
    return text;
  }
}

function Exchange({ made, publicUrl, open }) {
  const [shown, show] = useState(open);
  const text = made.ms === undefined ? made.text.slice(-20000) : pretty(made.text);
  const method = /"method":"([^"]+)"/.exec(made.body)?.[1] ?? "";
  return html`<details open=${open} onToggle=${(event) => show(event.target.open)}>
    <summary>${made.method} ${method} · ${made.status || "no answer"}${made.ms === undefined ? "" : ` · ${ms(made.ms)}`}</summary>
    ${shown && html`<div class="columns">
      <div class="stack"><div class="row end"><h3>Request</h3><span>as curl <${Copy} text=${curlOf(made, publicUrl)} label="Copy as curl" /></span></div>
        <pre class="wrap" tabindex="0" aria-label="Request">${visible(head(`${made.method} ${publicUrl}`, Object.entries(made.headers)))}${"\n\n"}${visible(pretty(made.body))}</pre></div>
      <div class="stack"><div class="row end"><h3>Answer</h3><span class="dim">${bytes(made.text.length)}${made.cut && ", cut"}</span></div>
        <pre class="wrap" tabindex="0" aria-label="Answer">${made.status ? visible(head(`HTTP ${made.status}`, made.fields)) : "No answer."}${"\n\n"}${visible(text)}</pre></div>
    </div>`}
  </details>`;
}

export function AttemptView({ of, publicUrl }) {
  const { status, progress, questions, exchanges } = of;
  const main = exchanges.findLastIndex((each) => /tools\/|[Mm]essage/.test(each.body));
  return html`<section class="panel" aria-label="Try">
    <div class="row"><h2 class="grow">${name(of.label, 80)}</h2>
      <span role="status" class=${`status ${status === "failed" ? "unhealthy" : status === "done" ? "healthy" : ""}`}>
        <span aria-hidden="true">${marks[status]}</span> ${of.cancelling && of.running ? "cancelling" : status}${of.state && ` · ${name(of.state, 40)}`}</span>
      <span class="dim">${of.ms === undefined ? "" : ms(of.ms)}</span>
      <button disabled=${!of.running || of.cancelling} onClick=${() => of.cancel()}>Cancel</button></div>
    ${of.problem && html`<p role="alert" class="problem break">${visible(of.problem.slice(0, 4000))}</p>`}
    ${of.problem && of.code && html`<${Advice} code=${of.code} />`}
    ${of.taskId && html`<p class="dim small">Task <code>${name(of.taskId)}</code>${of.contextId && html` · context <code>${name(of.contextId)}</code>`}</p>`}
    ${progress && of.running && html`<progress aria-label="Progress" max=${progress.total > 0 ? progress.total : null} value=${progress.total > 0 ? Math.min(progress.value, progress.total) : null}></progress>`}
    ${questions[0] && html`<${Question} key=${of.events.length} ...${questions[0]} />`}
    <${Events} of=${of} />
    ${exchanges.map((made, i) => html`<${Exchange} key=${`${of.id} ${i}`} made=${made} publicUrl=${publicUrl} open=${i === main} />`)}
  </section>`;
}
