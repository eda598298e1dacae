// A try: what was sent to an agent through the gateway, what came back, and how that is shown. Tries stay while the page is open.
import { html, still, useEffect, useRef, useState } from "./dom.js";
import { Advice } from "./advice.js";
import { send } from "./api.js";
import { Fields, useForm } from "./form.js";
import { EventReader } from "./sse.js";
import { bytes, clock, link, ms, name, newId, shellWord, visible } from "./text.js";
import { Copy } from "./widgets.js";

const mostEvents = 1000;
const mostShown = 500;
const mostText = 64 * 1024;  // characters of an answer that are kept to be looked at
const mostAnswer = 32 * 1024 * 1024;

const kept = new Map();
export const triesOf = (id) => kept.get(id) ?? [];

const listeners = new Set();
// Calls `listener` when a try has changed; returns what ends that.
export function watchTries(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const ofProtocol = /^(accept|content-type|last-event-id|a2a-.*|mcp-.*)$/i;

// A request as any caller would send it. A caller's own fields have other names on their way: a credential among them is not for the gateway.
export const sendTry = (path, { headers, ...options }) => send(`try/${path}`, { ...options, headers: Object.fromEntries(
  Object.entries(headers).map(([key, value]) => [ofProtocol.test(key) ? key : `Cardea-Caller-${key}`, value])) });

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// What an answer that is no result says: an error of JSON-RPC, or the HTTP status.
export function problemOf(message, { status }) {
  const error = message?.error;
  if (error) return [error.message ?? JSON.stringify(error), error.code && `(${error.code})`].filter(Boolean).join(" ");
  return status >= 400 || message?.result === undefined ? `The answer is HTTP ${status} without a result.` : "";
}

export class Attempt {
  id = newId();
  at = new Date();
  exchanges = [];
  events = [];
  missed = 0;
  status = "running"; // then `done`, `failed` or `cancelled`
  questions = [];     // of the server: `{params, reply}`, answered one after the other
  stop = null;        // tells the agent of a cancel
  #leaving = new AbortController();
  #timer = 0;

  constructor(agent, label) {
    this.label = label;
    kept.set(agent, [this, ...triesOf(agent)].slice(0, 20));
  }

  get running() {
    return this.status === "running";
  }

  // Tells the page, at most every 50 ms.
  changed() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      listeners.forEach((listener) => listener());
    }, this.events.length < 2 ? 0 : 50);
  }

  event(kind, { state = "", words = "" }) {
    this.events.push({ ms: performance.now() - this.begun, kind, state, words: visible(String(words ?? "").slice(0, 2000)) });
    if (this.events.length > mostEvents * 1.25) this.missed += this.events.splice(0, this.events.length - mostEvents).length;
    this.state = state || this.state;
    this.changed();
  }

  // Runs `work(this)`, which makes the exchanges; a failure of it is the try's.
  async run(work) {
    this.begun = performance.now();
    try {
      await work(this);
      if (this.running) this.status = this.cancelling ? "cancelled" : "done";
    } catch (error) {
      if (this.running && error.name === "AbortError") this.status = "cancelled";
      else if (this.running) this.fail(error.message);
    }
    this.ms = performance.now() - this.begun;
    this.questions = [];
    this.changed();
  }

  // After a cancel the end of the answer is no failure, whatever it is.
  fail(problem) {
    this.status = this.cancelling ? "cancelled" : "failed";
    if (this.cancelling) return;
    this.problem ||= problem;
    this.event("error", { words: problem });
  }

  // The reply of the person to a question of the server: `{action, content}`.
  ask(params) {
    return new Promise((done, failed) => {
      const question = { params, reply: (reply) => {
        this.questions = this.questions.filter((each) => each !== question);
        this.event("answered", { words: reply.action });
        done(reply);
      } };
      this.questions.push(question);
      this.#leaving.signal.addEventListener("abort", () => failed(this.#leaving.signal.reason));
      this.event("question", { words: params?.message });
    });
  }

  // Ends it at the agent, if there is a way to say so, and leaves the answer as any caller that leaves.
  async cancel() {
    this.cancelling = true;
    this.changed();
    await this.stop?.().catch((error) => this.event("error", { words: error.message }));
    if (this.running) this.status = "cancelled";
    this.#leaving.abort();
    this.changed();
  }

  // Sends one request and reads its answer; `take` gets each message of it. Gives the exchange, whose status may be any.
  async exchange({ path, headers, message }, take, signal = this.#leaving.signal) {
    const made = { path, headers, body: JSON.stringify(message), method: message.method ?? "answer", fields: [], text: "" };
    this.exchanges.push(made);
    this.changed();
    const begun = performance.now();
    try {
      const response = await sendTry(path, { method: "POST", headers, body: made.body, signal });
      made.status = response.status;
      made.fields = [...response.headers];
      this.code = response.headers.get("cardea-error") ?? this.code;
      await read(response, made, take);
    } finally {
      made.ms = performance.now() - begun;
      this.changed();
    }
    return made;
  }
}

