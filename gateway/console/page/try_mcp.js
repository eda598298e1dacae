// The form of a call of a tool of an MCP server.
import { html, useEffect, useMemo, useRef, useState } from "./dom.js";
import { Fields, useForm } from "./fields.js";
import { toolsOf } from "./tools.js";
import { name, visible } from "./text.js";
import { CallerFields } from "./try_caller.js";
import { Caller, eras } from "./wire_mcp.js";

const mostOffered = 100;

// The caller of this era with these header fields; its session ends when another one begins or the page leaves.
function useSession(id, era, fields) {
  const kept = useRef(null);
  const key = JSON.stringify([era, fields]);
  const end = () => {
    kept.current?.caller.end();
    kept.current = null;
  };
  useEffect(() => {
    addEventListener("pagehide", end);
    return () => {
      removeEventListener("pagehide", end);
      end();
    };
  }, []);
  return {
    open: kept.current?.caller.hasSession ?? false,
    end,
    caller: () => {
      if (kept.current?.key !== key) {
        end();
        kept.current = { key, caller: new Caller(id, era, fields) };
      }
      return kept.current.caller;
    },
  };
}

export function McpForm({ id, query, caller, start, served, refused, session }) {
  const [era, setEra] = useState("");
  const [tool, setTool] = useState(query.get("tool") ?? "");
  const [listed, setListed] = useState(null);
  const [, redraw] = useState(0);
  const spoken = era || (session?.era === "modern" ? "modern" : "legacy");
  const own = useSession(id, spoken, caller.fields);
  const tools = useMemo(() => listed ?? toolsOf(served), [listed, served]);
  const found = useMemo(() => tools.find((each) => each.name === tool), [tools, tool]);
  const offered = useMemo(() => tools.filter((each) => each.name.toLowerCase().includes(tool.toLowerCase())).slice(0, mostOffered), [tools, tool]);
  const form = useForm(found?.inputSchema ?? null, found ? `${found.name} ${tools.length}` : "");
  const list = async () => {
    await start("List tools", async (attempt) => setListed(await own.caller().list(attempt)));
    redraw((count) => count + 1);
  };
  const submit = async (event) => {
    event.preventDefault();
    const given = form.read();
    if (given === undefined) return;
    await start(tool, (attempt) => own.caller().callTool(attempt, tool, given, found?.inputSchema));
    redraw((count) => count + 1);
  };
  return html`<form class="panel fields" aria-label="Request" noValidate onSubmit=${submit}>
    <div class="row">
      <label>Protocol<select value=${spoken} onChange=${(event) => setEra(event.target.value)}>
        <option value="legacy">MCP ${eras.legacy}, with a session</option><option value="modern">MCP ${eras.modern}, without a session</option></select></label>
      <button type="button" disabled=${refused} onClick=${list}>List tools</button>
      ${own.open && html`<button type="button" onClick=${() => {
        own.end();
        redraw((count) => count + 1);
      }}>End session</button>`}
    </div>
    <label>Tool<input type="text" list="tools" autocomplete="off" spellcheck=${false} value=${tool} onInput=${(event) => setTool(event.target.value)} />
      <datalist id="tools">${offered.map((each) => html`<option value=${each.name}>${name(each.title ?? "", 80)}</option>`)}</datalist></label>
    <span class="hint">${tools.length} tools${tools.length > mostOffered ? "; type a part of the name" : ""}${listed ? ", as this caller gets them" : ", as the gateway's own session gets them"}.
      ${tool && !found ? " This one is not among them." : ""}</span>
    ${found?.description && html`<p class="break small">${visible(String(found.description).slice(0, 2000))}</p>`}
    <${Fields} form=${form} prefix="argument" label="Arguments" />
    <div class="row"><button type="submit" disabled=${refused || tool === ""}>Send</button></div>
    <${CallerFields} caller=${caller} />
  </form>`;
}
