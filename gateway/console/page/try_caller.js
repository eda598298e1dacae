// Who is tried: the header fields and the credential of a caller.
import { html, useMemo, useState } from "./dom.js";
import { readFields } from "./attempt.js";

// The header fields of the caller that is tried, with the credential. `fields` is null while they are wrong.
export function useCaller() {
  const [text, setText] = useState("");
  const [credential, setCredential] = useState("");
  const { fields, problem } = useMemo(() => readFields(text), [text]);
  return { text, setText, credential, setCredential, problem, fields: problem ? null : { ...fields, ...(credential ? { Authorization: credential } : {}) } };
}

export const CallerFields = ({ caller }) => html`<details>
  <summary>Credential and header fields</summary>
  <div class="fields">
    <label>Credential<input type="password" autocomplete="off" placeholder="Bearer …" value=${caller.credential} onInput=${(event) => caller.setCredential(event.target.value.trim())} />
      <span class="hint">The agent's callers send it as Authorization. It is kept nowhere.</span></label>
    <label>Header fields<textarea class="mono" rows="3" spellcheck=${false} placeholder="Name: value" value=${caller.text} onInput=${(event) => caller.setText(event.target.value)}></textarea>
      ${caller.problem && html`<span class="bad" role="alert">${caller.problem}</span>`}</label>
  </div>
</details>`;