async function read(response, made, take) {
  const isStream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
  const reader = new EventReader();
  const decoder = new TextDecoder();
  const pieces = response.body?.getReader();
  let whole = "";
  made.size = 0;
  for (let done = !pieces, value; !done;) {
    ({ done, value } = await pieces.read());
    const text = decoder.decode(value, { stream: !done });
    made.size += text.length;
    made.text += text.slice(0, mostText - made.text.length);
    if (isStream) {
      let begun = performance.now();
      for (const { data } of reader.feed(text)) {
        if (data) take?.(parsed(data), made);
        if (performance.now() - begun < 8) continue;
        await new Promise((go) => setTimeout(go)); // Keys come first.
        begun = performance.now();
      }
      continue;
    }
    whole += text;
    if (made.size > mostAnswer) throw new Error("The answer is larger than 32 MiB.");
  }
  if (!isStream && (whole || made.status >= 400)) take?.(parsed(whole), made);
}

const secret = /authorization|token|secret|password|api-?key|cookie/i;

// The same request for a shell, to the address of callers. `$CREDENTIAL` stands for a credential.
const curlOf = ({ headers, body }, url) => ["curl -sN", shellWord(url), ...Object.entries(headers).map(([key, value]) =>
  secret.test(key) ? `-H "${key}: $CREDENTIAL"` : `-H ${shellWord(`${key}: ${value}`)}`), "-d", shellWord(body)].join(" ");

const marks = { running: "…", done: "●", failed: "✕", cancelled: "○" };

export const AttemptList = ({ tries, chosen, choose }) => html`<ul class="tries plain" aria-label="Tries">${tries.map((each) => html`<li key=${each.id}>
  <button class="quiet" aria-current=${each === chosen && "true"} onClick=${() => choose(each.id)}><span aria-hidden="true">${marks[each.status]}</span>
    ${" "}${clock(each.at)} ${name(each.label, 60)} · ${each.status}${each.ms && ` · ${ms(each.ms)}`}</button></li>`)}</ul>`;

const Event = still(({ event: { ms: time, kind, state, words } }) => html`<div class=${kind === "error" ? "bad" : ""}>
  <span class="dim">+${ms(time)}</span> <b>${name(kind, 60)}</b> ${state && html`<span class="tag">${name(state, 60)}</span>`} <span class="break">${words}</span></div>`);

function Events({ of: { events, missed, running } }) {
  const box = useRef(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  });
  const scrolled = ({ target }) => { atEnd.current = target.scrollHeight - target.scrollTop - target.clientHeight < 40; };
  const before = missed + Math.max(0, events.length - mostShown);
  return html`<div role="log" aria-label="Events" class="events" tabindex="0" ref=${box} onScroll=${scrolled}>
    ${before > 0 && html`<div class="dim">${before} earlier events are not shown.</div>`}
    ${events.slice(-mostShown).map((event, i) => html`<${Event} key=${before + i} event=${event} />`)}
    ${running && events.length === 0 && html`<div class="dim">Waiting for the first event …</div>`}
  </div>`;
}

