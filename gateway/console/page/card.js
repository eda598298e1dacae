// The card of an agent: raw beside served, each difference explained; lint; the cards before.
import { html, still, useMemo, useState } from "./dom.js";
import { rpc } from "./api.js";
import { folded, readPatch, sideBySide } from "./diff.js";
import { usePoll } from "./poll.js";
import { bytes, moment, name, visible } from "./text.js";
import { Problem } from "./widgets.js";

const reasons = {
  rewritten: "Cardea's address, or a value of the configuration, replaces it",
  repaired: "the specification wants it so",
  translated: "the caller's version of A2A says it so",
  added: "Cardea adds it",
  dropped: "callers do not get it, or their version cannot say it",
  signature: "the agent's signature does not hold for a changed card",
};
const none = [];

const Side = still(({ title, side, rows, why }) => html`<section aria-label=${title}>
  <h3>${title}</h3>
  ${rows === none && html`<div class="dim">An MCP server has no card of its own. Cardea makes one from its lists.</div>`}
  ${rows.map(({ kind, equal, [side]: line }) => {
    if (equal) return html`<div class="dim">${equal} equal lines</div>`;
    const reason = line?.path && why.get(side + line.path);
    return html`<div class=${line ? kind : "none"}>${line ? visible(line.text.slice(0, 2000)) : " "}${reason && html`<span class="why">${visible(reason)}: ${reasons[reason]}.</span>`}</div>`;
  })}
</section>`);

function Compared({ card: { raw, served, changes } }) {
  const [whole, setWhole] = useState(raw === null);
  const [most, setMost] = useState(400);
  const { rows, cut } = useMemo(() => sideBySide(raw, served), []);
  const why = useMemo(() => new Map(changes.map((each) => [(each.op === "remove" ? "left" : "right") + each.path, each.why])), []);
  const shown = useMemo(() => (whole ? rows : folded(rows)), [whole]);
  const some = useMemo(() => shown.slice(0, most), [shown, most]);
  return html`
    ${raw && html`<div class="row"><span>${changes.length || "No"} differences</span>
      <label class="line"><input type="checkbox" checked=${whole} onChange=${(event) => setWhole(event.target.checked)} />Equal lines too</label></div>`}
    <div class="cards" style=${{ gridTemplateRows: `repeat(${some.length + 1}, auto)` }} tabindex="0" role="group" aria-label="Cards side by side">
      <${Side} title="Raw card" side="left" rows=${raw ? some : none} why=${why} />
      <${Side} title="Served card" side="right" rows=${some} why=${why} />
    </div>
    ${shown.length > most ? html`<button onClick=${() => setMost(most * 4)}>More lines (${shown.length - most})</button>` : cut && html`<p class="dim">The rest is not compared.</p>`}`;
}

const Lint = ({ list }) => list.length === 0 ? html`<p class="dim">Nothing to report.</p>` : html`<div class="scroll" tabindex="0" role="group" aria-label="Lint"><table class="wrap">
  <thead><tr><th>Severity</th><th>Where</th><th>What</th><th>Section</th></tr></thead>
  <tbody>${list.slice(0, 200).map(({ severity, path, message, section }) => html`<tr><td>${name(severity)}</td><td><code>${name(path)}</code></td>
    <td>${visible(message)}</td><td>${name(section ?? "")}</td></tr>`)}</tbody></table></div>`;

// The operations of a patch, each in a line.
export function Patch({ patch }) {
  const list = readPatch(patch);
  if (!list?.length) return html`<p class="dim">${list ? "Nothing changed." : "The difference is not kept: there was no card before, or it is over 16 KiB."}</p>`;
  return html`<ul class="plain small">${list.slice(0, 200).map(({ verb, path, from, value }) => html`<li class="break"><b>${verb}</b> <code>${name(path)}</code>
    ${from && html` from <code>${name(from)}</code>`}${value !== undefined && html` <code>${visible(JSON.stringify(value).slice(0, 300))}</code>`}</li>`)}
    ${list.length > 200 && html`<li>and ${list.length - 200} more</li>`}</ul>`;
}

// `status`: `card_status` of agents/get. With another etag of it the card is asked for again.
export function Cards({ id, status: { etag, problems = [] } }) {
  const [version, setVersion] = useState("");
  const card = usePoll((signal) => rpc("agents/card", { id, ...(version && { a2aVersion: version }) }, { signal }).then((result) => ({ ...result, version })), 600, [id, version, etag]);
  const history = usePoll((signal) => rpc("agents/history", { id }, { signal }), 600, [id, etag]);
  const notes = problems.map(({ what, ...each }) => ({ ...each, message: what }));
  const current = !card.failure && card.data?.version === version ? card.data : null;
  return html`
    <section class="panel"><div class="row"><h2>Card</h2><label class="line">A2A-Version <select value=${version} onChange=${(event) => setVersion(event.target.value)}>
        <option value="">none</option><option>1.0</option><option>0.3</option></select></label></div>
      <${Problem} failure=${card.failure} />
      ${current && html`<${Compared} key=${current} card=${current} />`}
    </section>
    <div class="columns">
      <section class="panel"><h2>Lint</h2><${Lint} list=${[...(current?.lint ?? []), ...notes.filter(({ path }) => !current?.lint.some((each) => each.path === path))]} /></section>
      <section class="panel"><h2>History of the card</h2><${Problem} failure=${history.failure} />
        ${history.data?.cards.length === 0 && html`<p class="dim">No card was published yet.</p>`}
        ${history.data?.cards.map(({ at, sha256, size, patch }) => html`<details key=${at}><summary>${moment(at)} · ${bytes(size)} · <code>${name(sha256.slice(0, 12))}</code></summary>
          <${Patch} patch=${patch} /></details>`)}</section>
    </div>`;
}
