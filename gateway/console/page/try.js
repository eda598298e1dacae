// The page that tries an agent or a tool: the request goes through the gateway as any caller's would.
import { html, useEffect, useMemo, useRef, useState } from "./dom.js";
import { rpc } from "./api.js";
import { Attempt, AttemptList, AttemptView, triesOf, watchTries } from "./attempt.js";
import { addressesOf } from "./connect.js";
import { Fields, readObject, useForm } from "./form.js";
import { usePoll } from "./poll.js";
import { to } from "./route.js";
import { name, visible } from "./text.js";
import { Caller, converse, eras, listOf, toolsOf } from "./wire.js";
import { Problem, Sentence, Status } from "./widgets.js";

// Header fields as a person writes them, `Name: value` a line, with the credential; null: a line is wrong.
function fieldsOf(text, credential) {
  const lines = text.split("\n").filter((line) => line.trim()).map((line) => /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*([\t -~\x80-\xff]*?)\s*$/.exec(line));
  return lines.includes(null) ? null : { ...Object.fromEntries(lines.map(([, key, value]) => [key, value])), ...(credential && { Authorization: credential }) };
}

const CallerFields = ({ caller: { text, credential, set, fields } }) => html`<details><summary>Credential and header fields</summary><div class="fields">
  <label>Credential<input type="password" autocomplete="off" placeholder="Bearer …" value=${credential} onInput=${(event) => set({ credential: event.target.value.trim() })} />
    <span class="hint">Sent as Authorization, kept nowhere</span></label>
  <label>Header fields<textarea class="mono" spellcheck=${false} placeholder="Name: value" value=${text} onInput=${(event) => set({ text: event.target.value })}></textarea>
    ${!fields && html`<span class="bad" role="alert">A line is not a header field.</span>`}</label></div></details>`;

const Select = ({ label, value, options, change }) => html`<label>${label}<select value=${value} onChange=${(event) => change(event.target.value)}>
  ${options.map(([key, text]) => html`<option value=${key}>${name(text, 80)}</option>`)}</select></label>`;

const Check = ({ label, value, change }) => html`<label class="line"><input type="checkbox" checked=${value} onChange=${(event) => change(event.target.checked)} />${label}</label>`;

const sends = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.currentTarget.requestSubmit();

function A2aForm({ id, query, caller, start, card, refused, shown }) {
  const [given, setGiven] = useState({ version: "", skill: query.get("skill") ?? "", text: "", json: false, stream: true, extensions: "", taskId: "", contextId: "" });
  const [wrong, setWrong] = useState("");
  const set = (more) => setGiven((before) => ({ ...before, ...more }));
  const setter = (key) => (value) => set({ [key]: value });
  const { skill, text, json, stream, taskId, contextId } = given;
  const skills = listOf(card?.skills);
  const offered = listOf(card?.supportedInterfaces).map((each) => each.protocolVersion);
  const version = given.version || (offered.length && !offered.includes("1.0") ? "0.3" : "1.0");
  const examples = useMemo(() => skills.filter((each) => !skill || each.id === skill).flatMap((each) => each.examples ?? [])
    .filter((each) => typeof each === "string").slice(0, 50), [card, skill]);
  const submit = async (event) => {
    event.preventDefault();
    const { value: content = text, problem = "" } = json ? readObject(text) : {};
    setWrong(problem);
    if (problem || refused || !text) return;
    const extensions = given.extensions.split(/[\s,]+/).filter(Boolean);
    const attempt = await start(text, (made) => converse(made, { ...given, id, version, content, extensions, fields: caller.fields }));
    // A task that asks goes on with the next message.
    const goesOn = /-required$/.test(attempt.state);
    set({ taskId: goesOn ? attempt.taskId : "", contextId: goesOn ? attempt.contextId : "" });
  };
  return html`<form class="panel fields" noValidate onSubmit=${submit} onKeyDown=${sends}>
    <div class="row">
      <${Select} label="Version" value=${version} options=${[["1.0", "A2A 1.0"], ["0.3", "A2A 0.3"]]} change=${setter("version")} />
      ${skills.length > 0 && html`<${Select} label="Skill" value=${skill} options=${[["", "any"], ...skills.slice(0, 500).map((each) => [each.id, each.name])]} change=${setter("skill")} />`}
      ${examples.length > 0 && html`<${Select} label="Example" value="" options=${[["", "–"], ...examples.map((each) => [each, each])]} change=${(value) => set({ text: value, json: false })} />`}
      <${Select} label="Content" value=${json ? "json" : ""} options=${[["", "Text"], ["json", "JSON"]]} change=${(value) => set({ json: value !== "" })} />
    </div>
    <label>Message<textarea rows="5" class=${json && "mono"} value=${text} aria-invalid=${wrong && "true"} onInput=${(event) => set({ text: event.target.value })}></textarea></label>
    ${wrong && html`<span class="bad" role="alert">${wrong}</span>`}
    ${taskId && html`<p class="note">This continues the task <code>${name(taskId, 60)}</code>. <button type="button" onClick=${() => set({ taskId: "", contextId: "" })}>Begin another</button></p>`}
    <div class="row"><button type="submit" disabled=${refused || !text}>Send</button>
      <${Check} label="Stream" value=${stream} change=${setter("stream")} />
      ${shown?.contextId && !taskId && html`<${Check} label="Same context" value=${contextId === shown.contextId} change=${(on) => set({ contextId: on ? shown.contextId : "" })} />`}
      <span class="hint">Ctrl+Enter sends</span></div>
    <details><summary>Extensions</summary><label>Extensions<input type="text" list="extensions" placeholder="URIs" value=${given.extensions} onInput=${(event) => set({ extensions: event.target.value })} /></label>
      <datalist id="extensions">${listOf(card?.capabilities?.extensions).slice(0, 50).map(({ uri }) => html`<option value=${String(uri)} />`)}</datalist></details>
    <${CallerFields} caller=${caller} />
  </form>`;
}

