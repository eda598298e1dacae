import assert from "node:assert/strict";
import { test } from "node:test";
import { bars, ceiling, linePath, lived } from "../../gateway/console/page/charts.js";

test("A chart ends at 1, 2 or 5 times a power of ten", () => {
  for (const [most, top] of [[0, 1], [0.3, 1], [1, 1], [1.1, 2], [3, 5], [5, 5], [5.1, 10], [10, 10], [11, 20], [999, 1000], [1001, 2000], [NaN, 1]]) {
    assert.equal(ceiling(most), top, String(most));
  }
});

test("Slots before the start of the gateway are left out, the one that it began in is not", () => {
  const slots = ["14:01", "14:02", "14:03", "14:04"].map((time) => ({ end: `2026-11-28T${time}:00Z` }));
  const since = (time) => lived(slots, `2026-11-28T${time}Z`).map(({ end }) => end.slice(11, 16));
  assert.deepEqual(since("13:00:00"), ["14:01", "14:02", "14:03", "14:04"]);
  assert.deepEqual(since("14:02:30"), ["14:03", "14:04"]);
  assert.deepEqual(since("14:03:00"), ["14:04"]);
  assert.deepEqual(since("14:04:00"), []);
});

test("A line breaks where there is no value, and a value alone is a dash", () => {
  assert.equal(linePath([0, 10], 10, 20, 100), "M5 100L15 0");
  assert.equal(linePath([0, 10, null, 5, null, 10, 0], 10, 70, 100), "M5 100L15 0M32.5 50H37.5M55 0L65 100");
  assert.equal(linePath([null, null], 10, 20, 100), "");
  assert.equal(linePath([20], 10, 10, 100), "M2.5 0H7.5");
});

test("Bars of a slot stand on each other and fill the height together", () => {
  const found = bars([[5, 5], [0, 0], [0, 10]], 10, 30, 100);
  assert.deepEqual(found.map(({ at, series, y, height }) => [at, series, y, height]), [[0, 0, 50, 50], [0, 1, 0, 50], [2, 1, 0, 100]]);
  assert.ok(found.every(({ x, width }) => x >= 0 && x + width <= 30));
});

test("One call among a million is still seen", () => {
  assert.ok(bars([[1]], 1000000, 600, 120)[0].height >= 0.7);
});
