import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, mirrored, readForm, readObject, valuesOf } from "../../gateway/console/page/form.js";

const schema = {
  type: "object",
  properties: {
    message: { type: "string", description: "The text" },
    count: { type: "integer", default: 3 },
    ratio: { type: "number" },
    loud: { type: "boolean" },
    unit: { enum: ["C", "F"], enumNames: ["Celsius", "Fahrenheit"] },
    level: { oneOf: [{ const: 1, title: "Low" }, { const: 2, title: "High" }] },
    tags: { type: "array", items: { enum: ["a", "b", "c"] } },
    more: { type: "object", properties: { deep: { type: "string" } } },
  },
  required: ["message"],
};
const fields = fieldsOf(schema);
const read = (values) => readForm(fields, { ...valuesOf(fields), ...values });
const problemsOf = (values) => read({ message: "abc", ...values }).problems;

test("Each property of a schema is a field of its kind", () => {
  assert.deepEqual(fields.map(({ name, kind }) => `${name} ${kind}`), [
    "message string", "count integer", "ratio number", "loud boolean", "unit enum", "level enum", "tags json", "more json",
  ]);
  assert.deepEqual(fields.filter(({ required }) => required).map(({ name }) => name), ["message"]);
  assert.deepEqual(fields[4].choices.map(({ text }) => text), ["Celsius", "Fahrenheit"]);
});

test("Fields that are left empty are left out, and defaults are filled in", () => {
  assert.deepEqual(read({ message: "abc" }), { value: { message: "abc", count: 3 }, problems: {} });
  assert.deepEqual(read({ message: "abc", count: "" }).value, { message: "abc" });
});

test("Filled fields have the types that the schema names", () => {
  const { value, problems } = read({ message: "abc", count: " 7 ", ratio: "-1.5e3", loud: false, unit: "1", level: "0", tags: '["a","c"]', more: '{"deep":"x"}' });
  assert.deepEqual(problems, {});
  assert.deepEqual(value, { message: "abc", count: 7, ratio: -1500, loud: false, unit: "F", level: 1, tags: ["a", "c"], more: { deep: "x" } });
});

test("A form gives back the object that it was filled with", () => {
  const object = { message: "abc", count: 7, ratio: 0.5, loud: true, unit: "F", level: 2, tags: ["b"], more: [1, { a: null }] };
  assert.deepEqual(readForm(fields, valuesOf(fields, object)), { value: object, problems: {} });
});

test("A wrong field says what is expected", () => {
  assert.equal(read({}).problems.message, "This is required.");
  for (const [text, words] of [["x", "Enter a number."], ["1.5", "Enter a whole number."], ["0x10", "Enter a number."], ["1e999", "Enter a number."],
    ["9007199254740992", "This number is too large for a browser."], ["9007199254740991", undefined], ["-7", undefined]]) {
    assert.equal(problemsOf({ count: text }).count, words, text);
  }
  assert.match(problemsOf({ more: "{" }).more, /^Not JSON: /);
});

test("References within the schema and optional types of Pydantic are followed", () => {
  const found = fieldsOf({
    type: "object",
    $defs: { Unit: { enum: ["C", "F"] }, Self: { $ref: "#/$defs/Self" } },
    properties: {
      unit: { $ref: "#/$defs/Unit", description: "Here" },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
      text: { type: ["string", "null"] },
      self: { $ref: "#/$defs/Self" },
      elsewhere: { $ref: "https://elsewhere.example/schema" },
      either: { anyOf: [{ type: "string" }, { type: "number" }] },
    },
  });
  assert.deepEqual(found.map(({ kind }) => kind), ["enum", "integer", "string", "json", "json", "json"]);
  assert.equal(found[0].hint, "Here");
  assert.deepEqual(readForm(found, valuesOf(found)), { value: {}, problems: {} });
});

test("A schema that no form can show has none", () => {
  const many = (count) => ({ type: "object", properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, {}])) });
  assert.equal(fieldsOf(many(60)).length, 60);
  for (const each of [null, true, { type: "array" }, { type: "object", oneOf: [{}, {}] }, many(61), { type: "object", additionalProperties: true }]) {
    assert.equal(fieldsOf(each), null);
  }
  assert.deepEqual(fieldsOf({ type: "object" }), []);
  assert.deepEqual(fieldsOf({}), []);
});

test("Names of members of JavaScript objects are names like others", () => {
  const odd = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}');
  const found = fieldsOf(odd);
  const { value } = readForm(found, { ...valuesOf(found), ["__proto__"]: "a", constructor: "b" });
  assert.equal(JSON.stringify(value), '{"__proto__":"a","constructor":"b"}');
});

test("A schema of 64 levels is one field of JSON", () => {
  let deep = { type: "string" };
  for (let i = 0; i < 64; ++i) deep = { type: "object", properties: { inner: deep } };
  assert.deepEqual(fieldsOf(deep).map(({ kind }) => kind), ["json"]);
});

test("JSON that is no object is refused", () => {
  assert.deepEqual(readObject('{"a":1}'), { value: { a: 1 } });
  assert.deepEqual(readObject("  "), { value: {} });
  assert.equal(readObject("[1]").problem, "Enter an object of JSON.");
  assert.match(readObject("{").problem, /^Not JSON/);
});

test("Arguments with x-mcp-header are named for header fields", () => {
  const tool = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" }, place: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry" } } }, n: { type: "integer", "x-mcp-header": "N" } } };
  assert.deepEqual(mirrored(tool, { region: "eu", place: { dry: false }, n: null }), [["Region", "eu"], ["Dry", "false"]]);
  assert.deepEqual(mirrored({}, { region: "eu" }), []);
  assert.deepEqual(mirrored(null, {}), []);
});
