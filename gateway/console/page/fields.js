// The fields of a form of a schema, and what a person wrote as JSON instead.
import { html, useMemo, useState } from "./dom.js";
import { beginning, fieldsOf, readForm, readObject, valuesOf } from "./form.js";
import { name, visible } from "./text.js";

function Control({ field: { kind, choices, schema, required }, of, value, change }) {
  const typed = (event) => change(event.target.value);
  if (kind === "boolean") return html`<input ...${of} type="checkbox" checked=${value === true} onChange=${(event) => change(event.target.checked)} />`;
  if (kind === "enum") {
    return html`<select ...${of} value=${value} onChange=${typed}>
      ${(!required || value === "") && html`<option value=""></option>`}
      ${choices.map(({ text }, i) => html`<option value=${i}>${name(text)}</option>`)}
    </select>`;
  }
  if (kind === "json") return html`<textarea ...${of} class="mono" spellcheck=${false} value=${value} onInput=${typed}></textarea>`;
  if (kind === "string" && !(schema.maxLength <= 200) && !schema.format) {
    return html`<textarea ...${of} class="short" rows="1" value=${value} onInput=${typed}></textarea>`;
  }
  return html`<input ...${of} type="text" inputmode=${kind === "string" ? null : "decimal"} value=${value} onInput=${typed} />`;
}

const Several = ({ field, value, change }) => field.choices.map(({ text }, i) => html`<label class="line">
  <input type="checkbox" checked=${value.includes(i)} onChange=${(event) => change(event.target.checked ? [...value, i] : value.filter((each) => each !== i))} />
  ${name(text)}</label>`);

function Field({ field, id, value, change, problem }) {
  const of = { id, "aria-describedby": `${id}-hint`, "aria-invalid": problem ? "true" : null, "aria-required": field.required ? "true" : null };
  const hint = [field.required ? "required" : "", field.kind === "string" ? field.schema.format ?? "" : field.kind === "several" ? "" : field.kind,
    field.title && field.title !== field.name ? name(field.title) : "", visible(field.description.slice(0, 1000))].filter(Boolean).join(" · ");
  return html`<div class="field">
    ${field.kind === "several"
      ? html`<fieldset class="row" aria-describedby=${of["aria-describedby"]}><legend>${name(field.name)}</legend><${Several} field=${field} value=${value} change=${change} /></fieldset>`
      : html`<label for=${id}>${name(field.name)}</label><${Control} field=${field} of=${of} value=${value} change=${change} />`}
    <span id=${`${id}-hint`} class=${problem ? "bad" : "hint"}>${problem ?? hint}</span>
  </div>`;
}

// `form`: what useForm gives. `prefix` makes the ids of the fields unique in the page.
export function Fields({ form, prefix, label }) {
  const { fields, values, text, asJson, problems } = form;
  return html`<div class="fields">
    ${asJson
      ? html`<div class="field"><label for=${`${prefix}-json`}>${label}</label>
          <textarea id=${`${prefix}-json`} class="mono" spellcheck=${false} rows="6" value=${text} onInput=${(event) => form.write(event.target.value)}></textarea>
          ${problems[""] && html`<span class="bad" role="alert">${problems[""]}</span>`}</div>`
      : fields.map((field, i) => html`<${Field} key=${field.name} id=${`${prefix}-${i}`} field=${field} value=${values[field.name]} problem=${problems[field.name]}
          change=${(value) => form.set(field.name, value)} />`)}
    ${fields?.length === 0 && !asJson && html`<span class="hint">There is nothing to fill in.</span>`}
    ${fields && html`<label class="line"><input type="checkbox" checked=${asJson} onChange=${form.turn} />As JSON</label>`}
  </div>`;
}

// The state of a form of `schema`, which begins again when `key` changes. `read()` gives the object, or undefined and shows what is wrong.
export function useForm(schema, key, given = {}) {
  const fields = useMemo(() => fieldsOf(schema), [key]);
  const start = () => ({ key, asJson: fields === null, problems: {},
    values: fields && { ...beginning(fields), ...(Object.keys(given).length ? valuesOf(fields, given) : {}) }, text: JSON.stringify(given, null, 2) });
  const [kept, setState] = useState(start);
  let state = kept;
  if (state.key !== key) setState(state = start());
  const change = (more) => setState((before) => ({ ...before, ...more }));
  return {
    ...state,
    fields,
    set: (field, value) => setState((before) => ({ ...before, values: { ...before.values, [field]: value }, problems: {} })),
    write: (text) => change({ text, problems: {} }),
    turn: () => {
      if (!state.asJson) return change({ asJson: true, problems: {}, text: JSON.stringify(readForm(fields, state.values).value, null, 2) });
      const { value, problem } = readObject(state.text);
      change(problem ? { problems: { "": problem } } : { asJson: false, problems: {}, values: valuesOf(fields, value) });
    },
    read: () => {
      const { value, problem, problems = problem ? { "": problem } : {} } = state.asJson ? readObject(state.text) : readForm(fields, state.values);
      change({ problems });
      return Object.keys(problems).length ? undefined : value;
    },
  };
}
