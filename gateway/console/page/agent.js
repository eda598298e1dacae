// The page of one agent: what is wrong and what to do first.
import { html, useEffect, useMemo, useState } from "./dom.js";
import { rpc } from "./api.js";
import { Cards, Patch } from "./card.js";
import { History } from "./charts.js";
import { Connect } from "./connect.js";
import { Contain, Contained } from "./contain.js";
import { useEvents } from "./events.js";
import { Pins } from "./pins.js";
import { useAct, usePoll } from "./poll.js";
import { to } from "./route.js";
import { clock, link, name, shellWord, span, visible } from "./text.js";
import { Act, Copy, Dialog, Problem, Sentence, Status } from "./widgets.js";
import { toolsOf } from "./wire.js";

// The seconds to the next try, counted down from when `session` came.
function useCountdown(session) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setPassed(0);
    const timer = setInterval(() => setPassed((performance.now() - begun) / 1000), 500);
    return () => clearInterval(timer);
  }, [session]);
  return Math.max(0, Math.ceil(session.next_attempt_in_seconds - passed));
}

function Session({ id, session, again }) {
  const left = useCountdown(session);
  const { state, reason, failure, server, detail = "" } = session;
  const rows = [
    ["State", html`<b>${name(state)}</b>${reason && html` (<code>${name(reason)}</code>)`}`],
    ["Next try", session.next_attempt_in_seconds !== undefined && (left ? `in ${left} s` : "now")],
    ["Detail", visible(detail)],
    ["Last failure", failure && `${name(failure.reason)}, ${span(failure.age_seconds)} ago${failure.detail && failure.detail !== detail ? `: ${visible(failure.detail)}` : ""}`],
    ["Server", server && name(`${server.name} ${server.version}`)],
    ["Protocol", session.protocolVersion && `${name(session.protocolVersion)}, ${name(session.era)} era, ${name(session.transport)}`],
    ["Up for", session.uptime_seconds !== undefined && span(session.uptime_seconds)],
    ["Restarts", `${session.restarts} in ${session.attempts ?? 0} attempts`],
  ];
  return html`<section class="panel"><h2>Session</h2>
    <dl>${rows.filter(([, value]) => value).map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>
    <${Act} name="Restart" command=${`cardea agents restart ${shellWord(id)}`} action=${() => rpc("agents/restart", { id }).finally(again)}
      words=${(done) => `Another session begins: ${name(done.session.state)}. Callers keep theirs.`} /></section>`;
}

const Endpoints = ({ id, endpoints, again }) => html`<section class="panel"><h2>Endpoints</h2><div class="scroll" tabindex="0" role="group" aria-label="Endpoints"><table class="wrap">
  <thead><tr><th>#</th><th>Breaker</th><th>Checks</th><th class="number">In flight</th><th>URL</th></tr></thead>
  <tbody>${endpoints.map(({ endpoint, breaker, healthy, in_flight: calls, url }) => html`<tr><td>${endpoint}</td><td class=${breaker === "closed" ? "" : "bad"}>${name(breaker.replace("_", " "))}</td>
    <td>${healthy ? "good" : "failing"}</td><td class="number">${calls}</td><td><code>${visible(url)}</code></td></tr>`)}</tbody></table></div>
  ${endpoints.some(({ breaker }) => breaker !== "closed") && html`<${Act} name="Reset breaker" command=${`cardea agents reset ${shellWord(id)}`}
    action=${() => rpc("agents/reset", { id }).finally(again)} words=${() => "The agent gets calls again."} />`}</section>`;

function Stderr({ id, first = [] }) {
  const { lines, state, since } = useEvents({ agent: id, event: "mcp_stderr", last: "200" }, { most: 500 });
  const live = lines.filter((each) => each.line).reverse();
  const shown = live.length ? live : first.map((text, key) => ({ key, line: { text } }));
  return html`<section class="panel"><div class="row"><h2>stderr</h2><span class="dim">${state === "away" ? `not live since ${clock(since)}` : state}</span></div>
    <div role="log" aria-label="stderr" class="events" tabindex="0">
      ${shown.map(({ key, line: { ts, text } }) => html`<div key=${key}><span class="dim">${ts && clock(ts)}</span> ${visible(text)}</div>`)}
      ${shown.length === 0 && html`<div class="dim">The program has written nothing.</div>`}</div></section>`;
}

function Schema({ title, of }) {
  const [open, setOpen] = useState(false);
  return of && html`<details onToggle=${(event) => setOpen(event.target.open)}><summary>${title}</summary>
    ${open && html`<pre tabindex="0" aria-label=${title}>${visible(JSON.stringify(of, null, 2).slice(0, 65536))}</pre>`}</details>`;
}

// `hidden`: of agents/get; `omitted`: of the session.
function Tools({ id, isMcp, card, hidden, omitted }) {
  const [text, setText] = useState("");
  const [most, setMost] = useState(100);
  const all = useMemo(() => toolsOf(card), [card]);
  const found = useMemo(() => all.filter((each) => `${each.name} ${each.title} ${each.description}`.toLowerCase().includes(text.toLowerCase())), [all, text]);
  return html`<section class="panel"><div class="row"><h2>${isMcp ? "Tools" : "Skills"} <span class="dim">${all.length}</span></h2>
      ${all.length > 10 && html`<label class="line">Filter <input type="text" value=${text} onInput=${(event) => setText(event.target.value)} /></label>`}</div>
    ${hidden?.count > 0 && html`<p>${hidden.count} hidden from callers:</p><ul>${hidden.first.map((each) => html`<li><code>${name(each.name)}</code>: ${visible(each.why)}</li>`)}</ul>`}
    ${omitted?.count > 0 && html`<p>${omitted.count} left out, since no caller could use them:</p><ul>${omitted.first.map((each) => html`<li class="break">${visible(each)}</li>`)}</ul>`}
    <ul class="plain stack">${found.slice(0, most).map((each) => html`<li key=${each.name}>
      <a href=${to(["agents", id, "try"], { [isMcp ? "tool" : "skill"]: each.name })}>${name(each.name)}</a> ${each.title && html`<b>${name(each.title)}</b>`}
      <div class="small break">${visible(String(each.description ?? "").slice(0, 600))}</div>
      <${Schema} title="Input schema" of=${each.inputSchema} /><${Schema} title="Output schema" of=${each.outputSchema} /></li>`)}</ul>
    ${found.length > most && html`<button onClick=${() => setMost(most + 400)}>More (${found.length - most})</button>`}</section>`;
}

