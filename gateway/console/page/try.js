// The page that tries an agent or a tool: the request goes through the gateway as any caller's would.
import { html, useEffect, useState } from "./dom.js";
import { rpc } from "./api.js";
import { AttemptList, AttemptView } from "./attempt_view.js";
import { Attempt, triesOf, watchTries } from "./attempt.js";
import { usePoll } from "./poll.js";
import { to } from "./route.js";
import { name } from "./text.js";
import { A2aForm } from "./try_a2a.js";
import { useCaller } from "./try_caller.js";
import { McpForm } from "./try_mcp.js";
import { Problem, Sentence, Status } from "./widgets.js";

export function Try({ id, query }) {
  const [, draw] = useState(0);
  const [chosen, choose] = useState("");
  const caller = useCaller();
  const health = usePoll((signal) => rpc("agents/health", { id }, { signal }), 5, [id]);
  const info = usePoll((signal) => rpc("gateway/info", {}, { signal }), 30, []);
  const card = usePoll((signal) => rpc("agents/card", { id, a2aVersion: "1.0" }, { signal }), 600, [id]);
  const agent = health.data;
  const tries = triesOf(id);
  const shown = tries.find((each) => each.id === chosen) ?? tries[0];
  const refused = info.data?.try && !info.data.try.enabled ? info.data.try.why_not || "Tries are turned off." : "";
  // Begins a try; `work(attempt)` makes its exchanges.
  const start = (label, work) => {
    const attempt = new Attempt(id, label);
    choose(attempt.id);
    return attempt.run(work).then(() => attempt);
  };
  const parts = { id, query, caller, start, served: card.data?.served, refused: refused !== "" || caller.problem, session: agent?.session };
  useEffect(() => watchTries(() => draw((count) => count + 1)), []);
  useEffect(() => {
    document.title = `Try ${id} · Cardea`;
  }, [id]);
  return html`
    <div class="row"><h1>Try <a href=${to(["agents", id])}>${name(id)}</a></h1>${agent && html`<${Status} of=${agent.status} />`}</div>
    ${agent?.why && html`<p class="note"><${Sentence} text=${name(`${agent.why} ${agent.advice ?? ""}`, 600)} /></p>`}
    <${Problem} failure=${health.failure} />
    ${refused && html`<p class="problem" role="alert">Nothing can be tried from here. ${name(refused, 300)}</p>`}
    <div class="try">
      ${agent && (agent.protocol === "mcp"
        ? html`<${McpForm} ...${parts} />`
        : html`<${A2aForm} ...${parts} shown=${shown} />`)}
      <div class="stack">
        ${shown
          ? html`<${AttemptView} key=${shown.id} of=${shown} publicUrl=${`${agent?.public_url ?? `…/agents/${id}`}${agent?.protocol === "mcp" ? "/mcp" : ""}`} />`
          : html`<p class="empty">What you send and what comes back appears here, event by event.</p>`}
        ${tries.length > 0 && html`<${AttemptList} tries=${tries} chosen=${shown} choose=${choose} />`}
      </div>
    </div>`;
}
