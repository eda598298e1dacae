// What A2A 0.3 and 1.0 (JSON-RPC) and MCP in both eras say on the wire.
import { newId } from "./text.js";
import { mirrored } from "./form.js";
import { problemOf, sendTry } from "./attempt.js";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const listOf = (value) => (Array.isArray(value) ? value.filter(isObject) : []);

// The tools of an MCP server as its strict card has them, or the skills of an A2A agent as tools.
export function toolsOf(card) {
  const facts = listOf(card?.capabilities?.extensions).find((each) => each.uri === "urn:cardea:a2a:extension:mcp:v1")?.params;
  const skills = listOf(card?.skills).map((each) => ({ ...each, name: each.id, title: each.name }));
  const words = new Map(skills.map((each) => [each.name, each.description]));
  const tools = facts ? listOf(facts.tools).map((each) => ({ description: words.get(each.name), ...each })) : skills;
  return tools.filter((each) => typeof each.name === "string");
}

const taskOf = (state) => (state === undefined ? "" : String(state).replace(/^TASK_STATE_/, "").toLowerCase().replaceAll("_", "-"));

const partsOf = (parts) => listOf(parts).map((part) => part.text ?? part.resource?.text ?? part.uri
  ?? (part.data !== undefined && !part.mimeType ? JSON.stringify(part.data) : `[${part.filename ?? part.mediaType ?? part.mimeType ?? part.type ?? "file"}]`)).join("\n");

// What a result of A2A or an event of a stream says: `{kind, state, words, taskId, contextId}`.
function readResult(result) {
  const wrapped = ["task", "message", "statusUpdate", "artifactUpdate"].find((key) => result?.[key] !== undefined);
  const body = wrapped ? result[wrapped] : result ?? {};
  const kind = wrapped?.replace("U", "-u") ?? body.kind ?? (body.status ? "task" : "message");
  const artifacts = kind === "task" ? listOf(body.artifacts) : listOf([body.artifact]);
  const words = [partsOf(body.parts ?? body.status?.message?.parts), ...artifacts.map((each) => partsOf(each.parts))].filter(Boolean).join("\n");
  return { kind, state: taskOf(body.status?.state), words, taskId: kind === "task" ? body.id : body.taskId, contextId: body.contextId };
}

const pathOf = (id) => `agents/${encodeURIComponent(id)}`;

// Sends a message and reads its answer or its events into the try. `content`: a text, or with `json` a document.
export async function converse(attempt, { id, version, fields, stream, content, json, skill, contextId, taskId, extensions }) {
  const first = version === "1.0";
  const sent = (method, params, streams) => ({
    path: pathOf(id),
    headers: { ...fields, "Content-Type": "application/json", Accept: streams ? "text/event-stream" : "application/json", "A2A-Version": version,
      ...(extensions.length && { [first ? "A2A-Extensions" : "X-A2A-Extensions"]: extensions.join(", ") }) },
    message: { jsonrpc: "2.0", id: 1, method, params },
  });
  const kind = json ? "data" : "text";
  const message = {
    messageId: newId(),
    ...(first ? { role: "ROLE_USER", parts: [{ [kind]: content }] } : { kind: "message", role: "user", parts: [{ kind, [kind]: content }] }),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
    ...(extensions.length && { extensions }),
    ...(skill && { metadata: { skillId: skill } }),
  };
  attempt.stop = async () => {
    if (!attempt.taskId) return;
    await attempt.exchange(sent(first ? "CancelTask" : "tasks/cancel", { id: attempt.taskId }), (got, made) => {
      const problem = problemOf(got, made);
      attempt.event(problem ? "error" : "cancel", { words: problem, state: readResult(got?.result).state });
    }, AbortSignal.timeout(5000));
    // The stream ends with the task; it is left if it does not.
    for (let i = 0; i < 10 && attempt.running && stream; ++i) await new Promise((done) => setTimeout(done, 50));
  };
  const method = first ? (stream ? "SendStreamingMessage" : "SendMessage") : stream ? "message/stream" : "message/send";
  let problem = "The answer has no result.";
  await attempt.exchange(sent(method, { message }, stream), (got, made) => {
    problem = problemOf(got, made);
    if (problem) return;
    const read = readResult(got.result);
    attempt.taskId = read.taskId ?? attempt.taskId;
    attempt.contextId = read.contextId ?? attempt.contextId;
    attempt.event(read.kind, read);
  });
  if (problem) attempt.fail(problem);
}

export const eras = { legacy: "2025-11-25", modern: "2026-07-28" };
const meta = "io.modelcontextprotocol/";
const capabilities = { elicitation: { form: {}, url: {} } };
const clientInfo = { name: "cardea-console", version: "1.0.0" };

// A value of `Mcp-Name` or `Mcp-Param-*`; what is not plain ASCII goes as Base64 of UTF-8.
const fieldValue = (text) => (/^[!-~]([ -~]*[!-~])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text) ? text
  : `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`);

// One caller of an MCP server. `fields`: its header fields. In the legacy era it has a session from its first request until `end()`.
export class Caller {
  session = null;  // `{id, version}`
  #next = 0;

  constructor(agent, era, fields) {
    Object.assign(this, { path: `${pathOf(agent)}/mcp`, modern: era === "modern", fields });
  }

