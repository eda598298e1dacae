// The page of one agent: what is wrong and what to do first.
import { html, useEffect, useState } from "./dom.js";
import { rpc } from "./api.js";
import { Cards, Patch } from "./card.js";
import { History } from "./charts.js";
import { Connect } from "./connect.js";
import { useEvents } from "./events.js";
import { useAct, usePoll } from "./poll.js";
import { to } from "./route.js";
import { clock, link, name, span, visible } from "./text.js";
import { Tools } from "./tools.js";
import { Act, Copy, Dialog, Problem, Sentence, Status } from "./widgets.js";

const ask = (method, params) => (signal) => rpc(method, params, { signal });

// The seconds to a time `left` seconds after `data` came, counted down.
function useCountdown(left, data) {
  const [now, setNow] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    setNow(0);
    if (left === undefined) return undefined;
    const timer = setInterval(() => setNow((performance.now() - begun) / 1000), 500);
    return () => clearInterval(timer);
  }, [data]);
  return left === undefined ? null : Math.max(0, Math.ceil(left - now));
}

const Facts = ({ rows }) => html`<dl>${rows.filter(([, value]) => value !== undefined && value !== null && value !== "").map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>`;

function Session({ id, session, again }) {
  const left = useCountdown(session.next_attempt_in_seconds, session);
  const { failure } = session;
  return html`<section class="panel"><h2>Session</h2>
    <${Facts} rows=${[
      ["State", html`<b>${name(session.state)}</b>${session.reason && html` (<code>${name(session.reason)}</code>)`}`],
      ["Next try", left === null ? null : left === 0 ? "now" : `in ${left} s`],
      ["Detail", visible(session.detail ?? "")],
      ["Last failure", failure && html`<code>${name(failure.reason)}</code> ${span(failure.age_seconds)} ago${failure.detail && failure.detail !== session.detail ? `: ${visible(failure.detail)}` : ""}`],
      ["Server", session.server && `${name(session.server.name)} ${name(session.server.version)}`],
      ["Protocol", session.protocolVersion && `${name(session.protocolVersion)}, ${name(session.era)} era, ${name(session.transport)}`],
      ["Up for", session.uptime_seconds === undefined ? null : span(session.uptime_seconds)],
      ["Restarts", session.restarts],
      ["Attempts", session.attempts],
    ]} />
    <${Act} name="Restart" command=${`cardea agents restart ${id}`} action=${() => rpc("agents/restart", { id }).finally(again)} words=${() => "Another session has begun. Sessions of callers stay."} />
  </section>`;
}

function Endpoints({ id, endpoints, again }) {
  const open = endpoints.some((each) => each.breaker !== "closed");
  return html`<section class="panel"><h2>Endpoints</h2><div class="scroll"><table class="wrap"><thead><tr><th>#</th><th>Breaker</th><th>Checks</th><th class="number">In flight</th><th>URL</th></tr></thead>
    <tbody>${endpoints.map((each) => html`<tr><td>${each.endpoint}</td><td class=${each.breaker === "closed" ? "" : "bad"}>${name(each.breaker.replace("_", " "))}</td>
      <td>${each.healthy ? "good" : "failing"}</td><td class="number">${each.in_flight}</td><td><code>${visible(each.url)}</code></td></tr>`)}</tbody></table></div>
    ${open && html`<${Act} name="Reset breaker" command=${`cardea agents reset ${id}`} action=${() => rpc("agents/reset", { id }).finally(again)} words=${(done) => (done.reset ? "The agent gets calls again." : "Its breaker was closed.")} />`}
  </section>`;
}

function Stderr({ id, first }) {
  const { lines, state, since } = useEvents({ agent: id, event: "mcp_stderr", last: "200" }, { most: 500 });
  const shown = lines.filter((each) => each.line).reverse();
  return html`<section class="panel"><div class="row"><h2 class="grow">stderr</h2><span class="dim">${state === "live" ? "live" : state === "connecting" ? "" : `not live since ${clock(since)}`}</span></div>
    <div role="log" aria-label="stderr" class="events" tabindex="0">
      ${shown.length > 0
        ? shown.map(({ key, line }) => html`<div key=${key}><span class="dim">${line.ts && clock(line.ts)}</span> ${visible(line.text)}</div>`)
        : (first ?? []).map((line) => html`<div>${visible(line)}</div>`)}
      ${shown.length === 0 && !first?.length && html`<div class="dim">The program has written nothing.</div>`}
    </div></section>`;
}

