// What of an agent was approved, and what waits for that.
import { html } from "./dom.js";
import { rpc } from "./api.js";
import { Patch } from "./card.js";
import { usePoll } from "./poll.js";
import { count, moment, name } from "./text.js";
import { Act, Problem } from "./widgets.js";
import { approveCommand, approvedItem, itemWords, whyHeld } from "./words.js";

const most = 200; // items that are shown
const keyOf = (item) => `${item.kind} ${item.name} ${item.sha256}`;
const short = (sha256) => html`<code title=${name(sha256)}>${name(sha256 ?? "", 12)}</code>`;

function Approve({ id, items, label, again }) {
  const approve = () => rpc("agents/approve", { id, items: items.map(approvedItem) }).finally(again);
  return html`<${Act} name=${label} command=${approveCommand(id, items)} action=${approve}
    words=${({ held }) => (held > 0 ? `Approved. ${count(held)} more wait.` : "Approved. Nothing waits any more.")} />`;
}

const Held = ({ id, item, diff, locked, again }) => html`<li class="stack">
  <p><b>${whyHeld(item)}</b> <span class="dim">Since ${moment(item.since)}, ${short(item.sha256)}</span></p>
  ${Array.isArray(diff) && html`<${Patch} patch=${diff} />`}
  ${!locked && html`<${Approve} id=${id} items=${[item]} label=${`Approve ${itemWords(item).replace(/^The /, "")}`} again=${again} />`}
</li>`;

// The differences by item, asked for when another item waits: they cost the gateway more than all else that the page asks.
function useDiffs(id, held) {
  const waiting = held.map(keyOf).join("\n");
  const ask = (signal) => (waiting ? rpc("agents/pins", { id, diff: true }, { signal }) : null);
  const { data, failure } = usePoll(ask, 600, [id, waiting]);
  return { diffs: new Map((data?.agents?.[0]?.held ?? []).map((item) => [keyOf(item), item.diff])), failure };
}

export function Pins({ id, changed }) {
  const { data, failure, again } = usePoll((signal) => rpc("agents/pins", { id, diff: false }, { signal }), 5, [id]);
  const pins = data?.agents?.[0];
  const { diffs, failure: noDiffs } = useDiffs(id, pins?.held ?? []);
  if (!pins || pins.mode === "off") return html`<${Problem} failure=${failure?.kind === "unreachable" ? null : failure} />`;
  const { approved = [], held = [], volatile: noise = [], locked } = pins;
  const both = () => {
    again();
    changed();
  };
  return html`<section class="panel" aria-label="Pins">
    <div class="row"><h2>Pins</h2><span class="tag">${name(pins.mode)}</span><span class="dim">${count(approved.length)} approved</span></div>
    <${Problem} failure=${failure ?? noDiffs} />
    ${held.length === 0 && html`<p class="dim">Nothing waits for approval.</p>`}
    ${locked && html`<p class="note">A lock file approves. Change it with <code>cardea agents pins --lock</code>.</p>`}
    ${held.length > 1 && !locked && html`<${Approve} id=${id} items=${held} label=${`Approve all ${count(held.length)}`} again=${both} />`}
    ${held.length > 0 && html`<ul class="plain stack" aria-label="Held">${held.slice(0, most).map((item) => html`<${Held} key=${keyOf(item)} id=${id} item=${item} diff=${diffs.get(keyOf(item))} locked=${locked} again=${both} />`)}</ul>`}
    ${held.length > most && html`<p class="dim">and ${count(held.length - most)} more</p>`}
    ${noise.length > 0 && html`<p>These texts differ from hour to hour, and are no longer reported: ${noise.slice(0, most).map((place) => name(place)).join(", ")}.</p>`}
    ${approved.length > 0 && html`<details><summary>Approved</summary><ul class="plain small">${approved.slice(0, most).map((item) => html`<li>${itemWords(item)}
      ${short(item.sha256)}${item.variants > 1 && ` and ${count(item.variants - 1)} more`}</li>`)}</ul></details>`}
  </section>`;
}
