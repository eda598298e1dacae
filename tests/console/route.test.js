import assert from "node:assert/strict";
import { test } from "node:test";
import { read, to } from "../../gateway/console/page/route.js";

test("An address is read back as it was written", () => {
  for (const id of ["weather", "a/b", "50%", "a?b=c", "ü ö", "#", "..", "%2F"]) {
    const { parts, query } = read(to(["agents", id, "try"], { text: "a&b=c d", tag: "" }));
    assert.deepEqual(parts, ["agents", id, "try"]);
    assert.deepEqual([...query], [["text", "a&b=c d"]]);
  }
});

test("The overview has the shortest address", () => {
  assert.equal(to([]), "#/");
  assert.equal(to([], { status: "", sort: undefined, text: null }), "#/");
  for (const hash of ["", "#", "#/", "#//"]) assert.deepEqual(read(hash).parts, []);
});

test("A wrong escape is taken as it is", () => {
  assert.deepEqual(read("#/agents/50%").parts, ["agents", "50%"]);
  assert.deepEqual(read("#/agents/%zz/try").parts, ["agents", "%zz", "try"]);
});