// Looks what a refresh would change before it does it.
function Refresh({ id, again }) {
  const [open, setOpen] = useState(false);
  const [look, seen] = useAct(() => rpc("agents/refreshCard", { id, dryRun: true }));
  const command = `cardea agents refresh ${id}`;
  return html`<button onClick=${() => {
      setOpen(true);
      look();
    }}>Refresh card</button>
    ${open && html`<${Dialog} title="Refresh the card" close=${() => setOpen(false)}>
      <p><code class="command">${command} --dry-run</code></p>
      ${seen.busy && html`<p class="loading">Asking the agent for its card …</p>`}
      <${Problem} failure=${seen.failure} />
      ${seen.done && html`${seen.done.changed ? html`<p>Callers would get another card:</p>` : html`<p>Callers would get the same card.</p>`}
        ${seen.done.changed && html`<${Patch} patch=${seen.done.diff} none="The difference is too long to show." />`}
        <${Act} name="Refresh now" command=${command} action=${() => rpc("agents/refreshCard", { id }).finally(again)} words=${(done) => (done.changed ? "Callers get the new card." : "The card is the same.")} />`}
    <//>`}`;
}

function Remove({ id, version }) {
  const [open, setOpen] = useState(false);
  const remove = async () => {
    await rpc("agents/delete", { id, ifVersion: version });
    location.hash = to([]);
  };
  return html`<button class="danger" onClick=${() => setOpen(true)}>Remove</button>
    ${open && html`<${Dialog} title=${`Remove ${id}`} close=${() => setOpen(false)}>
      <p>Callers get 404 at once. The agent can be added again.</p>
      <${Act} name="Remove now" command=${`cardea agents remove ${id}`} action=${remove} /><//>`}`;
}

// Says what is wrong, what to do, and since when.
const Why = ({ agent }) => agent.status === "healthy" ? null : html`<div class=${`why-now ${agent.status}`} role="status">
  <p><${Sentence} text=${name(agent.why ?? agent.reason ?? "", 400)} /></p>
  ${agent.advice && html`<p><${Sentence} text=${name(agent.advice, 400)} /></p>`}
  ${agent.reason && html`<p class="small dim">Code <code>${name(agent.reason)}</code></p>`}</div>`;

export function Agent({ id }) {
  const health = usePoll(ask("agents/health", { id }), 2, [id]);
  const stats = usePoll(ask("agents/stats", { id }), 5, [id]);
  const known = usePoll(ask("agents/get", { id }), 30, [id]);
  const agent = health.data;
  const record = known.data;
  // Another card: what hangs on it is asked for again.
  const card = record?.card_status?.etag ?? "";
  const strict = usePoll(ask("agents/card", { id, a2aVersion: "1.0" }), 600, [id, card]);
  const again = () => {
    health.again();
    known.again();
  };
  useEffect(() => {
    document.title = `${id} · Cardea`;
  }, [id]);
  useEffect(() => void known.again(), [agent?.status, agent?.session?.state, agent?.card?.state]);
  if (!agent) return html`<h1>${name(id)}</h1><${Problem} failure=${health.failure} />${!health.failure && html`<p class="loading">Loading …</p>`}`;
  const isMcp = agent.protocol === "mcp";
  const url = link(agent.public_url);
  return html`
    <div class="row"><h1>${name(id)}</h1><${Status} of=${agent.status} /> <span class="tag">${isMcp ? "MCP" : "A2A"}</span>
      ${record?.stored && html`<span class="tag">stored, version ${record.stored.version}</span>`}${record?.declared && html`<span class="tag">from the configuration</span>`}</div>
    <${Why} agent=${agent} />
    <${Problem} failure=${health.failure?.kind === "unreachable" ? null : health.failure} />
    <div class="row"><a class="main button" href=${to(["agents", id, "try"])}>Try</a><${Refresh} id=${id} again=${again} />
      ${record?.stored && html`<${Remove} id=${id} version=${record.stored.version} />`}
      ${url && html`<span><code>${visible(url)}</code> <${Copy} text=${url} label="Copy public URL" /></span>`}</div>
    ${(agent.session || agent.endpoints) && html`<div class="columns">
      ${agent.session && html`<${Session} id=${id} session=${agent.session} again=${again} />`}
      ${agent.endpoints && html`<${Endpoints} id=${id} endpoints=${agent.endpoints} again=${again} />`}
      ${isMcp && html`<${Stderr} id=${id} first=${record?.stderr} />`}</div>`}
    <section class="panel"><h2>Calls</h2><${Problem} failure=${stats.failure?.kind === "unreachable" ? null : stats.failure} /><${History} stats=${stats.data} /></section>
    <${Tools} id=${id} kind=${isMcp ? "tool" : "skill"} card=${strict.data?.served} hidden=${record?.hidden_tools} omitted=${agent.session?.left_out} />
    <${Cards} id=${id} etag=${card} />
    ${url && html`<${Connect} agent=${agent} />`}`;
}
