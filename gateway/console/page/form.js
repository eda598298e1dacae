// Forms of JSON Schemas: which fields, and the value that was filled in. Nothing here touches the page.

const deepest = 8;       // references and alternatives that are followed
const mostFields = 60;   // with more a form is worse than JSON
const mostChoices = 500;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// The schema behind local references and `anyOf` with null, as Pydantic writes them.
function plain(schema, root, depth = 0) {
  if (!isObject(schema) || depth > deepest) return {};
  if (typeof schema.$ref === "string") {
    let target = schema.$ref.startsWith("#/") ? root : undefined;
    for (const part of schema.$ref.slice(2).split("/")) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    const { $ref, ...beside } = schema;
    return { ...plain(target, root, depth + 1), ...beside };
  }
  const { anyOf, oneOf, ...beside } = schema;
  const real = [anyOf ?? oneOf ?? []].flat().filter((each) => each?.type !== "null");
  return real.length === 1 && !("const" in Object(real[0])) ? { ...plain(real[0], root, depth + 1), ...beside } : schema;
}

const typeOf = ({ type }) => {
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== "null");
  return types.length === 1 ? types[0] : undefined;
};

// `[{value, text}]` of a schema that allows single values only, else null.
function choicesOf(schema) {
  const listed = schema.oneOf ?? schema.anyOf ?? ("const" in schema ? [{ const: schema.const }] : []);
  const choices = Array.isArray(schema.enum)
    ? schema.enum.map((value, i) => ({ value, text: String(schema.enumNames?.[i] ?? value) }))
    : Array.isArray(listed) && listed.every((each) => isObject(each) && "const" in each)
      ? listed.map((each) => ({ value: each.const, text: String(each.title ?? each.const) })) : [];
  return choices.length > 0 && choices.length <= mostChoices && choices.every(({ value }) => typeof value !== "object" || value === null) ? choices : null;
}

function fieldOf(name, given, root, required) {
  const schema = plain(given, root);
  const text = (value) => (typeof value === "string" ? value : "");
  const field = { name, title: text(schema.title), description: text(schema.description), required, initial: schema.default, schema };
  const choices = choicesOf(schema);
  if (choices) return { ...field, kind: "enum", choices };
  const type = typeOf(schema);
  if (type === "array" && isObject(schema.items)) {
    const several = choicesOf(plain(schema.items, root));
    if (several) return { ...field, kind: "several", choices: several };
  }
  return { ...field, kind: ["string", "number", "integer", "boolean"].includes(type) ? type : "json" };
}

// The fields of a schema of an object; null: it has no form, only JSON.
export function fieldsOf(schema) {
  const whole = plain(schema, schema);
  if (!isObject(schema) || (whole.type !== undefined && whole.type !== "object") || ["anyOf", "oneOf", "allOf", "if"].some((key) => key in whole)) return null;
  const names = Object.keys(isObject(whole.properties) ? whole.properties : {});
  if (names.length > mostFields || (names.length === 0 && whole.additionalProperties !== false && "additionalProperties" in whole)) return null;
  const required = new Set(Array.isArray(whole.required) ? whole.required : []);
  return names.map((name) => fieldOf(name, whole.properties[name], schema, required.has(name)));
}

// What the fields begin with: texts, for `boolean` true, false or undefined, for `several` a list of positions.
export function beginning(fields) {
  return Object.fromEntries(fields.map(({ name, kind, initial, choices }) => [name, filled(kind, initial, choices)]));
}

function filled(kind, value, choices) {
  if (kind === "boolean") return typeof value === "boolean" ? value : undefined;
  if (kind === "several") {
    return choices.map((_, i) => i).filter((i) => Array.isArray(value) && value.includes(choices[i].value));
  }
  if (value === undefined) return "";
  if (kind === "enum") {
    const place = choices.findIndex((choice) => choice.value === value);
    return place < 0 ? "" : String(place);
  }
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value ?? "");
}

const numeric = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

function readNumber({ kind, schema }, text) {
  const value = Number(text);
  if (!numeric.test(text) || !Number.isFinite(value)) return { problem: "Enter a number." };
  if (kind === "integer" && !Number.isInteger(value)) return { problem: "Enter a whole number." };
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return { problem: "This number is too large for a browser." };
  if (value < schema.minimum) return { problem: `Enter at least ${schema.minimum}.` };
  if (value > schema.maximum) return { problem: `Enter at most ${schema.maximum}.` };
  return { value };
}

function readString({ schema }, text) {
  const length = Array.from(text).length;
  if (length < schema.minLength) return { problem: `Enter at least ${schema.minLength} characters.` };
  if (length > schema.maxLength) return { problem: `Enter at most ${schema.maxLength} characters.` };
  return { value: text };
}

function readJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `Not JSON: ${error.message}` };
  }
}

// `{value}`, `{problem}`, or nothing for a field that is left out.
function readField(field, given) {
  const { kind, required, choices, schema } = field;
  if (kind === "boolean") return given === undefined && !required ? {} : { value: given ?? false };
  if (kind === "several") {
    if (given.length < (schema.minItems ?? 0) && (required || given.length)) return { problem: `Choose at least ${schema.minItems}.` };
    if (given.length > schema.maxItems) return { problem: `Choose at most ${schema.maxItems}.` };
    return given.length || required ? { value: [...given].sort((a, b) => a - b).map((i) => choices[i].value) } : {};
  }
  if (given === "") {
    if (!required) return {};
    return kind === "string" && schema.minLength === 0 ? { value: "" } : { problem: "This is required." };
  }
  if (kind === "enum") return { value: choices[Number(given)].value };
  if (kind === "json") return readJson(given);
  return kind === "string" ? readString(field, given) : readNumber(field, given.trim());
}

// The object that the fields say: `{value, problems}`, with a sentence for each name that is wrong.
export function readForm(fields, values) {
  const value = {};
  const problems = {};
  for (const field of fields) {
    const read = readField(field, values[field.name] ?? (field.kind === "several" ? [] : field.kind === "boolean" ? undefined : ""));
    if (read.problem) problems[field.name] = read.problem;
    // A name such as `__proto__` is a member like any other.
    else if ("value" in read) Object.defineProperty(value, field.name, { value: read.value, enumerable: true, configurable: true, writable: true });
  }
  return { value, problems };
}

// The fields' values of an object, such as one that was written as JSON.
export const valuesOf = (fields, object) => Object.fromEntries(fields.map(({ name, kind, choices }) => [
  name, filled(kind, isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined, choices)]));

// An object as JSON, which a person reads on: `{value}` or `{problem}`.
export function readObject(text) {
  const read = text.trim() === "" ? { value: {} } : readJson(text);
  return read.problem || isObject(read.value) ? read : { problem: "Enter an object of JSON." };
}

// `Mcp-Param-*` of the arguments that a tool wants in header fields, by their names (MCP 2026-07-28, `x-mcp-header`).
export function mirrored(schema, value, prefix = "Mcp-Param-") {
  const found = {};
  const walk = (part, given, depth) => {
    if (!isObject(part?.properties) || !isObject(given) || depth > deepest) return;
    for (const [name, each] of Object.entries(part.properties)) {
      if (!isObject(each) || given[name] === undefined || given[name] === null) continue;
      if (typeof each["x-mcp-header"] === "string" && !isObject(given[name])) found[prefix + each["x-mcp-header"]] = String(given[name]);
      else walk(each, given[name], depth + 1);
    }
  };
  walk(schema, value, 0);
  return found;
}
