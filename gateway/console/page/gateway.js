// The process: how it is, its configuration, and its reload.
import { html, useState } from "./dom.js";
import { act, rpc } from "./api.js";
import { Edges } from "./edges.js";
import { useAct, usePoll } from "./poll.js";
import { bytes, count, moment, name, span, visible } from "./text.js";
import { Problem, Problems } from "./widgets.js";

const Panel = ({ title, children }) => html`<section class="panel" aria-label=${title}><h2>${title}</h2>${children}</section>`;

const Table = ({ title, heads, rows, limit = rows.length }) => html`<div class="scroll" tabindex="0" role="group" aria-label=${title}><table class="wrap">
  <thead><tr>${heads.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
  <tbody>${rows.slice(0, limit).map((row) => html`<tr>${row.map((each) => html`<td>${each}</td>`)}</tr>`)}</tbody></table></div>`;

const mono = (text) => html`<code>${visible(text)}</code>`;

function Process({ info }) {
  const { overload, store, try: tries } = info;
  const rows = {
    Version: visible(info.version),
    Started: `${moment(info.started)}, ${span((Date.now() - Date.parse(info.started)) / 1000)} ago`,
    Process: visible(info.process),
    "Public URL": mono(info.public_url ?? "none"),
    "Requests in flight": count(info.in_flight),
    Connections: count(info.connections),
    Memory: bytes(info.memory?.resident),
    Descriptors: `${count(info.descriptors?.open)} of ${count(info.descriptors?.limit)}`,
    Overload: overload?.level ? html`<b class="bad">level ${count(overload.level)} of 3</b>` : "none",
    Store: html`${visible([store?.kind, store?.path].filter(Boolean).join(", "))}
      ${store?.ok === false && html`<p class="problem">It fails: ${visible(store.failure)}</p>`}`,
    Tries: tries?.enabled ? "possible" : `not possible: ${visible(tries?.why_not)}`,
  };
  return html`<${Panel} title="Process"><dl>${Object.entries(rows).map(([key, value]) => html`<dt>${key}</dt><dd>${value}</dd>`)}</dl><//>`;
}

const ends = (days) => html`<span class=${days < 0 ? "bad" : days < 14 ? "warn" : ""}>${days < 0 ? `ended ${count(-days)} days ago` : `in ${count(days)} days`}</span>`;

// What a reload has changed, as `POST /reload` answers.
function Report({ report }) {
  const said = Object.entries({ ...report.agents, ...report }).filter(([, value]) => Array.isArray(value) && value.length > 0);
  return html`<div role="status"><p>Reloaded. ${said.length === 0 && "Nothing has changed."}</p>
    <dl>${said.map(([key, value]) => html`<dt>${name(key)}</dt><dd>${visible(value.join(", "))}</dd>`)}</dl></div>`;
}

const ways = { request: "by request", signal: "by a signal", file: "because a file changed" };

function Reload({ reload, again }) {
  const [run, { busy, done, failure }] = useAct(() => act("reload").finally(again));
  const restart = [reload?.needs_restart || []].flat();
  return html`<section class="panel" aria-label="Last reload">
    <div class="row"><h2>Last reload</h2><span class="act"><button disabled=${busy} onClick=${() => run()}>Reload</button><code class="command">cardea reload</code></span></div>
    ${reload?.at && reload.trigger !== "start"
      ? html`<p>${moment(reload.at)}, ${ways[reload.trigger] ?? visible(reload.trigger)}: <b class=${reload.problems?.length ? "bad" : "good"}>${visible(reload.outcome)}</b></p>`
      : html`<p class="dim">None since the start.</p>`}
    ${reload?.problems?.length > 0 && !failure && html`<div class="problem">The configuration has problems. Nothing has changed.<${Problems} list=${reload.problems} /></div>`}
    ${restart.length > 0 && html`<p class="note">Needs a restart: ${restart[0] === true ? "settings that a reload does not apply." : mono(restart.join(", "))}</p>`}
    ${done && html`<${Report} report=${done} />`}
    <${Problem} failure=${failure} />
  </section>`;
}

const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// `stamp`: it is asked for again when that changes.
function Configuration({ stamp }) {
  const { data, failure } = usePoll((signal) => rpc("gateway/config", {}, { signal }), 60, [stamp]);
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(300);
  const wanted = text.toLowerCase();
  const found = (data?.values ?? []).filter(({ path, value, origin }) =>
    (wanted ? `${path} ${words(value)} ${origin}`.toLowerCase().includes(wanted) : all || !origin.startsWith("default")));
  return html`<section class="panel" aria-label="Configuration">
    <div class="row"><h2>Configuration</h2>
      <input type="search" aria-label="Search the configuration" placeholder="Search" value=${text} onInput=${(event) => setText(event.target.value)} />
      <label class="line"><input type="checkbox" checked=${all} onChange=${(event) => setAll(event.target.checked)} />Defaults too</label>
      <code class="command">cardea config dump --running</code></div>
    <${Problem} failure=${failure} />
    ${data && html`<p class="dim">${count(found.length)} of ${count(data.values.length)} values. Secrets are masked.${data.agents_omitted > 0 && ` ${count(data.agents_omitted)} agents are left out: there are too many.`}</p>
      <${Table} title="Values" heads=${["Key", "Value", "From"]} limit=${limit} rows=${found.map(({ path, value, origin }) => [mono(path), mono(words(value)), visible(origin)])} />`}
    ${found.length > limit && html`<button onClick=${() => setLimit(limit * 2)}>More</button>`}
  </section>`;
}

export function Gateway() {
  const { data: info, failure, again } = usePoll((signal) => rpc("gateway/info", {}, { signal }), 2, []);
  const certificates = info?.certificates ?? [];
  return html`
    <h1>Gateway</h1>
    <${Problem} failure=${failure} />
    ${info && html`<div class="columns">
      <${Process} info=${info} />
      <div class="stack">
        <${Reload} reload=${info.reload} again=${again} />
        <${Panel} title="Listeners"><${Table} title="Listeners" heads=${["Name", "Address", "TLS"]}
          rows=${(info.listeners ?? []).map(({ name: which, address, tls }) => [name(which), mono(address), tls ? "yes" : "no"])} /><//>
        <${Panel} title="Certificates">${certificates.length > 0
          ? html`<${Table} title="Certificates" heads=${["File", "Listener", "Ends"]} rows=${certificates.map(({ file, listener, days }) => [mono(file), name(listener), ends(days)])} />`
          : html`<p class="dim">No listener has a certificate.</p>`}<//>
      </div>
    </div>
    <${Edges} />
    <${Configuration} stamp=${info.reload?.at ?? info.started} />`}`;
}
