// Charts of the history of calls (`agents/stats`), drawn as SVG, with their numbers as a table.
import { html, useState } from "./dom.js";
import { clock, count, ms, percent } from "./text.js";

// The slots that the gateway has lived through: those that end after `since`.
export const lived = (slots, since) => slots.filter((slot) => Date.parse(slot.end) > Date.parse(since));

// The least of 1, 2, 5, 10, 20, … that is not below `most`.
export function ceiling(most) {
  if (!(most > 1)) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].find((each) => each * unit >= most) * unit;
}

const round = (value) => Math.round(value * 10) / 10;

// The path of a line through `values` in a box of `width` x `height`; null breaks it, and a value alone is a dash.
export function linePath(values, top, width, height) {
  const step = width / values.length;
  return values.map((value, at) => {
    if (value == null) return "";
    const x = (at + 0.5) * step;
    const y = round(height - (Math.min(value, top) / top) * height);
    const first = values[at - 1] == null;
    if (first && values[at + 1] == null) return `M${round(x - step / 4)} ${y}H${round(x + step / 4)}`;
    return `${first ? "M" : "L"}${round(x)} ${y}`;
  }).join("");
}

// Rectangles of stacked bars: for each slot one per series that is not zero, `{at, series, x, y, width, height}`.
export function bars(stacks, top, width, height) {
  const step = width / stacks.length;
  return stacks.flatMap((stack, at) => {
    let free = height;
    return stack.map((value, series) => {
      const tall = value > 0 ? Math.max((value / top) * height, 0.75) : 0;
      free -= tall;
      return { at, series, x: round((at + 0.1) * step), y: round(free), width: round(step * 0.8), height: round(tall) };
    }).filter((bar) => bar.height > 0);
  });
}

// The calls of each of the last 60 minutes, of which those before `since` did not exist.
export function Spark({ values, since }) {
  if (!values?.length) return null;
  const minutes = since ? Math.ceil((Date.now() - Date.parse(since)) / 60000) + 1 : values.length;
  const first = Math.max(0, values.length - minutes);
  const known = values.map((value, at) => [at < first ? 0 : value]);
  const most = Math.max(...known.flat());
  const words = `${count(known.reduce((sum, [value]) => sum + value, 0))} calls in ${values.length - first} min, at most ${count(most)} in one`;
  // One path, since a table may have 1,000 of them.
  const path = (all) => all.map((bar) => `M${bar.x} 21V${bar.y}h${bar.width}V21`).join("");
  const drawn = bars(known, Math.max(most, 1), 120, 21);
  return html`<svg class="spark" viewBox="0 0 120 22" preserveAspectRatio="none" role="img" aria-label=${words}>
    <title>${words}</title>
    <line class="grid" x1=${first * 2} x2="120" y1="21.5" y2="21.5" />
    <path d=${path(drawn.filter(({ at }) => at < known.length - 1))} /><path class="open" d=${path(drawn.filter(({ at }) => at === known.length - 1))} />
  </svg>`;
}

const width = 600;
const height = 120;
const time = (at) => clock(at).slice(0, 5);

const charts = [
  { title: "Calls", words: count, series: [{ name: "calls", mark: "a", of: (slot) => slot.calls }] },
  { title: "Failures", words: count, series: [
    { name: "failed", mark: "b", of: (slot) => slot.failed },
    { name: "caller errors", mark: "c", of: (slot) => slot.caller_errors },
  ] },
  { title: "Latency", words: ms, lines: true, series: [
    { name: "p50", mark: "a", of: (slot) => slot.p50_ms },
    { name: "p99", mark: "c", of: (slot) => slot.p99_ms },
  ] },
];

