import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, count, link, ms, name, percent, shellWord, span, visible } from "../../gateway/console/page/text.js";

test("Controls of direction and of terminals become visible", () => {
  assert.equal(visible("a\u202eb\u2066c\u200f"), "a\\u202eb\\u2066c\\u200f");
  assert.equal(visible("\u001b[31mred\u0007"), "\\u001b[31mred\\u0007");
  assert.equal(visible("\u0085\u009b\u2028\ufeff"), "\\u0085\\u009b\\u2028\\ufeff");
});

test("Ordinary text of any language stays as it is", () => {
  const text = "line\n\ttab – naïve, 日本語, עברית, العربية, 👩‍💻".replace("\u200d", "");
  assert.equal(visible(text), text);
  assert.equal(visible(null), "");
  assert.equal(visible(7), "7");
});

test("Every code point that Unicode calls a control of direction is escaped", () => {
  for (const point of [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]) {
    assert.match(visible(String.fromCharCode(point)), /^\\u[0-9a-f]{4}$/, point.toString(16));
  }
});

test("A name has one line and at most 200 characters", () => {
  assert.equal(name("a\nb\t c"), "a b c");
  assert.equal(name("x".repeat(199)).length, 199);
  assert.equal(name("x".repeat(200)), "x".repeat(200));
  assert.equal(name("x".repeat(201)), `${"x".repeat(199)}…`);
  assert.equal(name("😀".repeat(201)), `${"😀".repeat(199)}…`);
  assert.equal(name(`a${" ".repeat(1000)}b`), "a …");
  assert.equal(Array.from(name("x".repeat(65536))).length, 200);
  assert.equal(Array.from(name("😀".repeat(300))).length, 200);
  assert.equal(Array.from(name("\u202e".repeat(300))).length, 200);
  assert.equal(name(undefined), "");
});

test("A name is not cut within a character", () => {
  for (let length = 1; length < 12; ++length) assert.ok(name("😀😀😀😀😀😀😀", length).isWellFormed(), String(length));
});

test("Only http and https are links", () => {
  assert.equal(link("https://a.example/x?y#z"), "https://a.example/x?y#z");
  assert.equal(link("HTTP://a.example"), "http://a.example/");
  for (const text of ["javascript:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", "file:///etc/passwd",
    "blob:https://a.example/1", "//a.example", "a.example", "", null, undefined, {}]) {
    assert.equal(link(text), "", String(text));
  }
});

test("Numbers have units and say when there is none", () => {
  assert.deepEqual([count(null), ms(undefined), percent(null), bytes(null)], ["–", "–", "–", "–"]);
  assert.deepEqual([count(1234567), count(0)], ["1,234,567", "0"]);
  assert.deepEqual([ms(0), ms(9.96), ms(12.4), ms(9999), ms(10000)], ["0.0 ms", "10.0 ms", "12 ms", "9999 ms", "10.0 s"]);
  assert.deepEqual([percent(0), percent(0.0123), percent(0.5), percent(1)], ["0 %", "1.2 %", "50 %", "100 %"]);
  assert.deepEqual([bytes(1023), bytes(1024), bytes(10 * 1024), bytes(3 * 2 ** 30), bytes(5000 * 2 ** 30)],
    ["1023 B", "1.0 KiB", "10 KiB", "3.0 GiB", "5000 GiB"]);
  assert.deepEqual([span(-1), span(119.4), span(120), span(7199), span(7200), span(172800)], ["0 s", "119 s", "2 min", "120 min", "2 h", "2 d"]);
});

test("A word reaches a shell as it is", () => {
  assert.equal(shellWord("https://a.example:1/x"), "https://a.example:1/x");
  assert.equal(shellWord("a b"), "'a b'");
  assert.equal(shellWord("$(rm)'`"), "'$(rm)'\\''`'");
  assert.equal(shellWord(""), "''");
});
