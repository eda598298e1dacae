import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.location = { href: "http://127.0.0.1:4001/prefix/console/#/calls" };
globalThis.sessionStorage = { getItem: () => null };
const { follow } = await import("../../gateway/console/page/events.js");

const stream = (text) => new Response(text, { status: 200, headers: { "Content-Type": "text/event-stream" } });
const refusal = (status, code) => new Response(JSON.stringify({ error: { code, message: "No." } }), { status });

// Follows with these answers, one a request (an Error: the gateway is away), and leaves after the last one.
async function followed(filters, answers) {
  const asked = [];
  const events = [];
  const states = [];
  const leaving = new AbortController();
  globalThis.fetch = async (url, options) => {
    asked.push({ url, last: options.headers.get("Last-Event-ID") });
    const answer = answers[asked.length - 1];
    if (asked.length === answers.length) setTimeout(() => leaving.abort(), 20);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  await follow(filters, (event) => events.push(event.data), ({ state }) => states.push(state), leaving.signal);
  return { asked, events, states };
}

test("A stream that ended goes on after the last event that was read", async () => {
  const { asked, events, states } = await followed({ event: "request", agent: "", last: "200" },
    [stream("id: 7\ndata: a\n\nid: 8\ndata: b\n\ndata: half"), stream("id: 9\ndata: c\n\n")]);
  assert.deepEqual(asked, [
    { url: "http://127.0.0.1:4001/prefix/events?event=request&last=200", last: null },
    { url: "http://127.0.0.1:4001/prefix/events?event=request&last=200", last: "8" },
  ]);
  assert.deepEqual(events, ["a", "b", "c"]);
  assert.deepEqual(states.slice(0, 3), ["live", "away", "live"]);
});

test("A gateway that is away is asked again, and its return is told", async () => {
  const { asked, states } = await followed({}, [new TypeError("refused"), new TypeError("refused"), stream("")]);
  assert.equal(asked.length, 3);
  assert.deepEqual(states.slice(0, 3), ["away", "away", "live"]);
});

test("A full gateway is asked again, a wrong filter is not", async () => {
  const full = await followed({}, [refusal(503, "overloaded"), stream("")]);
  assert.deepEqual(full.states.slice(0, 2), ["away", "live"]);
  const wrong = await followed({ status: "x" }, [refusal(400, "invalid_params")]);
  assert.deepEqual(wrong.states, ["refused"]);
  const secret = await followed({}, [refusal(401, "unauthenticated")]);
  assert.deepEqual(secret.states, ["refused"]);
});
