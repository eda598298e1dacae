// The page of one agent.
import { html } from "./dom.js";
import { name } from "./text.js";

export const Agent = ({ id }) => html`<h1>${name(id)}</h1>`;