// The caller of this era with these header fields; its session ends when another one begins or the page leaves.
function useSession(id, era, fields) {
  const kept = useRef({});
  const key = JSON.stringify([era, fields]);
  const end = () => kept.current.caller?.end();
  useEffect(() => {
    addEventListener("pagehide", end);
    return () => {
      removeEventListener("pagehide", end);
      end();
    };
  }, []);
  return { end, isOpen: kept.current.caller?.session, caller: () => {
    if (kept.current.key !== key) {
      end();
      kept.current = { key, caller: new Caller(id, era, fields) };
    }
    return kept.current.caller;
  } };
}

function McpForm({ id, query, caller, start, card, refused, session }) {
  const [chosen, choose] = useState("");
  const [tool, setTool] = useState(query.get("tool") ?? "");
  const [listed, setListed] = useState(null);
  const era = chosen || (session?.era === "modern" ? "modern" : "legacy");
  const own = useSession(id, era, caller.fields);
  const tools = useMemo(() => listed ?? toolsOf(card), [listed, card]);
  const found = useMemo(() => tools.find((each) => each.name === tool), [tools, tool]);
  const offered = useMemo(() => tools.filter((each) => each.name.toLowerCase().includes(tool.toLowerCase())).slice(0, 100), [tools, tool]);
  const form = useForm(found?.inputSchema ?? null, `${found?.name} ${tools.length}`);
  const submit = (event) => {
    event.preventDefault();
    const given = form.read();
    if (given && tool && !refused) start(tool, (attempt) => own.caller().callTool(attempt, tool, given, found?.inputSchema));
  };
  return html`<form class="panel fields" noValidate onSubmit=${submit} onKeyDown=${sends}>
    <div class="row">
      <${Select} label="Protocol" value=${era} options=${Object.entries(eras).map(([key, version]) => [key, `${version}, ${key === "modern" ? "no" : "with"} session`])} change=${choose} />
      <button type="button" disabled=${refused} onClick=${() => start("List tools", async (attempt) => setListed(await own.caller().list(attempt)))}>List tools</button>
      ${own.isOpen && html`<button type="button" onClick=${() => setListed((own.end(), null))}>End session</button>`}
    </div>
    <label>Tool<input type="text" list="tools" autocomplete="off" spellcheck=${false} value=${tool} onInput=${(event) => setTool(event.target.value)} />
      <datalist id="tools">${offered.map((each) => html`<option value=${each.name}>${name(each.title ?? "", 80)}</option>`)}</datalist></label>
    <span class="hint">${tools.length} tools, as ${listed ? "this caller" : "the gateway's own session"} gets them${tool && !found ? "; this one is not among them" : ""}</span>
    ${found?.description && html`<p class="break small">${visible(String(found.description).slice(0, 2000))}</p>`}
    <${Fields} form=${form} prefix="argument" label="Arguments" />
    <div class="row"><button type="submit" disabled=${refused || !tool}>Send</button><span class="hint">Ctrl+Enter sends</span></div>
    <${CallerFields} caller=${caller} />
  </form>`;
}

export function Try({ id, query }) {
  const [, draw] = useState(0);
  const [chosen, choose] = useState("");
  const [who, setWho] = useState({ text: "", credential: "" });
  const fields = useMemo(() => fieldsOf(who.text, who.credential), [who]);
  const caller = { ...who, fields, set: (more) => setWho({ ...who, ...more }) };
  const health = usePoll((signal) => rpc("agents/health", { id }, { signal }), 5, [id]);
  const info = usePoll((signal) => rpc("gateway/info", {}, { signal }), 30, []);
  const card = usePoll((signal) => rpc("agents/card", { id, a2aVersion: "1.0" }, { signal }), 600, [id, health.data?.status]);
  useEffect(() => watchTries(() => draw((count) => count + 1)), []);
  useEffect(() => {
    document.title = `Try ${id} · Cardea`;
  }, [id]);
  const agent = health.data;
  const isMcp = agent?.protocol === "mcp";
  const tries = triesOf(id);
  const shown = tries.find((each) => each.id === chosen) ?? tries[0];
  const off = info.data?.try?.enabled === false;
  // Runs a try, whose exchanges `work(attempt)` makes.
  const start = async (label, work) => {
    const attempt = new Attempt(id, label);
    choose(attempt.id);
    await attempt.run(work);
    return attempt;
  };
  return html`
    <div class="row"><h1>Try <a href=${to(["agents", id])}>${name(id)}</a></h1>${agent && html`<${Status} of=${agent.status} />`}</div>
    ${agent?.why && html`<p class="note"><${Sentence} text=${name(`${agent.why} ${agent.advice ?? ""}`, 600)} /></p>`}
    <${Problem} failure=${health.failure} />
    ${off && html`<p class="problem" role="alert">Nothing can be tried from here. ${name(info.data.try.why_not ?? "", 300)}</p>`}
    <div class="try">
      ${agent && html`<${isMcp ? McpForm : A2aForm} id=${id} query=${query} caller=${caller} start=${start} card=${card.data?.served} refused=${off || !fields}
        session=${agent.session} shown=${shown} />`}
      <div class="stack">
        ${shown ? html`<${AttemptView} key=${shown.id} of=${shown} url=${addressesOf(agent ?? {})[isMcp ? "mcp" : "a2a"]} />`
          : html`<p class="empty">What you send and what comes back appears here, event by event.</p>`}
        <${AttemptList} tries=${tries} chosen=${shown} choose=${choose} />
      </div>
    </div>`;
}
