// The form that adds an agent to the store.
import { html, useState } from "./dom.js";
import { rpc } from "./api.js";
import { useAct } from "./poll.js";
import { to } from "./route.js";
import { name, shellWord, visible } from "./text.js";
import { Problem } from "./widgets.js";

// `added(id)` hears of each that was added.
export function Add({ added }) {
  const [values, setValues] = useState({ id: "", url: "", protocol: "a2a" });
  const [run, { busy, done, failure }] = useAct(async ({ id, url, protocol }) => {
    await rpc("agents/upsert", { id, agent: { url, protocol }, ifVersion: 0 });
    setValues({ id: "", url: "", protocol });
    added(id);
    return id;
  });
  const { id, url, protocol } = values;
  const field = (key, more) => ({ ...more, value: values[key], onInput: (event) => setValues({ ...values, [key]: event.target.value.trim() }) });
  const command = `cardea agents add ${shellWord(id || "ID")} ${shellWord(url || "URL")}${protocol === "a2a" ? "" : ` --protocol ${protocol}`} --if-version 0`;
  return html`<form class="fields" onSubmit=${(event) => {
    event.preventDefault();
    run(values);
  }}>
    <label>Id<input required spellcheck="false" autocomplete="off" ...${field("id", { placeholder: "weather" })} /></label>
    <label>URL<input required type="url" spellcheck="false" autocomplete="off" ...${field("url", { placeholder: "https://agent.example.com/" })} /></label>
    <label>Protocol
      <select value=${protocol} onChange=${(event) => setValues({ ...values, protocol: event.target.value })}>
        <option value="a2a">A2A</option><option value="mcp">MCP (Streamable HTTP)</option>
      </select>
    </label>
    <div class="act"><button type="submit" disabled=${busy}>Add</button><code class="command">${visible(command)}</code></div>
    ${done && html`<p role="status">Added. <a href=${to(["agents", done])}>Open ${name(done)}</a></p>`}
    <${Problem} failure=${failure} />
  </form>`;
}