// `pick(at)` hears which slot the pointer is at.
function Chart({ title, slots, series, lines, words, picked, pick }) {
  const rows = slots.map((slot) => series.map(({ of }) => of(slot) ?? 0));
  const top = ceiling(Math.max(...rows.map((row) => (lines ? Math.max(...row) : row.reduce((sum, value) => sum + value)))));
  // A short history stands at the right, in slots of a usual width.
  const step = width / Math.max(slots.length, 12);
  const used = step * slots.length;
  const last = slots.length - 1;
  const at = Math.min(picked ?? last, last);
  const move = (event) => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect();
    const slot = Math.floor((((event.clientX - left) / wide) * width - width + used) / step);
    pick(slot < 0 ? null : slot);
  };
  return html`<figure class="chart">
    <figcaption><b>${title}</b><span>${series.map(({ name, mark, of }) => html`<span class=${`key ${mark}`}>${name} ${words(of(slots[at]))} </span>`)}</span></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" onPointerMove=${move} onPointerLeave=${() => pick(null)}>
      ${[0, height / 2, height].map((y) => html`<line class="grid" x1="0" x2=${width} y1=${y} y2=${y} />`)}
      <g transform=${`translate(${width - used})`}>
        ${picked !== null && html`<rect class="pick" x=${at * step} y="0" width=${step} height=${height} />`}
        ${lines
          ? series.map(({ mark, of }) => html`<path class=${mark} d=${linePath(slots.map(of), top, used, height)} />`)
          : bars(rows, top, used, height).map((bar) => html`<rect class=${`${series[bar.series].mark}${bar.at === last ? " open" : ""}`}
              x=${bar.x} y=${bar.y} width=${bar.width} height=${bar.height} />`)}
      </g>
    </svg>
    <div class="row end small dim"><span>${slots.length >= 12 && time(slots[0].start)}</span><span>0 to ${words(top)}</span><span>now</span></div>
  </figure>`;
}

const Numbers = ({ slots }) => html`<div class="scroll" tabindex="0" role="group" aria-label="Numbers"><table>
  <thead><tr><th scope="col">From</th>${["Calls", "Failed", "Failed %", "Caller errors", "p50", "p99"].map((each) =>
    html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
  <tbody>${slots.map((slot, at) => html`<tr key=${slot.end}>
    <td>${time(slot.start)}${at === slots.length - 1 && " (in progress)"}</td>
    ${[count(slot.calls), count(slot.failed), percent(slot.calls ? slot.failed / slot.calls : null), count(slot.caller_errors), ms(slot.p50_ms), ms(slot.p99_ms)]
      .map((each) => html`<td class="number">${each}</td>`)}</tr>`).reverse()}</tbody>
</table></div>`;

const ranges = { Hour: ["minutes", 60], Day: ["quarters", 900] };

// `stats`: the result of `agents/stats`; null: it is not there yet.
export function History({ stats }) {
  const [range, setRange] = useState("Hour");
  const [picked, pick] = useState(null);
  const [table, setTable] = useState(false);
  if (!stats) return html`<p class="dim">Loading the history…</p>`;
  const [key, seconds] = ranges[range];
  const since = Date.parse(stats.since);
  const slots = lived(stats[key], stats.since).map((slot) => ({ ...slot, start: new Date(Math.max(Date.parse(slot.end) - seconds * 1000, since)) }));
  const last = slots.length - 1;
  if (last < 0) return html`<p class="dim">No history yet.</p>`;
  const at = Math.min(picked ?? last, last);
  const keyed = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    pick(Math.max(0, Math.min(last, at + by)));
  };
  return html`<div class="stack">
    <div class="row">
      <span class="choices" role="group" aria-label="Range">${Object.keys(ranges).map((each) =>
        html`<button aria-pressed=${range === each} onClick=${() => setRange(each)}>${each}</button>`)}</span>
      <span class="dim">${last + 1 < stats[key].length && `since ${time(since)}; `}${time(slots[at].start)} to ${at === last ? "now, in progress" : time(slots[at].end)}</span>
    </div>
    <div class="charts" tabindex="0" role="group" aria-label="Charts; the arrow keys go through time" onKeyDown=${keyed}>
      ${charts.map((chart) => html`<${Chart} ...${chart} slots=${slots} picked=${picked} pick=${pick} />`)}
    </div>
    <details onToggle=${(event) => setTable(event.currentTarget.open)}><summary>Numbers</summary>${table && html`<${Numbers} slots=${slots} />`}</details>
  </div>`;
}
