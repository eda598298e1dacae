// Charts of the history of calls (`agents/stats`), drawn as SVG, each with its numbers as a table.
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

// The path of a line through `values` in a box of `width` x `height`; null breaks it.
export function linePath(values, top, width, height) {
  const step = width / values.length;
  let path = "";
  let broken = true;
  values.forEach((value, at) => {
    if (value == null) {
      broken = true;
      return;
    }
    const x = round((at + 0.5) * step);
    const y = round(height - (Math.min(value, top) / top) * height);
    // A value alone is a short dash, since a point has no length.
    const alone = broken && values[at + 1] == null;
    path += alone ? `M${round(x - step / 4)} ${y}H${round(x + step / 4)}` : `${broken ? "M" : "L"}${x} ${y}`;
    broken = false;
  });
  return path;
}

// Rectangles of stacked bars: for each slot one per series that is not zero, `{at, series, x, y, width, height}`.
export function bars(stacks, top, width, height) {
  const step = width / stacks.length;
  const found = [];
  stacks.forEach((stack, at) => {
    let below = 0;
    stack.forEach((value, series) => {
      if (!(value > 0)) return;
      const tall = Math.max((value / top) * height, 0.75);
      found.push({ at, series, x: round(at * step + step * 0.1), y: round(height - below - tall), width: round(step * 0.8), height: round(tall) });
      below += tall;
    });
  });
  return found;
}

// The calls of each of the last 60 minutes, of which those before `since` did not exist.
export function Spark({ values, since, now = Date.now() }) {
  if (!values?.length) return null;
  const age = since ? Math.ceil((now - Date.parse(since)) / 60000) + 1 : values.length;
  const first = Math.max(0, values.length - Math.max(age, 1));
  const known = values.slice(first);
  const top = Math.max(...known, 1);
  const all = known.reduce((sum, value) => sum + value, 0);
  const label = `${count(all)} calls in ${known.length} min, at most ${count(Math.max(...known))} in one`;
  const shifted = values.map((value, at) => [at < first ? 0 : value]);
  return html`<svg class="spark" viewBox="0 0 120 22" preserveAspectRatio="none" role="img" aria-label=${label}>
    <title>${label}</title>
    ${first < values.length && html`<line class="grid" x1=${first * 2} x2="120" y1="21.5" y2="21.5" />`}
    ${bars(shifted, top, 120, 21).map((bar) => html`<rect class=${bar.at === values.length - 1 ? "a open" : "a"}
      x=${bar.x} y=${bar.y} width=${bar.width} height=${bar.height} />`)}
  </svg>`;
}

const time = (at) => clock(at).slice(0, 5);
const box = { width: 600, height: 120 };

// One chart. `series`: `[{name, mark, of(slot)}]`; `shape`: `bars`, stacked, or `lines`; `words(value)` writes a value.
function Chart({ title, slots, series, shape, words, picked, pick }) {
  const { width, height } = box;
  const rows = slots.map((slot) => series.map(({ of }) => of(slot)));
  const tops = rows.map((row) => (shape === "bars" ? row.reduce((sum, value) => sum + value, 0) : Math.max(0, ...row.map((value) => value ?? 0))));
  const top = ceiling(Math.max(0, ...tops));
  // A short history stands at the right, in slots of a usual width.
  const step = width / Math.max(slots.length, 12);
  const used = step * slots.length;
  const shift = width - used;
  const last = slots.length - 1;
  const at = picked === null || picked > last ? last : picked;
  const move = (event) => {
    const { left, width: wide } = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - left) / wide) * width - shift;
    pick(x < 0 ? null : Math.min(last, Math.floor(x / step)));
  };
  return html`<figure class="chart">
    <figcaption>
      <b>${title}</b>
      <span>${series.map(({ name, mark, of }) => html`<span class=${`key ${mark}`}>${name} ${words(of(slots[at]))}</span> `)}</span>
    </figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" onPointerMove=${move} onPointerLeave=${() => pick(null)}>
      <line class="grid" x1="0" x2=${width} y1="0" y2="0" /><line class="grid" x1="0" x2=${width} y1=${height / 2} y2=${height / 2} />
      <line class="grid" x1="0" x2=${width} y1=${height} y2=${height} />
      <g transform=${`translate(${shift})`}>
      ${picked !== null && html`<rect class="pick" x=${round(at * step)} y="0" width=${round(step)} height=${height} />`}
      ${shape === "bars"
        ? bars(rows, top, used, height).map((bar) => html`<rect class=${`${series[bar.series].mark}${bar.at === last ? " open" : ""}`}
            x=${bar.x} y=${bar.y} width=${bar.width} height=${bar.height} />`)
        : series.map(({ mark, of }) => html`<path class=${mark} d=${linePath(slots.map(of), top, used, height)} />`)}
      </g>
    </svg>
    <div class="row end small dim"><span>${shift === 0 && time(slots[0].start)}</span><span>at most ${words(top)}</span><span>now</span></div>
  </figure>`;
}

