// Small parts that several pages use.
import { html, useEffect, useRef, useState } from "./dom.js";
import { useAct } from "./poll.js";
import { visible } from "./text.js";

// A modal dialog, which Escape closes.
export function Dialog({ title, close, children }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showModal();
    return () => box.current?.close();
  }, []);
  return html`<dialog ref=${box} aria-label=${title} onClose=${close}>
    <h2>${title}</h2>
    ${children}
    <button class="close" onClick=${close}>Close</button>
  </dialog>`;
}

// One line for a problem of a configuration or of parameters: text, or `{path, what}`.
export const problemText = (problem) =>
  visible(typeof problem === "string" ? problem : [problem.path, problem.what ?? problem.message].filter(Boolean).join(": "));

export const Problems = ({ list }) => html`<ul>${(list ?? []).map((each) => html`<li class="break">${problemText(each)}</li>`)}</ul>`;

// A failure, said once, with its code and its problems.
export function Problem({ failure }) {
  if (!failure) return null;
  const problems = failure.data?.problems ?? failure.data?.error?.problems ?? [];
  return html`<div role="alert" class="problem">
    <${Sentence} text=${failure.message} />${failure.code && html` <code>${visible(failure.code)}</code>`}
    ${problems.length > 0 && html`<${Problems} list=${problems} />`}
  </div>`;
}

// A sentence whose `words` in backquotes are code.
export const Sentence = ({ text }) => html`${visible(text).split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;

const shapes = { healthy: "●", degraded: "▲", unhealthy: "✕", unknown: "○", contained: "■", critical: "✕", warning: "▲" };

// By word and shape, not by colour alone.
export const Status = ({ of }) => html`<span class=${`status ${of}`}><span aria-hidden="true">${shapes[of] ?? "○"}</span> ${of}</span>`;

export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without a secure context there is no clipboard: select it in a field instead.
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button class="quiet copy" aria-label=${label} title=${label} onClick=${copy}>${done ? "Copied" : "Copy"}</button>`;
}

// Text to paste, with a button that copies it.
export const Block = ({ text, label }) => html`<div class="block"><pre tabindex="0" aria-label=${label}>${visible(text)}</pre><${Copy} text=${text} /></div>`;

// A button that acts, its command line beside it, and what came of it. `words(done)` says that.
export function Act({ name, command, action, words, disabled }) {
  const [run, { busy, done, failure }] = useAct(action);
  return html`<span class="act">
    <button disabled=${busy || disabled} onClick=${() => run()}>${name}</button>
    ${command && html`<code class="command">${command}</code>`}
    ${done && html`<span role="status">${words ? words(done) : "Done."}</span>`}
    <${Problem} failure=${failure} />
  </span>`;
}
