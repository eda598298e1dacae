// What needs somebody, and all agents.
import { html, still, useEffect, useRef, useState } from "./dom.js";
import { rpc } from "./api.js";
import { Spark } from "./charts.js";
import { useAct, useCalm, usePoll } from "./poll.js";
import { setQuery, to } from "./route.js";
import { count, link, ms, name, percent, shellWord, visible } from "./text.js";
import { Copy, Dialog, Problem, Sentence, Status } from "./widgets.js";

const statuses = ["unhealthy", "degraded", "unknown", "contained", "healthy"];
const steps = [100, 250, 500, 1000];
const keys = ["status", "text", "tag", "protocol", "sort"];
const few = 5;

function Attention({ list, failure }) {
  const [all, setAll] = useState(false);
  const shown = all ? list : list?.slice(0, few);
  return html`<section class="panel" aria-label="Needs attention">
    <h2>Needs attention${list?.length > 0 && html` <span class="dim">${count(list.length)}</span>`}</h2>
    ${list === undefined && !failure && html`<p class="dim">Loading…</p>`}
    ${list === undefined && html`<${Problem} failure=${failure} />`}
    ${list?.length === 0 && html`<p>Nothing needs you.</p>`}
    ${list?.length > 0 && html`<ul class="plain attention">${shown.map((each) => html`<li key=${`${each.subject} ${each.why}`}>
      <${Status} of=${each.severity} />
      <span class="subject"><a href=${to(each.agent ? ["agents", each.agent] : ["gateway"])}>${name(each.subject)}</a></span>
      <span><p><${Sentence} text=${each.why} /></p>${each.advice && html`<p><span class="good" aria-hidden="true">→ </span><${Sentence} text=${each.advice} /></p>`}</span>
    </li>`)}</ul>`}
    ${list?.length > few && html`<button onClick=${() => setAll(!all)}>${all ? "Fewer" : `All ${list.length}`}</button>`}
  </section>`;
}

// `info.counts` has a number for each status.
function Filters({ info, values, change, search }) {
  const counts = info?.counts ?? {};
  const field = (key, label) => html`<label>${label}
    <input value=${values[key]} spellcheck="false" autocomplete="off" onChange=${(event) => change({ [key]: event.target.value.trim() })} />
  </label>`;
  return html`<div class="row filters" role="group" aria-label="Filters">
    <span class="choices">
      <button aria-pressed=${values.status === ""} onClick=${() => change({ status: "" })}>all ${count(counts.agents)}</button>
      ${statuses.filter((each) => each !== "contained" || counts.contained > 0 || values.status === each).map((each) => html`<button aria-pressed=${values.status === each}
        onClick=${() => change({ status: values.status === each ? "" : each })}><${Status} of=${each} /> ${count(counts[each])}</button>`)}
    </span>
    <input ref=${search} type="search" aria-label="Search agents" placeholder="Search agents, skills, tools  ( / )" size="30" value=${values.text}
      spellcheck="false" onInput=${(event) => change({ text: event.target.value })} />
    ${field("tag", "Tag")}
    <label>Protocol
      <select value=${values.protocol} onChange=${(event) => change({ protocol: event.target.value })}>
        <option value="">any</option><option value="a2a">A2A</option><option value="mcp">MCP</option>
      </select>
    </label>
  </div>`;
}

// The title, and what `agents/health` sorts by.
const columns = [["Agent", "id"], ["Status", "trouble"], ["Why"], ["Calls/min", "calls"], ["Failed", "failed"], ["p99", "p99"], ["Last hour"], ["Public URL"]];

const used = ["id", "protocol", "status", "why", "reason", "public_url", "calls_per_minute", "failed_ratio", "p99_ms", "spark"];

// `text`: the agent as JSON, with what is used of it.
const Row = still(({ text, started }) => {
  const item = JSON.parse(text);
  const why = item.why ?? item.reason ?? "";
  const url = link(item.public_url) ? item.public_url : "";
  return html`<tr>
    <th scope="row"><a href=${to(["agents", item.id])}>${name(item.id, 80)}</a> <span class="tag">${name(item.protocol, 8)}</span></th>
    <td><${Status} of=${item.status} /></td>
    <td class="why">${why && html`<${Sentence} text=${why} />`}</td>
    <td class="number" data-label="Calls/min">${item.calls_per_minute == null ? "–" : count(Math.round(item.calls_per_minute * 10) / 10)}</td>
    <td class=${`number${item.failed_ratio > 0 ? " bad" : ""}`} data-label="Failed">${percent(item.failed_ratio)}</td>
    <td class="number" data-label="p99">${ms(item.p99_ms)}</td>
    <td class="hour"><${Spark} values=${item.spark} since=${started} /></td>
    <td>${url && html`<span class="url"><span class="cut mono" title=${visible(url)}>${name(url)}</span><${Copy}
      text=${url} label=${`Copy the address of ${name(item.id, 80)}`} /></span>`}</td>
  </tr>`;
});

