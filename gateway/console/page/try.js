// The page that tries an agent or a tool.
import { html } from "./dom.js";
import { name } from "./text.js";

export const Try = ({ id }) => html`<h1>Try ${name(id)}</h1>`;
