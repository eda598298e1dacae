// The card of an agent: raw beside served, each difference explained; lint; the cards before.
import { html, still, useMemo, useState } from "./dom.js";
import { rpc } from "./api.js";
import { at, folded, readPatch, sideBySide } from "./diff.js";
import { usePoll } from "./poll.js";
import { bytes, moment, name, visible } from "./text.js";
import { Problem } from "./widgets.js";

const mostRows = 400;
const reasons = {
  rewritten: "Cardea's address replaces the agent's own.",
  repaired: "Cardea repaired what the specification does not allow.",
  translated: "Cardea translated it from the other version of A2A.",
  added: "Cardea adds it.",
  dropped: "Callers cannot use it through Cardea.",
  signature: "A changed card needs another signature.",
};

const short = (value) => (value === undefined ? "" : visible((JSON.stringify(value) ?? "").slice(0, 300)));

const Side = still(({ title, side, rows, why, empty }) => html`<section aria-label=${title}>
    <h3>${title}</h3>
    ${rows.length === 0 && html`<div class="dim">${empty}</div>`}
    ${rows.map((row) => {
      if (row.equal) return html`<div class="equal">${row.equal} equal lines</div>`;
      const line = row[side];
      const reason = line?.path && why.get(`${side} ${line.path}`);
      return html`<div class=${line ? row.kind : "none"}>${line ? visible(line.text.slice(0, 2000)) : " "}${reason && html`<span class="why">${reason}</span>`}</div>`;
    })}
  </section>`);

const none = [];

function Compared({ card }) {
  const [whole, setWhole] = useState(card.raw === null);
  const [most, setMost] = useState(mostRows);
  const { rows, cut } = useMemo(() => sideBySide(card.raw, card.served), [card]);
  const shown = useMemo(() => (whole ? rows : folded(rows)), [rows, whole]);
  const why = useMemo(() => new Map(card.changes.map(({ op, path, why: reason }) => [`${op === "remove" ? "left" : "right"} ${path}`, `${visible(reason)}: ${reasons[reason] ?? ""}`])), [card]);
  const some = useMemo(() => shown.slice(0, most), [shown, most]);
  return html`
    ${card.raw !== null && html`<div class="row"><span>${card.changes.length || "No"} differences.</span>
      <label class="line"><input type="checkbox" checked=${whole} onChange=${(event) => setWhole(event.target.checked)} />Equal lines too</label></div>`}
    <div class="cards" style=${{ gridTemplateRows: `repeat(${some.length + 1}, auto)` }} tabindex="0" role="group" aria-label="Cards side by side">
      <${Side} title="Raw card" side="left" rows=${card.raw === null ? none : some} why=${why} empty="An MCP server has no card of its own; Cardea makes it from its lists." />
      <${Side} title="Served card" side="right" rows=${some} why=${why} />
    </div>
    ${shown.length > most && html`<button onClick=${() => setMost(most * 4)}>More lines (${shown.length - most})</button>`}
    ${cut && html`<p class="dim">Only the first ${rows.length} lines are compared.</p>`}
    ${card.changes.length > 0 && html`<details><summary>Differences as a table</summary><div class="scroll"><table class="wrap"><thead><tr><th>Where</th><th>Why</th><th>From</th><th>To</th></tr></thead>
      <tbody>${card.changes.slice(0, 500).map(({ op, path, why: reason, from, to }) => html`<tr><td><code>${name(path)}</code></td><td>${visible(reason)}</td>
        <td><code>${short(from ?? (op === "remove" ? at(card.raw, path) : undefined))}</code></td><td><code>${short(to ?? (op === "remove" ? undefined : at(card.served, path)))}</code></td></tr>`)}</tbody></table></div></details>`}`;
}

const Lint = ({ list }) => list.length === 0
  ? html`<p class="dim">The specification has nothing against this card.</p>`
  : html`<div class="scroll"><table class="wrap"><thead><tr><th>Severity</th><th>Where</th><th>What</th><th>Section</th></tr></thead>
      <tbody>${list.slice(0, 200).map(({ severity, path, message, section }) => html`<tr>
        <td>${name(severity)}</td><td><code>${name(path)}</code></td><td>${visible(message)}</td><td>${name(section)}</td></tr>`)}</tbody></table></div>`;

// The operations of a patch, each in a line.
export function Patch({ patch, none }) {
  const list = readPatch(patch);
  if (list === null) return html`<p class="dim">${none}</p>`;
  if (list.length === 0) return html`<p class="dim">Nothing changed.</p>`;
  return html`<ul class="plain small">${list.slice(0, 200).map(({ verb, path, from, value }) => html`<li class="break"><b>${verb}</b> <code>${name(path || "/")}</code>
    ${from !== undefined && html` from <code>${name(from)}</code>`}${value !== undefined && html` <code>${short(value)}</code>`}</li>`)}
    ${list.length > 200 && html`<li class="dim">and ${list.length - 200} more</li>`}</ul>`;
}

const Past = ({ cards }) => cards.length === 0 ? html`<p class="dim">No card was published yet.</p>` : cards.map(({ at: time, sha256, size, patch }) => html`
  <details key=${sha256 + time}><summary>${moment(time)} · ${bytes(size)} · <code>${name(sha256.slice(0, 12))}</code></summary>
    <${Patch} patch=${patch} none="The difference from the card before is not kept: it is the first card, or the difference is over 16 KiB." /></details>`);

// `etag`: with another one the card is asked for again.
export function Cards({ id, etag }) {
  const [version, setVersion] = useState("");
  const card = usePoll((signal) => rpc("agents/card", { id, ...(version ? { a2aVersion: version } : {}) }, { signal })
    .then((result) => ({ ...result, version })), 600, [id, version, etag]);
  const history = usePoll((signal) => rpc("agents/history", { id }, { signal }), 600, [id, etag]);
  const current = card.data?.version === version && !card.failure ? card.data : null;
  return html`
    <section class="panel"><div class="row"><h2 class="grow">Card</h2>
      <label class="line">A2A-Version <select value=${version} onChange=${(event) => setVersion(event.target.value)}>
        <option value="">none</option><option value="1.0">1.0</option><option value="0.3">0.3</option></select></label></div>
      <${Problem} failure=${card.failure} />
      ${current && html`<${Compared} key=${`${version} ${etag}`} card=${current} />`}
    </section>
    <div class="columns">
      <section class="panel"><h2>Lint</h2>${current ? html`<${Lint} list=${current.lint} />` : html`<p class="dim">Without a card there is nothing to check.</p>`}</section>
      <section class="panel"><h2>History of the card</h2><${Problem} failure=${history.failure} />${history.data && html`<${Past} cards=${history.data.cards} />`}</section>
    </div>`;
}
