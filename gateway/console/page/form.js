// Forms of JSON Schemas: which fields, the object that was filled in, and how both look.
import { html, useMemo, useState } from "./dom.js";
import { name as short, visible } from "./text.js";

const deepest = 8;      // references and alternatives that are followed
const mostFields = 60;  // with more a form is worse than JSON
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const own = (object, key) => (isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined);

// The schema behind local references and behind `anyOf` with null, as Pydantic writes them.
function plain(schema, root, depth = 0) {
  if (!isObject(schema) || depth > deepest) return {};
  const { $ref, anyOf, oneOf, ...beside } = schema;
  if (typeof $ref === "string") {
    const parts = $ref.slice(2).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    return { ...plain($ref.startsWith("#/") ? parts.reduce(own, root) : null, root, depth + 1), ...beside };
  }
  const real = [anyOf ?? oneOf ?? []].flat().filter((each) => each?.type !== "null");
  return real.length === 1 && own(real[0], "const") === undefined ? { ...plain(real[0], root, depth + 1), ...beside } : schema;
}

// `[{value, text}]` of a schema that allows single values only, else null.
function choicesOf(schema) {
  const listed = schema.oneOf ?? schema.anyOf ?? ("const" in schema ? [{ const: schema.const }] : []);
  const choices = Array.isArray(schema.enum)
    ? schema.enum.map((value, i) => ({ value, text: String(schema.enumNames?.[i] ?? value) }))
    : Array.isArray(listed) && listed.every((each) => isObject(each) && "const" in each)
      ? listed.map((each) => ({ value: each.const, text: String(each.title ?? each.const) })) : [];
  return choices.length > 0 && choices.length <= 500 && choices.every(({ value }) => typeof value !== "object" || value === null) ? choices : null;
}

function fieldOf(name, given, root, required) {
  const schema = plain(given, root);
  const choices = choicesOf(schema);
  const types = [schema.type].flat().filter((each) => each !== "null");
  const kind = choices ? "enum" : types.length === 1 && ["string", "number", "integer", "boolean"].includes(types[0]) ? types[0] : "json";
  return { name, kind, choices, required, initial: schema.default, hint: [schema.title, schema.description].filter((each) => typeof each === "string").join(" · ") };
}

// The fields of a schema of an object; null: it has no form, only JSON.
export function fieldsOf(schema) {
  const whole = plain(schema, schema);
  if (!isObject(schema) || (whole.type ?? "object") !== "object" || ["anyOf", "oneOf", "allOf", "if"].some((key) => key in whole)) return null;
  const names = Object.keys(isObject(whole.properties) ? whole.properties : {});
  if (names.length > mostFields || (names.length === 0 && (whole.additionalProperties ?? false) !== false)) return null;
  return names.map((name) => fieldOf(name, whole.properties[name], schema, Array.isArray(whole.required) && whole.required.includes(name)));
}

function filled({ kind, choices }, value) {
  if (kind === "boolean") return typeof value === "boolean" ? value : undefined;
  if (value === undefined) return "";
  if (kind === "enum") return String(choices.findIndex((choice) => choice.value === value)).replace("-1", "");
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value ?? "");
}

// What the fields have in them: of an object, or the defaults of the schema. Texts; for `boolean` true, false or undefined.
export const valuesOf = (fields, object) => Object.fromEntries(fields.map((field) =>
  [field.name, filled(field, object === undefined ? field.initial : own(object, field.name))]));

function readJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `Not JSON: ${error.message}` };
  }
}

function readNumber(kind, text) {
  const value = Number(text);
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) || !Number.isFinite(value)) return { problem: "Enter a number." };
  if (kind === "integer" && !Number.isInteger(value)) return { problem: "Enter a whole number." };
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? { problem: "This number is too large for a browser." } : { value };
}

// `{value}`, `{problem}`, or nothing for a field that is left out.
function readField({ kind, required, choices }, given) {
  if (kind === "boolean") return given === undefined && !required ? {} : { value: given ?? false };
  if (given === "") return required ? { problem: "This is required." } : {};
  if (kind === "enum") return { value: choices[Number(given)].value };
  if (kind === "string") return { value: given };
  return kind === "json" ? readJson(given) : readNumber(kind, given.trim());
}

