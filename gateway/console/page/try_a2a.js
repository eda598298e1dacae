// The form of a message to an A2A agent.
import { html, useMemo, useState } from "./dom.js";
import { problemOf } from "./attempt.js";
import { name } from "./text.js";
import { CallerFields } from "./try_caller.js";
import { cancelRequest, messageRequest, readResult, versions } from "./wire_a2a.js";

const pause = (time) => new Promise((done) => setTimeout(done, time));
const listed = (value) => (Array.isArray(value) ? value.filter((each) => each && typeof each === "object") : []);

// Sends the message and reads its answer or its events.
async function converse(attempt, { id, version, fields, stream, ...given }) {
  const path = `agents/${encodeURIComponent(id)}`;
  const sent = (request) => ({ path, headers: { ...fields, ...request.headers }, message: request.message });
  let last = null;
  let results = 0;
  attempt.stop = async () => {
    if (!attempt.taskId) return;
    const request = sent(cancelRequest(version, attempt.taskId));
    await attempt.exchange(request, (got, made) => {
      const problem = got?.result ? "" : problemOf(got, made);
      attempt.event(problem ? "error" : "cancel", { words: problem, state: got?.result ? readResult(got.result).state : "" });
    }, AbortSignal.timeout(5000));
    // The stream ends with the task; it is left if it does not.
    for (let i = 0; i < 10 && attempt.running && stream; ++i) await pause(50);
  };
  const made = await attempt.exchange(sent(messageRequest(version, { stream, ...given })), (got) => {
    last = got;
    if (got?.result === undefined) return;
    ++results;
    const read = readResult(got.result);
    attempt.taskId = read.taskId ?? attempt.taskId;
    attempt.contextId = read.contextId ?? attempt.contextId;
    attempt.event(read.kind, read);
  });
  const problem = last?.result === undefined ? problemOf(last, made) || (results ? "" : "The answer has no result.") : "";
  if (problem) {
    attempt.event("error", { words: problem });
    attempt.fail(problem);
  }
}

export function A2aForm({ id, query, caller, start, served, refused, shown }) {
  const skills = listed(served?.skills);
  const offered = listed(served?.supportedInterfaces).map((each) => String(each.protocolVersion));
  const [given, setGiven] = useState({ version: "", skill: query.get("skill") ?? "", content: "", json: false, stream: true, extensions: "", taskId: "", contextId: "" });
  const [wrong, setWrong] = useState("");
  const set = (more) => setGiven((before) => ({ ...before, ...more }));
  const typed = (key) => (event) => set({ [key]: event.target.value });
  const version = given.version || (offered.length && !offered.includes("1.0") ? "0.3" : "1.0");
  const examples = useMemo(() => skills.filter((each) => !given.skill || each.id === given.skill).flatMap((each) => Array.isArray(each.examples) ? each.examples : [])
    .filter((each) => typeof each === "string").slice(0, 50), [served, given.skill]);
  const declared = listed(served?.capabilities?.extensions).map((each) => String(each.uri ?? "")).slice(0, 50);
  const submit = async (event) => {
    event.preventDefault();
    let { content } = given;
    setWrong("");
    if (given.json) {
      try {
        content = JSON.parse(content);
      } catch (error) {
        return setWrong(`Not JSON: ${error.message}`);
      }
    }
    const extensions = given.extensions.split(/[\s,]+/).filter(Boolean);
    const label = given.json ? "JSON" : content;
    const attempt = await start(label, (made) => converse(made, { ...given, id, version, content, extensions, fields: caller.fields }));
    // A task that asks goes on with the next message.
    const goesOn = attempt.taskId && /-required$/.test(attempt.state);
    set({ taskId: goesOn ? attempt.taskId : "", contextId: goesOn ? attempt.contextId : "" });
  };
  return html`<form class="panel fields" aria-label="Request" noValidate onSubmit=${submit}>
    <div class="row">
      <label>Version<select value=${version} onChange=${typed("version")}>${versions.map((each) => html`<option value=${each}>A2A ${each}</option>`)}</select></label>
      ${skills.length > 0 && html`<label>Skill<select value=${given.skill} onChange=${typed("skill")}><option value="">any</option>
        ${skills.slice(0, 500).map((each) => html`<option value=${String(each.id)}>${name(each.name ?? each.id, 80)}</option>`)}</select></label>`}
      ${examples.length > 0 && html`<label>Example<select value="" onChange=${(event) => set({ content: examples[Number(event.target.value)], json: false })}><option value="">–</option>
        ${examples.map((each, i) => html`<option value=${i}>${name(each, 80)}</option>`)}</select></label>`}
      <label>Content<select value=${given.json ? "json" : "text"} onChange=${(event) => set({ json: event.target.value === "json" })}><option value="text">Text</option><option value="json">JSON</option></select></label>
    </div>
    <label class="message">Message<textarea rows="5" class=${given.json ? "mono" : ""} value=${given.content} onInput=${typed("content")} aria-invalid=${wrong ? "true" : null}
      onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form.requestSubmit()}></textarea></label>
    ${wrong && html`<span class="bad" role="alert">${wrong}</span>`}
    ${given.taskId && html`<p class="note">This continues the task <code>${name(given.taskId, 60)}</code>. <button type="button" onClick=${() => set({ taskId: "", contextId: "" })}>Begin another one</button></p>`}
    <div class="row"><button type="submit" disabled=${refused || given.content === ""}>Send</button>
      <label class="line"><input type="checkbox" checked=${given.stream} onChange=${(event) => set({ stream: event.target.checked })} />Stream</label>
      ${shown?.contextId && !given.taskId && html`<label class="line"><input type="checkbox" checked=${given.contextId === shown.contextId}
        onChange=${(event) => set({ contextId: event.target.checked ? shown.contextId : "" })} />Same context</label>`}
      <span class="hint">Ctrl+Enter sends</span></div>
    <details><summary>Extensions</summary><label>Extensions<input type="text" spellcheck=${false} list="extensions" placeholder="URIs" value=${given.extensions} onInput=${typed("extensions")} /></label>
      <datalist id="extensions">${declared.map((each) => html`<option value=${each} />`)}</datalist></details>
    <${CallerFields} caller=${caller} />
  </form>`;
}
