import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = { href: "http://127.0.0.1:4001/console/" };
globalThis.sessionStorage = { getItem: () => null };
const { Attempt, triesOf } = await import("../../gateway/console/page/attempt.js");
const { Caller, converse, toolsOf } = await import("../../gateway/console/page/wire.js");

const json = (value, status = 200, fields = {}) => new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json", ...fields } });
const events = (...values) => new Response(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""), { headers: { "Content-Type": "text/event-stream" } });
const accepted = () => new Response(null, { status: 202 });

// Runs `work` in a try; `answer(message, fields, options)` makes the Response to each request. Gives the try and what was sent.
async function tried(work, answer) {
  const sent = [];
  globalThis.fetch = async (url, options) => {
    const message = options.body && JSON.parse(options.body);
    sent.push({ url, message, fields: Object.fromEntries(options.headers), method: options.method });
    return answer(message, sent.at(-1).fields, options);
  };
  const attempt = new Attempt("a", "label");
  await attempt.run(work);
  return { attempt, sent };
}

const given = { id: "a", version: "1.0", fields: {}, stream: true, content: "hi", json: false, skill: "", contextId: "", taskId: "", extensions: [] };
const result = (value) => ({ jsonrpc: "2.0", id: 1, result: value });
const said = (attempt) => attempt.events.map(({ kind, state, words }) => [kind, state, words].filter(Boolean).join(" "));

test("A stream of A2A 1.0 is events with states and words", async () => {
  const { attempt, sent } = await tried((made) => converse(made, { ...given, skill: "s", extensions: ["urn:x"], fields: { Authorization: "Bearer t" } }), () => events(
    result({ task: { id: "t1", contextId: "c1", status: { state: "TASK_STATE_SUBMITTED" } } }),
    result({ statusUpdate: { taskId: "t1", contextId: "c1", status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "where?" }, { data: { a: 1 } }] } } } }),
    result({ artifactUpdate: { taskId: "t1", contextId: "c1", artifact: { parts: [{ text: "6 words" }, { raw: "AA==", filename: "a.png" }] } } }),
  ));
  assert.deepEqual(said(attempt), ["task submitted", 'status-update input-required where?\n{"a":1}', "artifact-update 6 words\n[a.png]"]);
  assert.deepEqual([attempt.status, attempt.state, attempt.taskId, attempt.contextId], ["done", "input-required", "t1", "c1"]);
  assert.equal(sent[0].url, "http://127.0.0.1:4001/try/agents/a");
  assert.equal(sent[0].message.method, "SendStreamingMessage");
  assert.deepEqual(sent[0].message.params.message.parts, [{ text: "hi" }]);
  assert.deepEqual(sent[0].message.params.message.metadata, { skillId: "s" });
  assert.equal(sent[0].fields["cardea-caller-authorization"], "Bearer t");
  assert.equal(sent[0].fields.authorization, undefined);
  assert.equal(sent[0].fields["a2a-extensions"], "urn:x");
});

test("A message of A2A 0.3 has kinds, and its task is read with artifacts", async () => {
  const { attempt, sent } = await tried((made) => converse(made, { ...given, version: "0.3", stream: false, json: true, content: { n: 1 }, taskId: "t0" }), () => json(
    result({ kind: "task", id: "t1", contextId: "c1", status: { state: "completed" }, artifacts: [{ parts: [{ kind: "text", text: "one" }] }] })));
  assert.deepEqual(said(attempt), ["task completed one"]);
  const { message } = sent[0].message.params;
  assert.deepEqual([sent[0].message.method, message.kind, message.role, message.taskId], ["message/send", "message", "user", "t0"]);
  assert.deepEqual(message.parts, [{ kind: "data", data: { n: 1 } }]);
});

test("An error and an answer that is no JSON fail a try, which stays in the list", async () => {
  const failed = await tried((made) => converse(made, given), () => json({ error: { code: -32603, message: "No.", data: { code: "upstream_refused" } } }, 502, { "Cardea-Error": "upstream_refused" }));
  assert.deepEqual([failed.attempt.status, failed.attempt.problem, failed.attempt.code], ["failed", "No. (-32603)", "upstream_refused"]);
  assert.ok(triesOf("a").includes(failed.attempt));
  const page = await tried((made) => converse(made, given), () => new Response("<html>", { status: 500 }));
  assert.equal(page.attempt.problem, "The answer is HTTP 500 without a result.");
  const away = await tried((made) => converse(made, given), () => { throw new TypeError("refused"); });
  assert.equal(away.attempt.problem, "The gateway cannot be reached.");
  const empty = await tried((made) => converse(made, given), () => events());
  assert.equal(empty.attempt.status, "failed");
});

