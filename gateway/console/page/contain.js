// Stops an agent and lets it go on again: what that cuts is said before it is done.
import { html, useState } from "./dom.js";
import { rpc } from "./api.js";
import { useAct, usePoll } from "./poll.js";
import { moment, shellWord, visible } from "./text.js";
import { Act, Dialog, Problem } from "./widgets.js";
import { containCommand, containParams, cutWords } from "./words.js";

const Persisted = ({ durable }) => durable === false && html` <span class="warn">It is not on the disk yet; the gateway tries again each second.</span>`;

function ContainForm({ id, done }) {
  const [values, setValues] = useState({ reason: "", until: "", notice: "" });
  const look = usePoll((signal) => rpc("agents/contain", { id, reason: "a look from the console", dryRun: true }, { signal }), 2, [id]);
  const [run, { busy, done: result, failure }] = useAct(() => rpc("agents/contain", containParams(id, values)).finally(done));
  const field = (key, label, hint, more) => html`<label>${label}
    <input name=${key} value=${values[key]} maxlength="256" spellcheck="false" autocomplete="off" ...${more}
      onInput=${(event) => setValues({ ...values, [key]: event.target.value })} /><span class="hint">${hint}</span></label>`;
  return html`<form class="fields" onSubmit=${(event) => {
    event.preventDefault();
    run();
  }}>
    <p>Callers get 403 at once, and the agent gets nothing. What it calls itself is refused too, as far as its <code>acts_as</code> says.</p>
    ${field("reason", "Reason", "For operators alone.", { required: true })}
    ${field("until", "Until", "Empty: until it is released.", { placeholder: "2h or 2027-01-31T12:00:00Z" })}
    ${field("notice", "Notice", "Callers read it as the message of the 403. Empty: the usual sentence.")}
    <p role="status">${look.data ? `This would cut ${cutWords(look.data.cut)}.` : !look.failure && "Counting what this would cut …"}</p>
    <${Problem} failure=${look.failure} />
    <div class="act"><button type="submit" class="danger" disabled=${busy || !look.data || !values.reason.trim()}>Contain now</button>
      <code class="command">${containCommand(id, values)}</code></div>
    ${result && html`<p role="status">Contained. It cut ${cutWords(result.cut)}.<${Persisted} durable=${result.durable} /></p>`}
    <${Problem} failure=${failure} />
  </form>`;
}

// `done()` hears of each attempt. What came of it stays until the dialog is closed.
export function Contain({ id, contained, done }) {
  const [open, setOpen] = useState(false);
  return html`${!contained && html`<button class="danger" onClick=${() => setOpen(true)}>Contain</button>`}
    ${open && html`<${Dialog} title=${`Contain ${id}`} close=${() => setOpen(false)}><${ContainForm} id=${id} done=${done} /><//>`}`;
}

// `terms`: `containment` of agents/get; null: it is not known yet.
export function Contained({ id, terms, done }) {
  const rows = terms && [
    ["Reason", visible(terms.reason)],
    ["Since", `${moment(terms.since)}${terms.by ? ` by ${visible(terms.by)}` : ""}`],
    ["Until", terms.until ? moment(terms.until) : "it is released"],
    ["Notice", visible(terms.notice)],
  ].filter(([, value]) => value);
  return html`<section class="why-now contained" aria-label="Contained">
    <p><b>An operator has stopped this agent.</b></p>
    ${rows && html`<dl>${rows.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>`)}</dl>`}
    <${Act} name="Release" command=${`cardea agents release ${shellWord(id)}`} action=${() => rpc("agents/release", { id }).finally(done)}
      words=${() => "Released."} />
  </section>`;
}