function Question({ params, reply }) {
  const isUrl = params?.mode === "url";
  const target = isUrl && link(params.url);
  const form = useForm(params?.requestedSchema ?? {}, "question");
  const accept = (event) => {
    event.preventDefault();
    const content = isUrl ? undefined : form.read();
    if (isUrl || content) reply({ action: "accept", content });
  };
  return html`<form class="panel question stack" aria-label="Question of the server" noValidate onSubmit=${accept}>
    <h3>The server asks</h3>
    <p class="break">${visible(String(params?.message ?? "").slice(0, 4000))}</p>
    ${isUrl ? html`<p>${target ? html`<a href=${target} target="_blank" rel="noopener noreferrer">${visible(target)}</a>` : visible(params.url)}</p>`
      : html`<${Fields} form=${form} prefix="question" label="Answer as JSON" />`}
    <div class="row"><button type="submit">Answer</button>
      <button type="button" onClick=${() => reply({ action: "decline" })}>Decline</button>
      <button type="button" onClick=${() => reply({ action: "cancel" })}>Dismiss</button></div>
  </form>`;
}

const pretty = (text) => (text.length < 100000 && parsed(text) ? JSON.stringify(parsed(text), null, 2) : text);
const Raw = ({ label, first, fields, text }) => html`<pre class="wrap" tabindex="0" aria-label=${label}>
  ${visible([first, ...fields.map(([key, value]) => `${key}: ${secret.test(key) ? "••••" : value}`), "", pretty(text)].join("\n"))}</pre>`;

function Exchange({ made, url, open }) {
  const [shown, show] = useState(open);
  return html`<details open=${open} onToggle=${(event) => show(event.target.open)}>
    <summary>${made.method} · ${made.status ?? "no answer"}${made.ms && ` · ${ms(made.ms)}`}</summary>
    ${shown && html`<div class="columns">
      <div><div class="row end"><h3>Request</h3><span>as curl <${Copy} text=${curlOf(made, url)} label="Copy as curl" /></span></div>
        <${Raw} label="Request" first=${`POST ${url}`} fields=${Object.entries(made.headers)} text=${made.body} /></div>
      <div><div class="row end"><h3>Answer</h3><span class="dim">${bytes(made.size)}${made.size > mostText && ", cut"}</span></div>
        <${Raw} label="Answer" first=${made.status ? `HTTP ${made.status}` : "No answer"} fields=${made.fields} text=${made.ms ? made.text : made.text.slice(-20000)} /></div>
    </div>`}
  </details>`;
}

export function AttemptView({ of, url }) {
  const { status, progress, questions, exchanges, running } = of;
  const main = exchanges.findLastIndex(({ method }) => /^(tools\/|message\/|Send)/.test(method));
  const total = progress?.total > 0 ? progress.total : null;
  return html`<section class="panel" aria-label="Try">
    <div class="row"><h2>${name(of.label, 80)}</h2>
      <span role="status" class=${`status ${{ failed: "unhealthy", done: "healthy" }[status]}`}><span aria-hidden="true">${marks[status]}</span>
        ${" "}${of.cancelling && running ? "cancelling" : status}${of.state && ` · ${name(of.state, 40)}`}</span>
      <span class="dim">${of.ms && ms(of.ms)}</span>
      <button disabled=${!running || of.cancelling} onClick=${() => of.cancel()}>Cancel</button></div>
    ${of.problem && html`<p role="alert" class="problem break">${visible(of.problem.slice(0, 4000))}</p>${of.code && html`<${Advice} code=${of.code} />`}`}
    ${of.taskId && html`<p class="dim small">Task <code>${name(of.taskId)}</code> · context <code>${name(of.contextId)}</code></p>`}
    ${progress && running && html`<progress aria-label="Progress" max=${total} value=${total && Math.min(progress.value, total)}></progress>`}
    ${questions[0] && html`<${Question} key=${questions[0]} ...${questions[0]} />`}
    <${Events} of=${of} />
    ${exchanges.map((made, i) => html`<${Exchange} key=${i} made=${made} url=${url} open=${i === main} />`)}
  </section>`;
}
