// The calls, live: the access lines of the log.
import { html, still, useRef, useState } from "./dom.js";
import { useEvents } from "./events.js";
import { Advice } from "./advice.js";
import { Denial } from "./denial.js";
import { setQuery, to } from "./route.js";
import { clock, count, ms, name, visible } from "./text.js";
import { Copy, Problem } from "./widgets.js";
import { isDenied } from "./words.js";

const most = 1000;
const routes = ["call", "card", "mcp", "bundle", "relay", "management", "key_set", "resource_metadata", "directory", "index", "push", "none"];
const statuses = ["2xx", "3xx", "4xx", "499", "5xx"];

const kind = (status) => (status >= 500 ? "bad" : status >= 400 ? "warn" : "dim");
const words = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

function Fields({ line }) {
  return html`<div class="more stack">
    ${line.code && html`<${Advice} code=${line.code} />`}
    ${isDenied(line) && html`<${Denial} line=${line} />`}
    <dl class="pairs">${Object.entries(line).map(([key, value]) => html`<div><dt>${name(key)}</dt><dd>${key === "agent"
      ? html`<a href=${to(["agents", value])}>${name(value)}</a>`
      : visible(words(value))}</dd></div>`)}</dl>
    <div><${Copy} text=${JSON.stringify(line)} label="Copy the line" /></div>
  </div>`;
}

// What was called: the tool, else the method of the call, else that of HTTP.
const called = (line) => [line.bundle && `bundle ${line.bundle}`, line.rpc ?? line.method, line.tool].filter(Boolean).join(" ");

// `toggle.current(id)` opens or closes it.
const Call = still(({ id, line, open, toggle }) => html`<div class="call">
  <button aria-expanded=${open} onClick=${() => toggle.current(id)}>
    <span class="dim">${clock(line.ts)}</span>
    <span class=${kind(line.status)}>${name(line.status ?? "", 8)}</span>
    <span class="ms">${ms(line.ms)}</span>
    <span>${name(line.agent ?? line.route, 80)}</span>
    <span>${name(called(line), 120)}</span>
    <span class=${kind(line.status)}>${name(line.code ?? line.principal ?? "", 120)}</span>
  </button>
  ${open && html`<${Fields} line=${line} />`}
</div>`);

function Choice({ label, value, all, change }) {
  const known = !value || all.includes(value) ? all : [...all, value];
  return html`<label>${label}
    <select value=${value} onChange=${(event) => change(event.target.value)}>
      <option value="">any</option>
      ${known.map((each) => html`<option value=${each}>${each}</option>`)}
    </select>
  </label>`;
}

function State({ events }) {
  const { state, since, failure, paused, waiting, lost, lines } = events;
  return html`<div role="status">
    ${state === "away" && html`<p class="warn">Not connected since ${clock(since)}. The page tries again.</p>`}
    ${state === "connecting" && html`<p class="dim">Connecting…</p>`}
    ${paused && html`<p class="dim">Paused. ${waiting > 0 && `${count(waiting)} more ${waiting === 1 ? "call waits" : "calls wait"}.`}</p>`}
    ${state === "live" && !paused && html`<p class="dim">Live. ${lines.length >= most && `The newest ${count(most)} calls are shown.`}</p>`}
    ${lost > 0 && html`<p class="warn">${count(lost)} lines are missing: the page was away for too long, or it read too slowly.</p>`}
    ${failure?.code === "overloaded" ? html`<p class="warn">Eight viewers read the log already; this page waits for a place.</p>` : html`<${Problem} failure=${failure} />`}
  </div>`;
}

// Arrow keys go from call to call.
function step(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || !event.target.matches(".call > button")) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll(".call > button")];
  all[all.indexOf(event.target) + by]?.focus();
}

export function Calls({ query }) {
  const [open, setOpen] = useState(null);
  const [agent, route, status, slow] = ["agent", "route", "status", "slow"].map((key) => query.get(key) ?? "");
  const events = useEvents({ event: "request", agent, route, status, last: "200" }, { most });
  const change = (values) => {
    setOpen(null);
    setQuery(["calls"], { agent, route, status, slow, ...values });
  };
  // A call that is open stays where it is.
  const toggle = useRef(null);
  toggle.current = (key) => {
    const opens = open?.key !== key;
    if (opens && !events.paused) events.pause(true);
    else if (!opens && open.pauses) events.pause(false);
    setOpen(opens ? { key, pauses: open ? open.pauses : !events.paused } : null);
  };
  const pause = () => {
    setOpen(null);
    events.pause(!events.paused);
  };
  const lines = slow ? events.lines.filter((each) => each.line).sort((a, b) => (b.line.ms ?? 0) - (a.line.ms ?? 0)) : events.lines;
  return html`
    <h1>Calls</h1>
    <div class="row filters">
      <label>Agent
        <input value=${agent} spellcheck="false" autocomplete="off" onChange=${(event) => change({ agent: event.target.value.trim() })} />
      </label>
      <${Choice} label="Route" value=${route} all=${routes} change=${(value) => change({ route: value })} />
      <${Choice} label="Status" value=${status} all=${statuses} change=${(value) => change({ status: value })} />
      <label class="line"><input type="checkbox" checked=${slow === "1"} onChange=${(event) => change({ slow: event.target.checked ? "1" : "" })} />Slow first</label>
      <button aria-pressed=${events.paused} onClick=${pause}>Pause</button>
    </div>
    <${State} events=${events} />
    <div class="stack list">
    <div class="heads" aria-hidden="true">${["Time", "Status", "Took", "Agent", "Call", "Code or principal"].map((each) => html`<span>${each}</span>`)}</div>
    <div role="log" aria-label="Calls" aria-live="off" onKeyDown=${step}>
      ${lines.map(({ key, line, lost }) => (line
        ? html`<${Call} key=${key} id=${key} line=${line} open=${open?.key === key} toggle=${toggle} />`
        : html`<div key=${key} class="lost">${count(lost)} lines are missing here.</div>`))}
      ${lines.length === 0 && html`<p class="empty">${agent || route || status ? "No call matches yet." : "No calls yet."}</p>`}
    </div></div>`;
}
