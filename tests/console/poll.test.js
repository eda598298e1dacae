import assert from "node:assert/strict";
import { test } from "node:test";
import { keepOrder } from "../../gateway/console/page/poll.js";

const ids = (text) => text.split("").map((id) => ({ id }));
const text = (items) => items.map(({ id }) => id).join("");

test("Rows that were shown keep their places, and new ones follow", () => {
  assert.equal(text(keepOrder(ids("cab"), ["a", "b", "c"])), "abc");
  assert.equal(text(keepOrder(ids("xcyab"), ["a", "b", "c"])), "abcxy");
  assert.equal(text(keepOrder(ids("cb"), ["a", "b", "c"])), "bc");
  assert.equal(text(keepOrder(ids("ba"), [])), "ba");
});