// The object that the fields say: `{value, problems}`, with a sentence for each name that is wrong.
export function readForm(fields, values) {
  const read = fields.map((field) => [field.name, readField(field, values[field.name])]);
  const those = (key) => Object.fromEntries(read.filter(([, each]) => key in each).map(([name, each]) => [name, each[key]]));
  return { value: those("value"), problems: those("problem") };
}

// An object as JSON: `{value}` or `{problem}`.
export function readObject(text) {
  const read = text.trim() === "" ? { value: {} } : readJson(text);
  return read.problem || isObject(read.value) ? read : { problem: "Enter an object of JSON." };
}

// The arguments that a tool wants in header fields too, by the names it gives them (MCP 2026-07-28, `x-mcp-header`).
export function mirrored(schema, value, depth = 0) {
  return Object.entries(own(schema, "properties") ?? {}).flatMap(([name, part]) => {
    const given = own(value, name);
    const field = own(part, "x-mcp-header");
    if (given === undefined || given === null || depth > deepest) return [];
    return typeof field === "string" && typeof given !== "object" ? [[field, String(given)]] : mirrored(part, given, depth + 1);
  });
}

function Control({ field: { kind, choices, required }, of, value, change }) {
  const typed = (event) => change(event.target.value);
  if (kind === "boolean") return html`<input ...${of} type="checkbox" checked=${value === true} onChange=${(event) => change(event.target.checked)} />`;
  if (kind === "enum") {
    return html`<select ...${of} value=${value} onChange=${typed}>${(!required || value === "") && html`<option value=""></option>`}
      ${choices.map(({ text }, i) => html`<option value=${i}>${short(text)}</option>`)}</select>`;
  }
  return kind === "number" || kind === "integer"
    ? html`<input ...${of} type="text" inputmode="decimal" value=${value} onInput=${typed} />`
    : html`<textarea ...${of} class=${kind === "json" ? "mono" : "short"} rows="1" spellcheck=${false} value=${value} onInput=${typed}></textarea>`;
}

function Field({ field, id, value, change, problem }) {
  const hint = [field.required && "required", field.kind !== "string" && field.kind, visible(field.hint.slice(0, 1000))].filter(Boolean).join(" · ");
  return html`<div class="field"><label for=${id}>${short(field.name)}</label>
    <${Control} field=${field} value=${value} change=${change}
      of=${{ id, "aria-describedby": `${id}-hint`, "aria-invalid": problem && "true", "aria-required": field.required && "true" }} />
    <span id=${`${id}-hint`} class=${problem ? "bad" : "hint"}>${problem ?? hint}</span></div>`;
}

// `form`: what useForm gives. `prefix` makes the ids of the fields unique in the page.
export const Fields = ({ form: { fields, values, text, asJson, problems, set, write, turn }, prefix, label }) => html`<div class="fields">
  ${asJson
    ? html`<label>${label}<textarea class="mono" spellcheck=${false} rows="6" value=${text} onInput=${(event) => write(event.target.value)}></textarea></label>
      ${problems[""] && html`<span class="bad" role="alert">${problems[""]}</span>`}`
    : fields.map((field, i) => html`<${Field} key=${field.name} id=${prefix + i} field=${field} value=${values[field.name]} problem=${problems[field.name]}
      change=${(value) => set(field.name, value)} />`)}
  ${fields?.length > 0 && html`<label class="line"><input type="checkbox" checked=${asJson} onChange=${turn} />As JSON</label>`}
</div>`;

// The state of a form of `schema`, which begins again when `key` changes. `read()` gives the object, or undefined and shows what is wrong.
export function useForm(schema, key) {
  const fields = useMemo(() => fieldsOf(schema), [key]);
  const [kept, setState] = useState({});
  const state = kept.key === key ? kept : { key, asJson: !fields, text: "{}", problems: {}, values: fields && valuesOf(fields) };
  const change = (more) => setState({ ...state, problems: {}, ...more });
  return {
    ...state,
    fields,
    set: (field, value) => change({ values: { ...state.values, [field]: value } }),
    write: (text) => change({ text }),
    turn: () => {
      const { value, problem } = state.asJson ? readObject(state.text) : readForm(fields, state.values);
      if (problem) change({ problems: { "": problem } });
      else change({ asJson: !state.asJson, text: JSON.stringify(value, null, 2), values: valuesOf(fields, value) });
    },
    read: () => {
      const { value, problem, problems = problem ? { "": problem } : {} } = state.asJson ? readObject(state.text) : readForm(fields, state.values);
      change({ problems });
      return Object.keys(problems).length ? undefined : value;
    },
  };
}