  // The tools that this caller gets.
  async list(attempt) {
    let tools = [];
    for (let cursor, page = 0; page === 0 || (cursor !== undefined && page < 200); ++page) {
      const result = await this.#call(attempt, "tools/list", cursor === undefined ? {} : { cursor });
      tools = tools.concat(toolsOf({ capabilities: { extensions: [{ uri: "urn:cardea:a2a:extension:mcp:v1", params: result }] } }));
      cursor = result.nextCursor;
    }
    attempt.event("result", { words: `${tools.length} tools` });
    return tools;
  }

  async callTool(attempt, name, given, schema) {
    const fields = mirrored(schema, given).map(([field, value]) => [`Mcp-Param-${field}`, fieldValue(value)]);
    const { content, structuredContent, isError } = await this.#call(attempt, "tools/call", { name, arguments: given },
      { "Mcp-Name": fieldValue(name), ...Object.fromEntries(fields) });
    const words = [partsOf(content), structuredContent === undefined ? "" : JSON.stringify(structuredContent, null, 2)].filter(Boolean).join("\n");
    attempt.event(isError ? "error" : "result", { words });
    if (isError) attempt.fail("The tool reports an error.");
  }

  // A result, after all that the server asks for.
  async #call(attempt, method, params, fields) {
    if (!this.modern && !this.session) await this.#begin(attempt);
    let more = {};
    for (let round = 0; round < 16; ++round) {
      const { answer } = await this.#request(attempt, method, { ...params, ...more }, fields);
      if (answer.resultType !== "input_required") return answer;
      more = { inputResponses: {}, ...(answer.requestState !== undefined && { requestState: answer.requestState }) };
      for (const [key, request] of Object.entries(answer.inputRequests ?? {})) {
        if (request?.method !== "elicitation/create") throw new Error(`The server asks for ${request?.method}, which the console does not have.`);
        more.inputResponses[key] = await attempt.ask(request.params);
      }
    }
    throw new Error("The server asked too often.");
  }

  async #request(attempt, method, params, fields = {}) {
    const id = ++this.#next;
    const begins = method === "initialize";
    const _meta = { progressToken: id,
      ...(this.modern && { [`${meta}protocolVersion`]: eras.modern, [`${meta}clientCapabilities`]: capabilities, [`${meta}clientInfo`]: clientInfo }) };
    attempt.stop = this.modern || begins ? null
      : () => this.#post(attempt, { method: "notifications/cancelled", params: { requestId: id } }, AbortSignal.timeout(3000));
    let answer;
    let other;
    const headers = this.#headers(this.modern && { "Mcp-Method": method, ...fields });
    const message = { jsonrpc: "2.0", id, method, params: begins ? params : { ...params, _meta } };
    const made = await attempt.exchange({ path: this.path, headers, message }, (got) => {
      if (got?.method !== undefined) this.#hear(attempt, got).catch((error) => attempt.event("error", { words: error.message }));
      else if (isObject(got?.result) && got.id === id) answer = got.result;
      else other = got;
    });
    if (answer) return { answer, made };
    if (made.status === 404) this.session = null;
    throw new Error(problemOf(other, made) || "The answer ended without a result.");
  }

  async #begin(attempt) {
    const { answer, made } = await this.#request(attempt, "initialize", { protocolVersion: eras.legacy, capabilities, clientInfo });
    this.session = { id: made.fields.find(([name]) => name === "mcp-session-id")?.[1], version: String(answer.protocolVersion ?? eras.legacy) };
    attempt.event("session", { words: `begun, ${this.session.version}` });
    await this.#post(attempt, { method: "notifications/initialized" });
  }

  #post(attempt, message, signal) {
    return attempt.exchange({ path: this.path, headers: this.#headers(), message: { jsonrpc: "2.0", ...message } }, undefined, signal);
  }

  #headers(more) {
    const version = this.modern ? eras.modern : this.session?.version;
    return { ...this.fields, "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...(version && { "MCP-Protocol-Version": version }),
      ...(this.session?.id && { "Mcp-Session-Id": this.session.id }), ...more };
  }

  // A notification or a request of the server, within the answer.
  async #hear(attempt, { id, method, params }) {
    if (method === "notifications/progress") {
      const { progress, total, message } = params ?? {};
      attempt.progress = { value: Number(progress), total: Number(total) };
      attempt.event("progress", { words: `${progress}${total === undefined ? "" : ` of ${total}`} ${message ?? ""}` });
    } else if (id === undefined) {
      attempt.event(method.replace("notifications/", ""), { words: JSON.stringify(params ?? {}) });
    } else if (method === "elicitation/create") {
      await this.#post(attempt, { id, result: await attempt.ask(params) });
    } else {
      attempt.event("request", { words: method });
      await this.#post(attempt, { id, ...(method === "ping" ? { result: {} } : { error: { code: -32601, message: "The console does not have this." } }) });
    }
  }

  // Ends the session, also while the page goes away. If the gateway does not hear of it, the session ends by its own time.
  end() {
    const headers = this.#headers();
    if (this.session?.id) sendTry(this.path, { method: "DELETE", headers, keepalive: true }).catch(() => {});
    this.session = null;
  }
}
