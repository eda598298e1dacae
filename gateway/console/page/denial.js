// Why access denied a call: the rule in its access line, and the steps as they would be decided now (`access/explain`).
import { html, useEffect } from "./dom.js";
import { rpc } from "./api.js";
import { useAct } from "./poll.js";
import { name, visible } from "./text.js";
import { Problem } from "./widgets.js";
import { checkWords, explainParams } from "./words.js";

const shapes = { pass: "✓", deny: "✕", skip: "–" };

const Step = ({ step: { check, outcome, rule, missing } }) => html`<li>
  <span class=${outcome === "deny" ? "bad" : outcome === "pass" ? "good" : "dim"}><span aria-hidden="true">${shapes[outcome] ?? "?"}</span> ${checkWords(check)}: ${name(outcome)}</span>
  ${rule && rule !== "none" && html` by <code>${visible(rule)}</code>`}${missing && html`, it lacks <code>${visible(missing)}</code>`}
</li>`;

export function Denial({ line }) {
  const asked = explainParams(line);
  const [ask, { busy, done, failure }] = useAct(() => rpc("access/explain", asked));
  useEffect(() => {
    if (asked) ask();
  }, []);
  return html`<div role="group" aria-label="Denied" class="stack">
    ${line.rule && html`<p>Denied by <code>${visible(line.rule)}</code>.</p>`}
    ${busy && html`<p class="dim">Asking for the rule …</p>`}
    ${done?.steps && html`<div><p>${done.allowed ? "Now it would pass:" : "Now it would be decided so:"}</p>
      <ul class="plain">${done.steps.map((step) => html`<${Step} key=${step.check} step=${step} />`)}</ul></div>`}
    <${Problem} failure=${failure} />
  </div>`;
}