function Table({ agents, started, sort, change, hold }) {
  const head = ([title, by], at) => html`<th scope="col" class=${at > 2 && by ? "number" : ""} aria-sort=${by !== sort ? null : by === "id" ? "ascending" : "descending"}>
    ${by ? html`<button class="quiet" title=${`Sort by ${title}`} onClick=${() => change({ sort: by })}>${title}${by === sort && html`<span aria-hidden="true"> ▾</span>`}</button>` : title}
  </th>`;
  return html`<div class="scroll panel"><table aria-label="Agents" class="agents" ...${hold}>
    <thead><tr>${columns.map(head)}</tr></thead>
    <tbody>${agents.map((item) => html`<${Row} key=${item.id} text=${JSON.stringify(item, used)} started=${started} />`)}</tbody>
  </table></div>`;
}

// The form that adds an agent to the store. `added(id)` hears of each.
function Add({ added }) {
  const [values, setValues] = useState({ id: "", url: "", protocol: "a2a" });
  const [run, { busy, done, failure }] = useAct(async ({ id, url, protocol }) => {
    await rpc("agents/upsert", { id, agent: { url, protocol }, ifVersion: 0 });
    setValues({ id: "", url: "", protocol });
    added(id);
    return id;
  });
  const { id, url, protocol } = values;
  const field = (key, more) => ({ ...more, value: values[key], onInput: (event) => setValues({ ...values, [key]: event.target.value.trim() }) });
  const command = `cardea agents add ${shellWord(id || "ID")} ${shellWord(url || "URL")}${protocol === "a2a" ? "" : ` --protocol ${protocol}`} --if-version 0`;
  return html`<form class="fields" onSubmit=${(event) => {
    event.preventDefault();
    run(values);
  }}>
    <label>Id<input required spellcheck="false" autocomplete="off" ...${field("id", { placeholder: "weather" })} /></label>
    <label>URL<input required type="url" spellcheck="false" autocomplete="off" ...${field("url", { placeholder: "https://agent.example.com/" })} /></label>
    <label>Protocol
      <select value=${protocol} onChange=${(event) => setValues({ ...values, protocol: event.target.value })}>
        <option value="a2a">A2A</option><option value="mcp">MCP (Streamable HTTP)</option>
      </select>
    </label>
    <div class="act"><button type="submit" disabled=${busy}>Add</button><code class="command">${visible(command)}</code></div>
    ${done && html`<p role="status">Added. <a href=${to(["agents", done])}>Open ${name(done)}</a></p>`}
    <${Problem} failure=${failure} />
  </form>`;
}

export function Overview({ query }) {
  const values = Object.fromEntries(keys.map((key) => [key, query.get(key) ?? ""]));
  const sort = values.sort || "trouble";
  const [limit, setLimit] = useState(steps[0]);
  const [adding, setAdding] = useState(false);
  const search = useRef(null);
  const change = (changed) => setQuery([], { ...values, ...changed });
  const info = usePoll((signal) => rpc("gateway/info", {}, { signal }), 0.6, []);
  const filters = Object.fromEntries(["status", "text", "tag", "protocol"].filter((key) => values[key]).map((key) => [key, values[key]]));
  const asked = JSON.stringify({ ...filters, sort, limit });
  const shown = useRef({ data: null, agents: null });
  const list = usePoll(async (signal) => ({ asked, agents: (await rpc("agents/health", { ...JSON.parse(asked), stats: true }, { signal })).agents }), 3, [asked]);
  // A change of status is in the table at once.
  const troubles = JSON.stringify([info.data?.counts, info.data?.attention]);
  useEffect(() => {
    if (list.data) list.again();
  }, [troubles]);
  useEffect(() => {
    if (query.get("focus") !== "search") return;
    search.current?.focus();
    setQuery([], values);
  }, [query.get("focus")]);
  useEffect(() => setLimit(steps[0]), [values.status, values.text, values.tag, values.protocol]);
  const { hold, arrange } = useCalm();
  if (list.data !== shown.current.data) shown.current = { data: list.data, agents: arrange(list.data.agents, list.data.asked) };
  const agents = shown.current.agents;
  const none = info.data?.counts?.agents === 0 && agents?.length === 0;
  const filtered = Object.keys(filters).length > 0;
  const next = steps.find((step) => step > limit);
  return html`
    <div class="row"><h1>Overview</h1>${!none && html`<button onClick=${() => setAdding(true)}>New agent</button>`}</div>
    <${Attention} list=${info.data?.attention} failure=${info.failure} />
    ${none && !filtered
      ? html`<section class="panel" aria-label="Add the first agent"><h2>No agents yet</h2>
          <p>Add one here, or name it in the configuration file.</p><${Add} added=${() => list.again()} /></section>`
      : html`
        <${Filters} info=${info.data} values=${values} change=${change} search=${search} />
        <${Problem} failure=${list.failure} />
        ${agents === null && !list.failure && html`<p class="dim">Loading…</p>`}
        ${agents?.length > 0 && html`<${Table} agents=${agents} started=${info.data?.started} sort=${sort} change=${change} hold=${hold} />`}
        ${agents?.length === 0 && html`<p class="dim">No agent matches. <button onClick=${() => change({ status: "", text: "", tag: "", protocol: "" })}>Show all</button></p>`}
        ${agents?.length >= limit && (next
          ? html`<button onClick=${() => setLimit(next)}>More</button>`
          : html`<p class="dim">These are the first ${count(limit)} agents. Search to see others.</p>`)}`}
    ${adding && html`<${Dialog} title="New agent" close=${() => setAdding(false)}><${Add} added=${() => list.again()} /><//>`}`;
}
