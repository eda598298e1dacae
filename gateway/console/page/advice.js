// The two sentences of a code: why, and what to do (`gateway/advice`).
import { html, useEffect, useState } from "./dom.js";
import { rpc } from "./api.js";
import { visible } from "./text.js";
import { Sentence } from "./widgets.js";

const known = new Map();

export function Advice({ code }) {
  const [, heard] = useState(0);
  useEffect(() => {
    if (known.has(code)) return;
    known.set(code, null);
    rpc("gateway/advice", { code }).then((sentences) => known.set(code, sentences), () => known.delete(code)).finally(() => heard((times) => times + 1));
  }, [code]);
  const { why, advice } = known.get(code) ?? {};
  return html`<p><code>${visible(code)}</code> ${why
    ? html`<${Sentence} text=${why} /> <span class="good" aria-hidden="true">→ </span><${Sentence} text=${advice} />`
    : "is explained in docs/answers.md."}</p>`;
}
