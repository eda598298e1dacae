// The process: what it is like, its configuration, and its reload.
import { html, useState } from "./dom.js";
import { act, rpc } from "./api.js";
import { useAct, usePoll } from "./poll.js";
import { bytes, count, moment, name, span, visible } from "./text.js";
import { Problem, Problems } from "./widgets.js";

const seconds = (since) => (Date.now() - Date.parse(since)) / 1000;
const yes = (value) => (value ? "yes" : "no");
const levels = ["none", "level 1 of 3", "level 2 of 3", "level 3 of 3"];

function Process({ info }) {
  const rows = [
    ["Version", visible(info.version)],
    ["Started", `${moment(info.started)}, ${span(seconds(info.started))} ago`],
    ["Process", visible(info.process)],
    ["Public URL", html`<code>${visible(info.public_url ?? "none")}</code>`],
    ["Requests in flight", count(info.in_flight)],
    ["Connections", count(info.connections)],
    ["Memory", bytes(info.memory?.resident)],
    ["Descriptors", `${count(info.descriptors?.open)} of ${count(info.descriptors?.limit)}`],
    ["Overload", html`<span class=${info.overload?.level ? "bad" : ""}>${levels[info.overload?.level] ?? count(info.overload?.level)}</span>`],
    ["Store", html`${visible([info.store?.kind, info.store?.path].filter(Boolean).join(", "))}
      ${info.store?.ok === false && html`<p class="problem">It fails: ${visible(info.store.failure ?? "")}</p>`}`],
    ["Tries", info.try?.enabled ? "possible" : `not possible: ${visible(info.try?.why_not ?? "")}`],
  ];
  return html`<section class="panel" aria-label="Process"><h2>Process</h2>
    <dl>${rows.map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}</dl></section>`;
}

const Listeners = ({ list }) => html`<section class="panel" aria-label="Listeners"><h2>Listeners</h2>
  <div class="scroll"><table><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">TLS</th></tr></thead>
    <tbody>${(list ?? []).map((each) => html`<tr key=${each.name}><th scope="row">${name(each.name)}</th>
      <td class="mono">${visible(each.address)}</td><td>${yes(each.tls)}</td></tr>`)}</tbody></table></div></section>`;

function Certificates({ list }) {
  return html`<section class="panel" aria-label="Certificates"><h2>Certificates</h2>
    ${list?.length > 0
      ? html`<div class="scroll"><table class="wrap"><thead><tr><th scope="col">File</th><th scope="col">Names</th><th scope="col">Ends</th></tr></thead>
        <tbody>${list.map(({ file, names, days }) => html`<tr key=${file}><td class="mono">${visible(file)}</td><td>${name([names ?? []].flat().join(", "))}</td>
          <td class=${days < 0 ? "bad" : days < 14 ? "warn" : ""}>${days < 0 ? `ended ${count(-days)} days ago` : `in ${count(days)} days`}</td></tr>`)}</tbody></table></div>`
      : html`<p class="empty">No listener has a certificate.</p>`}
  </section>`;
}

const listed = ["added", "changed", "removed", "settings"];

// What a reload has changed, as `POST /reload` answers.
function Report({ report }) {
  const said = listed.filter((key) => (Array.isArray(report[key]) ? report[key].length : report[key]));
  return html`<div role="status"><p>Reloaded. ${said.length === 0 && "Nothing has changed."}</p>
    <dl>${said.map((key) => html`<dt>${key}</dt><dd>${visible([report[key]].flat().join(", "))}</dd>`)}</dl></div>`;
}

const ways = { request: "by request", signal: "by signal", file: "because a file changed", start: "at the start" };

function Reload({ reload, again }) {
  const [run, { busy, done, failure }] = useAct(async () => {
    try {
      return await act("reload");
    } finally {
      again();
    }
  });
  const refused = reload?.problems?.length > 0;
  const restart = [reload?.needs_restart ?? []].flat();
  return html`<section class="panel" aria-label="Configuration reload">
    <div class="row"><h2>Last reload</h2><span class="act"><button disabled=${busy} onClick=${() => run()}>Reload</button><code class="command">cardea reload</code></span></div>
    ${reload?.at
      ? html`<p>${moment(reload.at)}, ${ways[reload.trigger] ?? visible(reload.trigger)}: <b class=${refused ? "bad" : "good"}>${visible(reload.outcome)}</b></p>`
      : html`<p class="dim">None since the start.</p>`}
    ${refused && !failure && html`<div class="problem">The configuration has problems. Nothing has changed.<${Problems} list=${reload.problems} /></div>`}
    ${restart.length > 0 && reload.needs_restart !== false && html`<p class="note">Needs a restart: ${reload.needs_restart === true ? "settings have changed that a reload does not apply." : html`<code>${visible(restart.join(", "))}</code>`}</p>`}
    ${done && html`<${Report} report=${done} />`}
    <${Problem} failure=${failure} />
  </section>`;
}

const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const isDefault = (each) => each.origin === "default";

function Configuration({ stamp }) {
  const { data, failure } = usePoll((signal) => rpc("gateway/config", {}, { signal }), 60, [stamp]);
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(300);
  const wanted = text.toLowerCase();
  const found = (data?.values ?? []).filter((each) => (all || wanted || !isDefault(each)) &&
    (!wanted || `${each.path} ${words(each.value)} ${each.origin}`.toLowerCase().includes(wanted)));
  return html`<section class="panel" aria-label="Configuration">
    <div class="row"><h2>Configuration</h2>
      <input type="search" aria-label="Search the configuration" placeholder="Search" value=${text} spellcheck="false" onInput=${(event) => setText(event.target.value)} />
      <label class="line"><input type="checkbox" checked=${all} onChange=${(event) => setAll(event.target.checked)} />Defaults too</label>
      <code class="command">cardea config dump --running</code></div>
    <${Problem} failure=${failure} />
    ${!data && !failure && html`<p class="loading">Loading…</p>`}
    ${data && html`<p class="dim">${count(found.length)} of ${count(data.values.length)} values. Secrets are masked.</p>
      <div class="scroll"><table class="wrap"><thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
      <tbody>${found.slice(0, limit).map((each) => html`<tr key=${each.path}><th scope="row" class="mono">${visible(each.path)}</th>
        <td class="mono">${visible(words(each.value))}</td><td class=${isDefault(each) ? "dim" : ""}>${visible(each.origin)}</td></tr>`)}</tbody></table></div>
      ${found.length > limit && html`<button onClick=${() => setLimit(limit * 2)}>More</button>`}`}
  </section>`;
}

export function Gateway() {
  const { data: info, failure, again } = usePoll((signal) => rpc("gateway/info", {}, { signal }), 2, []);
  return html`
    <h1>Gateway</h1>
    <${Problem} failure=${failure} />
    ${!info && !failure && html`<p class="loading">Loading…</p>`}
    ${info && html`<div class="columns">
      <div class="stack"><${Process} info=${info} /></div>
      <div class="stack"><${Reload} reload=${info.reload} again=${again} /><${Listeners} list=${info.listeners} /><${Certificates} list=${info.certificates} /></div>
    </div>
    <${Configuration} stamp=${info.reload?.at ?? info.started} />`}`;
}