const charts = [
  { title: "Calls", shape: "bars", words: count, series: [{ name: "calls", mark: "a", of: (slot) => slot.calls }] },
  { title: "Failures", shape: "bars", words: count, series: [
    { name: "failed", mark: "b", of: (slot) => slot.failed },
    { name: "caller errors", mark: "c", of: (slot) => slot.caller_errors },
  ] },
  { title: "Latency", shape: "lines", words: ms, series: [
    { name: "p50", mark: "a", of: (slot) => slot.p50_ms },
    { name: "p99", mark: "c", of: (slot) => slot.p99_ms },
  ] },
];

function Numbers({ slots }) {
  const newest = slots.map((slot, at) => ({ ...slot, open: at === slots.length - 1 })).reverse();
  return html`<div class="scroll"><table>
    <thead><tr><th scope="col">From</th>${["Calls", "Failed", "Failed %", "Caller errors", "p50", "p99"].map((each) =>
      html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
    <tbody>${newest.map((slot) => html`<tr key=${slot.end}>
      <td>${time(slot.start)}${slot.open && " (in progress)"}</td>
      <td class="number">${count(slot.calls)}</td><td class="number">${count(slot.failed)}</td>
      <td class="number">${percent(slot.calls ? slot.failed / slot.calls : null)}</td>
      <td class="number">${count(slot.caller_errors)}</td>
      <td class="number">${ms(slot.p50_ms)}</td><td class="number">${ms(slot.p99_ms)}</td></tr>`)}</tbody>
  </table></div>`;
}

const ranges = {
  hour: { name: "Hour", of: (stats) => stats.minutes, seconds: 60 },
  day: { name: "Day", of: (stats) => stats.quarters, seconds: 900 },
};

// `stats`: the result of `agents/stats`; null: it is not there yet.
export function History({ stats }) {
  const [range, setRange] = useState("hour");
  const [picked, pick] = useState(null);
  const [table, setTable] = useState(false);
  if (!stats) return html`<p class="loading">Loading the history…</p>`;
  const { of, seconds } = ranges[range];
  const slots = lived(of(stats), stats.since).map((slot) => ({
    ...slot,
    start: new Date(Math.max(Date.parse(slot.end) - seconds * 1000, Date.parse(stats.since))),
  }));
  if (slots.length === 0) return html`<p class="empty">No history yet. It begins with the gateway's start.</p>`;
  const short = slots.length < of(stats).length;
  const slot = slots[picked ?? slots.length - 1] ?? slots[slots.length - 1];
  const open = slot === slots[slots.length - 1];
  const keyed = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    pick(Math.max(0, Math.min(slots.length - 1, (picked ?? slots.length - 1) + by)));
  };
  return html`<div class="stack">
    <div class="row">
      <span class="choices" role="group" aria-label="Range">${Object.entries(ranges).map(([key, { name }]) =>
        html`<button aria-pressed=${range === key} onClick=${() => setRange(key)}>${name}</button>`)}</span>
      <span class="dim">${short && `since ${clock(stats.since).slice(0, 5)}; `}${time(slot.start)} to ${open ? "now, in progress" : time(slot.end)}</span>
    </div>
    <div class="charts" tabindex="0" role="group" aria-label="Charts; the arrow keys go through time" onKeyDown=${keyed}>
      ${charts.map((chart) => html`<${Chart} key=${chart.title} ...${chart} slots=${slots} picked=${picked} pick=${pick} />`)}
    </div>
    <details onToggle=${(event) => setTable(event.currentTarget.open)}>
      <summary>Numbers</summary>
      ${table && html`<${Numbers} slots=${slots} />`}
    </details>
  </div>`;
}
