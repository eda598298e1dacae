// Who calls whom through the gateway (`calls/edges`).
import { html, useState } from "./dom.js";
import { rpc } from "./api.js";
import { usePoll } from "./poll.js";
import { to } from "./route.js";
import { count, moment, name } from "./text.js";
import { Problem } from "./widgets.js";
import { callerWords } from "./words.js";

const steps = [50, 200, 1000];
const orders = [["calls", "calls"], ["failed", "failures"], ["refused", "refusals"], ["last", "time"]];

const Row = ({ edge }) => html`<tr>
  <th scope="row">${edge.caller ? html`<a href=${to(["agents", edge.caller])}>${callerWords(edge)}</a>` : callerWords(edge)}</th>
  <td>${name(edge.provider, 80)}</td>
  <td><a href=${to(["agents", edge.agent])}>${name(edge.agent, 80)}</a></td>
  <td class="number">${count(edge.calls)}</td>
  <td class=${`number${edge.failed > 0 ? " bad" : ""}`}>${count(edge.failed)}</td>
  <td class=${`number${edge.refused > 0 ? " warn" : ""}`}>${count(edge.refused)}</td>
  <td>${moment(edge.last)}</td>
</tr>`;

export function Edges() {
  const [sort, setSort] = useState("calls");
  const [limit, setLimit] = useState(steps[0]);
  const { data, failure } = usePoll((signal) => rpc("calls/edges", { sort, limit }, { signal }), 5, [sort, limit]);
  const edges = data?.edges ?? [];
  const next = steps.find((step) => step > limit);
  const heads = [["Caller"], ["Provider"], ["Agent"], ["Calls", "number"], ["Failed", "number"], ["Refused", "number"], ["Last"]];
  return html`<section class="panel" aria-label="Who calls whom">
    <div class="row"><h2>Who calls whom</h2><label class="line">Most
      <select value=${sort} onChange=${(event) => setSort(event.target.value)}>${orders.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label></div>
    <${Problem} failure=${failure} />
    ${data && edges.length === 0 && html`<p class="dim">No calls since the start.</p>`}
    ${edges.length > 0 && html`<div class="scroll" tabindex="0" role="group" aria-label="Callers and agents"><table class="wrap">
      <thead><tr>${heads.map(([head, of]) => html`<th scope="col" class=${of ?? ""}>${head}</th>`)}</tr></thead>
      <tbody>${edges.map((edge) => html`<${Row} key=${`${edge.provider} ${edge.agent} ${edge.principal}`} edge=${edge} />`)}</tbody></table></div>`}
    ${data?.total > edges.length && (next
      ? html`<button onClick=${() => setLimit(next)}>More (${count(data.total - edges.length)})</button>`
      : html`<p class="dim">These are ${count(edges.length)} of ${count(data.total)}.</p>`)}
  </section>`;
}
