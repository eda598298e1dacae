// What MCP says on the wire, in both eras: a session of 2025-11-25, or single requests of 2026-07-28.
import { problemOf, sendTry } from "./attempt.js";
import { mirrored } from "./form.js";

export const eras = { legacy: "2025-11-25", modern: "2026-07-28" };

const meta = "io.modelcontextprotocol/";
const capabilities = { elicitation: { form: {}, url: {} } };
const client = { name: "cardea-console", version: "1.0.0" };
const mostRounds = 16;

// Values of `Mcp-Name` and `Mcp-Param-*`; what is not plain ASCII goes as Base64 of UTF-8.
function fieldValue(text) {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

const wordsOf = (content) => (Array.isArray(content) ? content : []).map((part) =>
  part?.text ?? part?.resource?.text ?? part?.uri ?? `[${part?.type ?? "content"} ${part?.mimeType ?? ""}]`).join("\n");

// Sends requests of one caller to one server. `fields`: header fields of that caller.
export class Caller {
  #path;
  #fields;
  #era;
  #next = 0;
  #session = null;  // of the legacy era: `{id, version}`

  constructor(agent, era, fields) {
    this.#path = `agents/${encodeURIComponent(agent)}/mcp`;
    this.#fields = fields;
    this.#era = era;
  }

  get hasSession() {
    return this.#session !== null;
  }

  // The tools that this caller gets.
  async list(attempt) {
    const tools = [];
    const seen = new Set();
    let cursor;
    do {
      const result = await this.#call(attempt, "tools/list", cursor === undefined ? {} : { cursor }, {});
      if (!Array.isArray(result.tools)) throw new Error("The answer has no list of tools.");
      tools.push(...result.tools.filter((tool) => typeof tool?.name === "string"));
      cursor = seen.has(result.nextCursor) ? undefined : result.nextCursor;
      seen.add(cursor);
    } while (cursor !== undefined && tools.length < 20000);
    attempt.event("result", { words: `${tools.length} tools` });
    return tools;
  }

  async callTool(attempt, name, given, schema) {
    const fields = { "Mcp-Name": fieldValue(name) };
    for (const [field, value] of Object.entries(mirrored(schema, given))) fields[field] = fieldValue(value);
    const result = await this.#call(attempt, "tools/call", { name, arguments: given }, fields);
    const words = [wordsOf(result.content), result.structuredContent === undefined ? "" : JSON.stringify(result.structuredContent, null, 2)];
    attempt.event(result.isError ? "error" : "result", { words: words.filter(Boolean).join("\n") });
    if (result.isError) attempt.fail("The tool reports an error.");
  }

  async #call(attempt, method, params, fields) {
    if (this.#era === "legacy" && this.#session === null) await this.#begin(attempt);
    let more = {};
    for (let round = 0; round < mostRounds; ++round) {
      const result = await this.#request(attempt, method, { ...params, ...more }, fields);
      if (result.resultType !== "input_required") return result;
      const inputResponses = {};
      for (const [key, request] of Object.entries(result.inputRequests ?? {})) {
        if (request?.method !== "elicitation/create") throw new Error(`The server asks for ${request?.method}, which the console does not have.`);
        inputResponses[key] = await attempt.ask(request.params);
      }
      more = { inputResponses, ...(result.requestState === undefined ? {} : { requestState: result.requestState }) };
    }
    throw new Error(`The server asked ${mostRounds} times.`);
  }

  // The result of one request.
  async #request(attempt, method, params, fields = {}) {
    const id = ++this.#next;
    const modern = this.#era === "modern";
    const _meta = { progressToken: id, ...(modern ? { [`${meta}protocolVersion`]: eras.modern, [`${meta}clientCapabilities`]: capabilities, [`${meta}clientInfo`]: client } : {}) };
    const message = { jsonrpc: "2.0", id, method, params: { ...params, ...(method === "initialize" ? {} : { _meta }) } };
    attempt.stop = modern || method === "initialize" ? null : () => this.#post(attempt, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }, AbortSignal.timeout(3000));
    let answer;
    let problem;
    const made = await attempt.exchange({ path: this.#path, headers: this.#headers(modern ? { "Mcp-Method": method, ...fields } : {}), message }, (got) => {
      if (got?.method !== undefined) this.#hear(attempt, got).catch((error) => attempt.event("error", { words: error.message }));
      else if (got?.result !== undefined && got.id === id) answer = got.result;
      else problem = got;
    });
    if (answer !== null && typeof answer === "object") return this.#remember(method, made, answer);
    if (made.status === 404) this.#session = null;
    throw new Error(problemOf(problem, made) || "The answer ended without a result.");
  }

  #remember(method, made, answer) {
    if (method !== "initialize") return answer;
    const id = made.fields.find(([name]) => name === "mcp-session-id")?.[1];
    this.#session = { id, version: String(answer.protocolVersion ?? eras.legacy) };
    return answer;
  }

  async #begin(attempt) {
    await this.#request(attempt, "initialize", { protocolVersion: eras.legacy, capabilities, clientInfo: client });
    attempt.event("session", { words: `begun, ${this.#session.version}` });
    await this.#post(attempt, { jsonrpc: "2.0", method: "notifications/initialized" });
  }

  #post(attempt, message, signal) {
    return attempt.exchange({ path: this.#path, headers: this.#headers(), message }, undefined, signal);
  }

  #headers(more = {}) {
    const session = this.#session;
    return {
      ...this.#fields,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(this.#era === "modern" ? { "MCP-Protocol-Version": eras.modern } : session ? { "MCP-Protocol-Version": session.version } : {}),
      ...(session?.id ? { "Mcp-Session-Id": session.id } : {}),
      ...more,
    };
  }

  // A notification or a request of the server, within the answer.
  async #hear(attempt, { id, method, params }) {
    if (method === "notifications/progress") {
      attempt.progress = { value: Number(params?.progress), total: Number(params?.total) };
      attempt.event("progress", { words: [params?.progress, params?.total === undefined ? "" : `of ${params.total}`, params?.message ?? ""].filter((each) => each !== "").join(" ") });
    } else if (id === undefined) {
      attempt.event(method.replace("notifications/", ""), { words: JSON.stringify(params ?? {}) });
    } else if (method === "elicitation/create") {
      await this.#post(attempt, { jsonrpc: "2.0", id, result: await attempt.ask(params) });
    } else {
      attempt.event("request", { words: method });
      const reply = method === "ping" ? { result: {} } : { error: { code: -32601, message: "The console does not have this." } };
      await this.#post(attempt, { jsonrpc: "2.0", id, ...reply });
    }
  }

  // Ends the session, also while the page goes away. If the gateway does not hear of it, the session ends by its own time.
  async end() {
    const session = this.#session;
    this.#session = null;
    if (!session?.id) return;
    const { Accept, "Content-Type": type, ...headers } = this.#headers({ "Mcp-Session-Id": session.id, "MCP-Protocol-Version": session.version });
    await sendTry(this.#path, { method: "DELETE", headers, keepalive: true }).catch(() => {});
  }
}
