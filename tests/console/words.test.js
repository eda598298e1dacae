// The words of containments, pins, denials and edges.
import assert from "node:assert/strict";
import { test } from "node:test";

import { approveCommand, approvedItem, callerWords, checkWords, containCommand, containParams, cutWords, explainParams, isDenied, itemWords, whyHeld }
  from "../../gateway/console/page/words.js";

test("What is cut is said with its numbers", () => {
  assert.equal(cutWords({ calls: 1, streams: 2, sessions: 0 }), "1 call, 2 streams and no sessions");
  assert.equal(cutWords({ calls: 12345 }), "12,345 calls, no streams and no sessions");
  assert.equal(cutWords(), "no calls, no streams and no sessions");
});

test("What is empty or blank is left out of a containment", () => {
  assert.deepEqual(containParams("a", { reason: " it leaks ", until: " ", notice: "" }), { id: "a", reason: "it leaks" });
  assert.deepEqual(containParams("a", { reason: "r", until: "2h", notice: "Later." }), { id: "a", reason: "r", until: "2h", notice: "Later." });
});

test("The command line of a containment can be pasted", () => {
  assert.equal(containCommand("a", { reason: "", until: "", notice: "" }), "cardea agents contain a --reason …");
  assert.equal(containCommand("a b", { reason: "it's late", until: "2h", notice: "" }), "cardea agents contain 'a b' --reason 'it'\\''s late' --until 2h");
  assert.equal(containCommand("a", { reason: "x\u001b[2J", until: "", notice: "" }), "cardea agents contain a --reason 'x\\u001b[2J'");
});

test("A held item is a sentence", () => {
  assert.equal(whyHeld({ kind: "tool", name: "rm", why: "new" }), "The tool rm is new.");
  assert.equal(whyHeld({ kind: "card", why: "changed" }), "The card has changed.");
  assert.equal(whyHeld({ kind: "instructions", why: "words" }), "The instructions have other words; callers get the approved ones.");
  assert.equal(whyHeld({ kind: "other", name: "x", why: "odd\u202e" }), "other x is held: odd\\u202e.");
  assert.equal(itemWords({ kind: "tool", name: "a\nb" }), "The tool a b");
});

test("What is approved is what was looked at", () => {
  assert.deepEqual(approvedItem({ kind: "tool", name: "rm", sha256: "ab", diff: [], why: "new" }), { kind: "tool", name: "rm", sha256: "ab" });
  assert.deepEqual(approvedItem({ kind: "card", sha256: "cd", since: "2026" }), { kind: "card", sha256: "cd" });
  assert.equal(approveCommand("a", [{ kind: "card" }]), "cardea agents approve a --card");
  assert.equal(approveCommand("a", [{ kind: "tool", name: "r m" }]), "cardea agents approve a --tool 'r m'");
  assert.equal(approveCommand("a", [{ kind: "instructions" }]), "cardea agents approve a --all");
  assert.equal(approveCommand("a", [{ kind: "card" }, { kind: "tool", name: "x" }]), "cardea agents approve a --all");
});

test("A denied call asks for its rule with its own agent, method, tool and principal", () => {
  assert.equal(isDenied({ status: 403, code: "forbidden" }), true);
  assert.equal(isDenied({ status: 404, code: "agent_not_found", rule: "none" }), true);
  assert.equal(isDenied({ status: 404, code: "agent_not_found" }), false);
  assert.equal(isDenied({ status: 200 }), false);
  assert.deepEqual(explainParams({ agent: "a", rpc: "tools/call", tool: "rm", principal: "ci", provider: "keys", ms: 3 }),
    { agent: "a", method: "tools/call", tool: "rm", principal: { provider: "keys", id: "ci" } });
  assert.deepEqual(explainParams({ agent: "a", method: "GET" }), { agent: "a", anonymous: true });
  assert.equal(explainParams({ code: "forbidden" }), null);
  assert.equal(checkWords("discover"), "May know of it");
  assert.equal(checkWords("odd"), "odd");
});

test("A caller is its agent, if one acts as the principal", () => {
  assert.equal(callerWords({ principal: "spiffe://x/w", caller: "words" }), "words (spiffe://x/w)");
  assert.equal(callerWords({ principal: "ann" }), "ann");
  assert.equal(callerWords({ principal: "" }), "no credential");
});
