// What an agent offers, as its card says it: the tools of an MCP server, the skills of an A2A agent.
import { html, useMemo, useState } from "./dom.js";
import { to } from "./route.js";
import { name, visible } from "./text.js";

const mostShown = 100;
const extension = "urn:cardea:a2a:extension:mcp:v1";
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const listOf = (value) => (Array.isArray(value) ? value.filter(isObject) : []);

// The tools of a card, in the server's own words where it has them.
export function toolsOf(card) {
  const facts = listOf(card?.capabilities?.extensions).find((each) => each.uri === extension)?.params;
  const skills = listOf(card?.skills).map((each) => ({ ...each, name: each.id ?? each.name, title: each.name }));
  const words = new Map(skills.map((each) => [each.name, each.description]));
  const tools = facts ? listOf(facts.tools).map((each) => ({ description: words.get(each.name), ...each })) : skills;
  return tools.filter((each) => typeof each.name === "string");
}

function Schema({ title, schema }) {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(event) => setOpen(event.target.open)}><summary>${title}</summary>
    ${open && html`<pre tabindex="0" aria-label=${title}>${visible(JSON.stringify(schema, null, 2).slice(0, 64 * 1024))}</pre>`}</details>`;
}

const hints = (annotations) => [["readOnlyHint", "reads only"], ["destructiveHint", "may destroy"], ["idempotentHint", "may be repeated"], ["openWorldHint", "reaches other systems"]]
  .filter(([key]) => annotations?.[key] === true);

// `kind`: `tool` or `skill`. `hidden`: of agents/get; `omitted`: of the session.
export function Tools({ id, kind, card, hidden, omitted }) {
  const [text, setText] = useState("");
  const [most, setMost] = useState(mostShown);
  const all = useMemo(() => toolsOf(card), [card]);
  const found = useMemo(() => all.filter((each) => `${each.name} ${each.title ?? ""} ${each.description ?? ""}`.toLowerCase().includes(text.toLowerCase())), [all, text]);
  return html`<section class="panel"><div class="row"><h2 class="grow">${kind === "tool" ? "Tools" : "Skills"} <span class="dim">${all.length}</span></h2>
      ${all.length > 10 && html`<label class="line">Filter <input type="text" value=${text} onInput=${(event) => setText(event.target.value)} /></label>`}</div>
    ${hidden?.count > 0 && html`<details open><summary>${hidden.count} hidden from callers</summary><ul>${hidden.first.map((each) => html`<li><code>${name(each.name)}</code>: ${visible(each.why)}</li>`)}</ul></details>`}
    ${omitted?.count > 0 && html`<details><summary>${omitted.count} left out: no caller could use them</summary><ul>${omitted.first.map((each) => html`<li class="break">${visible(typeof each === "string" ? each : JSON.stringify(each))}</li>`)}</ul></details>`}
    <ul class="plain stack">${found.slice(0, most).map((each) => html`<li key=${each.name}>
      <a href=${to(["agents", id, "try"], { [kind]: each.name })} title=${`Fill in the form of ${name(each.name)}`}>${name(each.name)}</a>
      ${each.title && each.title !== each.name && html` <b>${name(each.title)}</b>`} ${hints(each.annotations).map(([, words]) => html`<span class="tag">${words}</span> `)}
      <div class="small break">${visible(String(each.description ?? "").slice(0, 600))}</div>
      ${isObject(each.inputSchema) && html`<${Schema} title="Input schema" schema=${each.inputSchema} />`}
      ${isObject(each.outputSchema) && html`<${Schema} title="Output schema" schema=${each.outputSchema} />`}</li>`)}</ul>
    ${found.length > most && html`<button onClick=${() => setMost(most + 400)}>More (${found.length - most})</button>`}
  </section>`;
}
