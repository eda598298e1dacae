// What a code means, and what to do about it.
import { html } from "./dom.js";
import { visible } from "./text.js";

export const Advice = ({ code }) => html`<p>The code is <code>${visible(code)}</code>; <code>docs/answers.md</code> explains it.</p>`;
