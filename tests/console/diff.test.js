import assert from "node:assert/strict";
import { test } from "node:test";
import { folded, readPatch, sideBySide } from "../../gateway/console/page/diff.js";

const texts = (rows, side) => rows.map((row) => row[side]?.text).filter((text) => text !== undefined);
const kinds = (rows) => rows.map(({ kind }) => kind).filter((kind) => kind !== "same");
const printed = (document) => JSON.stringify(document, null, 2).split("\n");

const at = (document, pointer) => pointer.split("/").slice(1)
  .reduce((value, part) => value?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], document);

const raw = {
  name: "Words",
  url: "http://127.0.0.1:9000/",
  skills: [{ id: "count", name: "Count", tags: [] }, { id: "old", name: "Old" }, { id: "top", name: "Top" }],
  provider: { organization: "X", url: "https://x.example" },
};
const served = {
  name: "Words",
  url: "http://gateway/agents/words",
  skills: [{ id: "count", name: "Count", tags: [] }, { id: "top", name: "Top words" }, { id: "new", name: "New" }],
  protocol: "a2a",
};

test("Each side of a comparison is the document as JSON.stringify prints it", () => {
  const { rows, cut } = sideBySide(raw, served);
  assert.equal(cut, false);
  assert.deepEqual(texts(rows, "left"), printed(raw));
  assert.deepEqual(texts(rows, "right"), printed(served));
});

test("Elements of a list are aligned by their ids", () => {
  const { rows } = sideBySide(raw, served);
  const top = rows.find(({ left }) => left?.path === "/skills/2/name");
  assert.equal(top.kind, "changed");
  assert.equal(top.right.path, "/skills/1/name");
  assert.equal(rows.find(({ left }) => left?.path === "/skills/1/id").right, null);
  assert.equal(rows.find(({ right }) => right?.path === "/skills/2/id").left, null);
});

test("A row names the place of each side as a JSON pointer that finds its value", () => {
  const strange = { "a/b": { "c~d": [1, { id: "x", "": 2 }] } };
  const { rows } = sideBySide(strange, { "a/b": { "c~d": [1, { id: "x", "": 3 }] } });
  const row = rows.find(({ kind }) => kind === "changed");
  assert.equal(row.right.path, "/a~1b/c~0d/1/");
  assert.equal(at(strange, row.left.path), 2);
});

test("Equal documents differ nowhere, and folding leaves one count of lines", () => {
  const { rows } = sideBySide(raw, structuredClone(raw));
  assert.deepEqual(kinds(rows), []);
  assert.deepEqual(folded(rows), [{ equal: rows.length }]);
});

test("Folding keeps two lines around each difference", () => {
  const list = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m${i}`, i]));
  const { rows } = sideBySide(list, { ...list, m20: null });
  const shown = folded(rows);
  assert.equal(shown.length, 7);
  assert.equal(shown[0].equal, 19);
  assert.equal(shown[3].kind, "changed");
  assert.equal(shown.reduce((sum, each) => sum + (each.equal ?? 1), 0), rows.length);
});

test("A value of another type is shown whole on both sides", () => {
  const { rows } = sideBySide({ a: [1, 2] }, { a: "x" });
  assert.deepEqual(kinds(rows), ["changed", "changed", "changed", "changed", "changed"]);
  assert.deepEqual(texts(rows, "right"), printed({ a: "x" }));
  assert.deepEqual(texts(sideBySide({ a: null, b: [] }, { a: {}, b: [] }).rows, "left"), printed({ a: null, b: [] }));
});

test("Parts of a list without ids belong together by their place", () => {
  const { rows } = sideBySide([{ url: "a", transport: "x" }, 2], [{ url: "b", transport: "x" }, 3, 4]);
  assert.deepEqual(kinds(rows), ["changed", "changed", "added"]);
  assert.equal(rows.at(-2).right.path, "/2");
});

test("Lists in another order keep every element on both sides", () => {
  const random = (() => { let seed = 7; return () => (seed = (seed * 48271) % 2147483647) / 2147483647; })();
  for (let round = 0; round < 300; ++round) {
    const list = () => Array.from({ length: Math.floor(random() * 9) }, () => ({ id: `${Math.floor(random() * 6)}` }));
    const [left, right] = [list(), list()];
    const { rows } = sideBySide({ x: left, end: 1 }, { x: right, end: 1 });
    assert.deepEqual(texts(rows, "left"), printed({ x: left, end: 1 }));
    assert.deepEqual(texts(rows, "right"), printed({ x: right, end: 1 }));
    for (const { left: row } of rows) if (row?.path) assert.notEqual(at({ x: left, end: 1 }, row.path), undefined);
  }
});

test("A document without another one is printed alone", () => {
  const { rows } = sideBySide(null, served);
  assert.deepEqual(texts(rows, "right"), printed(served));
  assert.deepEqual(texts(rows, "left"), []);
});

test("A long document is cut after as many rows as are asked for", () => {
  const long = Array.from({ length: 1000 }, (_, id) => ({ id: `t${id}` }));
  const { rows, cut } = sideBySide(long, [], 100);
  assert.equal(rows.length, 100);
  assert.equal(cut, true);
  assert.equal(sideBySide([1], [1], 3).cut, false);
});

test("Ten thousand tools are compared within 200 ms", () => {
  const tools = (word) => Array.from({ length: 10000 }, (_, i) => ({ id: `tool-${i}`, description: word, inputSchema: { type: "object" } }));
  const times = [1, 2, 3].map(() => {
    const begun = performance.now();
    sideBySide({ tools: tools("a") }, { tools: tools("b").reverse() });
    sideBySide(null, { tools: tools("a") });
    return performance.now() - begun;
  });
  assert.ok(Math.min(...times) < 200, `${times} ms`);
});

test("A document of 1,000 levels is printed without an overflow of the stack", () => {
  let deep = 1;
  for (let i = 0; i < 1000; ++i) deep = [deep];
  const { rows } = sideBySide(deep, [deep]);
  assert.ok(rows.length > 100);
});

test("A patch is read into words and places", () => {
  const patch = [
    { op: "replace", path: "/a", value: 1 },
    { op: "move", from: "/b", path: "/c" },
    { op: "explode", path: "/d" },
    { op: "add", path: 7 },
    null,
  ];
  assert.deepEqual(readPatch(patch).map(({ verb, path, from }) => [verb, path, from]), [["changed", "/a", undefined], ["moved", "/c", "/b"]]);
  assert.equal(readPatch(null), null);
  assert.deepEqual(readPatch([]), []);
});