// Looks what a refresh would change before it does it.
function Refresh({ id, again }) {
  const [open, setOpen] = useState(false);
  const [look, { busy, done, failure }] = useAct(() => rpc("agents/refreshCard", { id, dryRun: true }));
  const command = `cardea agents refresh ${shellWord(id)}`;
  return html`<button onClick=${() => {
      setOpen(true);
      look();
    }}>Refresh card</button>
    ${open && html`<${Dialog} title="Refresh the card" close=${() => setOpen(false)}>
      <p><code class="command">${command} --dry-run</code></p>
      ${busy && html`<p class="loading">Asking the agent for its card …</p>`}
      <${Problem} failure=${failure} />
      ${done && html`<p>${done.changed ? "Callers would get another card:" : "Callers would get the same card."}</p>${done.changed && html`<${Patch} patch=${done.diff} />`}
        <${Act} name="Refresh now" command=${command} action=${() => rpc("agents/refreshCard", { id }).finally(again)}
          words=${({ changed }) => (changed ? "Callers get the new card." : "The card is the same.")} />`}<//>`}`;
}

function Remove({ id, version }) {
  const [open, setOpen] = useState(false);
  const remove = async () => {
    await rpc("agents/delete", { id, ifVersion: version });
    location.hash = to([]);
  };
  return html`<button class="danger" onClick=${() => setOpen(true)}>Remove</button>
    ${open && html`<${Dialog} title=${`Remove ${id}`} close=${() => setOpen(false)}><p>Callers get 404 at once. The agent can be added again.</p>
      <${Act} name="Remove now" command=${`cardea agents remove ${shellWord(id)}`} action=${remove} /><//>`}`;
}

const Why = ({ agent: { status, why, advice, reason = "" } }) => status !== "healthy" && html`<div class=${`why-now ${status}`} role="status">
  <p><b><${Sentence} text=${name(why ?? reason, 400)} /></b></p>${advice && html`<p><${Sentence} text=${name(advice, 400)} /></p>`}<p class="small dim">Code <code>${name(reason)}</code></p></div>`;

export function Agent({ id }) {
  const poll = (method, seconds, more, ...keys) => usePoll((signal) => rpc(method, { id, ...more }, { signal }), seconds, [id, ...keys]);
  const health = poll("agents/health", 2);
  const stats = poll("agents/stats", 5);
  const agent = health.data;
  const known = poll("agents/get", 60, {}, agent?.status, agent?.session?.state, agent?.card?.state);
  const record = known.data;
  const etag = record?.card_status?.etag;
  const strict = poll("agents/card", 600, { a2aVersion: "1.0" }, etag);
  const again = () => {
    health.again();
    known.again();
  };
  useEffect(() => {
    document.title = `${id} · Cardea`;
  }, [id]);
  const problem = html`<${Problem} failure=${health.failure?.kind === "unreachable" ? null : health.failure} />`;
  if (!agent) return html`<h1>${name(id)}</h1>${problem}`;
  const isMcp = agent.protocol === "mcp";
  const url = link(agent.public_url);
  return html`
    <div class="row"><h1>${name(id)}</h1><${Status} of=${agent.status} /><span class="tag">${isMcp ? "MCP" : "A2A"}</span>
      ${record && html`<span class="tag">${record.stored ? `stored, version ${record.stored.version}` : "from the configuration"}</span>`}</div>
    ${agent.status === "contained" ? html`<${Contained} id=${id} terms=${record?.containment} done=${again} />` : html`<${Why} agent=${agent} />`}${problem}
    <div class="row"><a class="button" href=${to(["agents", id, "try"])}>Try</a><${Refresh} id=${id} again=${again} />
      <${Contain} id=${id} contained=${agent.status === "contained"} done=${again} />
      ${record?.stored && html`<${Remove} id=${id} version=${record.stored.version} />`}
      ${url && html`<span><code>${visible(url)}</code> <${Copy} text=${url} label="Copy public URL" /></span>`}</div>
    <div class="columns">
      ${agent.session && html`<${Session} id=${id} session=${agent.session} again=${again} />`}
      ${agent.endpoints && html`<${Endpoints} id=${id} endpoints=${agent.endpoints} again=${again} />`}
      ${isMcp && html`<${Stderr} id=${id} first=${record?.stderr} />`}</div>
    <section class="panel"><h2>Calls</h2><${History} stats=${stats.data} /></section>
    <${Pins} id=${id} changed=${again} />
    <${Tools} id=${id} isMcp=${isMcp} card=${strict.data?.served} hidden=${record?.hidden_tools} omitted=${agent.session?.left_out} />
    ${record && html`<${Cards} id=${id} status=${record.card_status} />`}
    ${url && html`<${Connect} agent=${agent} />`}`;
}