test("Cancel tells the agent by the id of the task and then leaves the stream", async () => {
  let left = false;
  const { attempt, sent } = await tried(async (made) => {
    const whole = converse(made, given);
    while (!made.taskId) await new Promise((done) => setTimeout(done, 5));
    await made.cancel();
    await whole;
  }, (message, fields, { signal }) => {
    if (message.method === "CancelTask") return json(result({ id: "t1", status: { state: "TASK_STATE_CANCELED" } }));
    return new Response(new ReadableStream({ start(stream) {
      stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(result({ task: { id: "t1", status: { state: "TASK_STATE_WORKING" } } }))}\n\n`));
      signal.addEventListener("abort", () => {
        left = true;
        stream.error(signal.reason);
      });
    } }), { headers: { "Content-Type": "text/event-stream" } });
  });
  assert.deepEqual(sent.map(({ message }) => message.method), ["SendStreamingMessage", "CancelTask"]);
  assert.deepEqual(sent[1].message.params, { id: "t1" });
  assert.equal(left, true);
  assert.deepEqual([attempt.status, attempt.state], ["cancelled", "canceled"]);
});

const answerTo = ({ id }, value) => ({ jsonrpc: "2.0", id, result: value });

// A server of the legacy era, whose tool asks once.
const legacy = (message) => {
  if (!message) return new Response(null, { status: 200 });
  if (message.method === "initialize") return json(answerTo(message, { protocolVersion: "2025-06-18", capabilities: {} }), 200, { "Mcp-Session-Id": "s1" });
  if (message.method !== "tools/call") return accepted();
  return events({ method: "notifications/progress", params: { progress: 1, total: 2, message: "half" } },
    { id: 0, method: "elicitation/create", params: { message: "Sure?" } }, { id: 1, method: "roots/list" }, { id: 2, method: "ping" },
    answerTo(message, { content: [{ type: "text", text: "done" }, { type: "image", data: "AA==", mimeType: "image/png" }], structuredContent: { n: 1 } }));
};

test("A legacy server gets a session for all tries, answers to what it asks, and a DELETE at the end", async () => {
  const caller = new Caller("a", "legacy", { "X-One": "1" });
  const run = () => tried(async (made) => {
    made.ask = async () => ({ action: "accept", content: { ok: true } });
    await caller.callTool(made, "echo", { a: 1 }, {});
    await new Promise((done) => setTimeout(done, 10));
  }, legacy);
  const { attempt, sent } = await run();
  assert.equal(attempt.status, "done");
  assert.deepEqual(said(attempt), ["session begun, 2025-06-18", "progress 1 of 2 half", "request roots/list", "request ping", 'result done\n[image/png]\n{\n  "n": 1\n}']);
  assert.deepEqual(sent.slice(0, 3).map(({ message }) => message.method), ["initialize", "notifications/initialized", "tools/call"]);
  const answers = sent.slice(3).map(({ message }) => message).sort((a, b) => a.id - b.id);
  assert.deepEqual(answers.map(({ id, result: value, error }) => [id, value ?? error.code]), [[0, { action: "accept", content: { ok: true } }], [1, -32601], [2, {}]]);
  assert.equal(sent[0].fields["mcp-session-id"], undefined);
  for (const { fields } of sent.slice(1)) assert.deepEqual([fields["mcp-session-id"], fields["mcp-protocol-version"], fields["cardea-caller-x-one"]], ["s1", "2025-06-18", "1"]);
  const again = await run();
  assert.equal(again.sent[0].message.method, "tools/call");
  const { sent: last } = await tried(async () => caller.end(), legacy);
  assert.deepEqual(last.map(({ method, fields }) => [method, fields["mcp-session-id"]]), [["DELETE", "s1"]]);
  assert.equal(caller.session, null);
});

test("A modern server gets its header fields, and the answers to its questions with the next request", async () => {
  const schema = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  const { attempt, sent } = await tried((made) => {
    made.ask = async (params) => ({ action: "accept", content: { said: params.message } });
    return new Caller("a b", "modern", {}).callTool(made, "größe", { region: "eu" }, schema);
  }, (message) => json(answerTo(message, message.params.inputResponses
    ? { resultType: "complete", content: [], isError: true }
    : { resultType: "input_required", inputRequests: { q: { method: "elicitation/create", params: { message: "Sure?" } } }, requestState: "st" })));
  assert.equal(sent.length, 2);
  assert.equal(sent[0].url, "http://127.0.0.1:4001/try/agents/a%20b/mcp");
  assert.deepEqual(sent[1].message.params.inputResponses, { q: { action: "accept", content: { said: "Sure?" } } });
  assert.equal(sent[1].message.params.requestState, "st");
  assert.notEqual(sent[1].message.id, sent[0].message.id);
  const { fields, message } = sent[0];
  assert.deepEqual([fields["mcp-method"], fields["mcp-protocol-version"], fields["mcp-param-region"], fields["mcp-session-id"]], ["tools/call", "2026-07-28", "eu", undefined]);
  assert.equal(fields["mcp-name"], `=?base64?${Buffer.from("größe").toString("base64")}?=`);
  assert.equal(message.params._meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  assert.deepEqual([attempt.status, attempt.problem], ["failed", "The tool reports an error."]);
});

test("A session that the gateway does not know is begun again by the next try", async () => {
  const caller = new Caller("a", "legacy", {});
  const lost = await tried((made) => caller.callTool(made, "echo", {}, {}), (message) =>
    message.method === "tools/call" ? json({ error: { code: -32001, message: "Session not found" } }, 404) : legacy(message));
  assert.equal(lost.attempt.problem, "Session not found (-32001)");
  const { sent } = await tried((made) => caller.callTool(made, "echo", {}, {}), (message) => (message.method === "tools/call" ? json(answerTo(message, {})) : legacy(message)));
  assert.equal(sent[0].message.method, "initialize");
});

test("All pages of tools are listed, also behind an empty cursor", async () => {
  let tools;
  const pages = { first: { tools: [{ name: "a" }], nextCursor: "" }, "": { tools: [{ name: "b" }, { noName: 1 }] } };
  await tried(async (made) => { tools = await new Caller("a", "modern", {}).list(made); }, (message) => json(answerTo(message, pages[message.params.cursor ?? "first"])));
  assert.deepEqual(tools.map(({ name }) => name), ["a", "b"]);
});

test("Tools of a strict card have the server's words, and skills stand for tools without them", () => {
  const card = { skills: [{ id: "a", name: "A", description: "from the skill" }],
    capabilities: { extensions: [{ uri: "urn:cardea:a2a:extension:mcp:v1", params: { tools: [{ name: "a", inputSchema: {} }, null] } }] } };
  assert.deepEqual(toolsOf(card), [{ description: "from the skill", name: "a", inputSchema: {} }]);
  assert.deepEqual(toolsOf({ skills: card.skills }).map(({ name, title }) => [name, title]), [["a", "A"]]);
  assert.deepEqual(toolsOf(undefined), []);
});

test("A long stream keeps its newest events", async () => {
  const { attempt } = await tried(async (made) => { for (let i = 0; i < 3000; ++i) made.event("e", { words: `${i}` }); }, accepted);
  assert.equal(attempt.events.at(-1).words, "2999");
  assert.equal(attempt.events.length + attempt.missed, 3000);
  assert.ok(attempt.events.length <= 1250);
});

test("A cancelled tool is cancelled, also if its answer ends without a result before that is known", async () => {
  const caller = new Caller("a", "legacy", {});
  let end;
  const { attempt, sent } = await tried(async (made) => {
    setTimeout(() => made.cancel());
    await caller.callTool(made, "slow", {}, {});
  }, (message) => {
    if (message.method === "notifications/cancelled") end();
    if (message.method !== "tools/call") return legacy(message);
    const body = new ReadableStream({ start: (stream) => { end = () => stream.close(); } });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  });
  assert.deepEqual([attempt.status, attempt.problem, sent.at(-1).message.method], ["cancelled", undefined, "notifications/cancelled"]);
});
