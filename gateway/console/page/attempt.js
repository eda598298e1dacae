// A try: what was sent to an agent through the gateway and what came back. Tries stay while the page is open.
import { send } from "./api.js";
import { EventReader } from "./sse.js";
import { visible } from "./text.js";

const mostTries = 30;
const mostEvents = 2000;
const mostText = 256 * 1024;  // characters of an answer that are kept to be looked at
const mostAnswer = 32 * 1024 * 1024;

const kept = new Map();
export const triesOf = (id) => kept.get(id) ?? [];

const listeners = new Set();
// Calls `listener` when a try has changed; returns what ends that.
export function watchTries(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Header fields as a person writes them, `Name: value` a line: `{fields}` or `{problem}`.
export function readFields(text) {
  const fields = {};
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const value = line.slice(colon + 1).trim();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || !/^[\x20-\x7e\x80-\xff\t]*$/.test(value)) return { problem: `Not a header field: ${line.slice(0, 80)}` };
    fields[name] = value;
  }
  return { fields };
}

// A request as any caller would send it. A caller's `Authorization` has another name on its way: the page's own is for the gateway.
export const sendTry = (path, { headers, ...options }) => send(`try/${path}`, {
  ...options,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name.toLowerCase() === "authorization" ? "Cardea-Caller-Authorization" : name, value])),
});

export class Attempt {
  id = crypto.randomUUID();
  at = new Date();
  exchanges = [];
  events = [];
  missed = 0;
  status = "running"; // then `done`, `failed` or `cancelled`
  problem = "";
  code = "";       // of a failure at the gateway
  taskId = "";
  contextId = "";
  state = "";
  questions = [];  // of the server: `{params, reply}`, answered one after the other
  progress = null;
  stop = null;     // tells the agent of the cancel
  cancelling = false;
  #leaving = new AbortController();
  #timer = 0;

  constructor(agent, label) {
    this.label = label;
    kept.set(agent, [this, ...triesOf(agent)].slice(0, mostTries));
    this.changed();
  }

  // Tells the page, at most every 50 ms.
  changed() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      listeners.forEach((listener) => listener());
    }, this.events.length < 2 ? 0 : 50);
  }

  event(kind, { state = "", words = "" } = {}) {
    this.events.push({ ms: performance.now() - this.begun, kind, state, words: visible(String(words ?? "").slice(0, 4000)) });
    if (this.events.length > mostEvents * 1.25) this.missed += this.events.splice(0, this.events.length - mostEvents).length;
    if (state) this.state = state;
    this.changed();
  }

  // Runs `work(this)`, which makes the exchanges; a failure of it is the try's.
  async run(work) {
    this.begun = performance.now();
    try {
      await work(this);
      if (this.running) this.status = this.cancelling ? "cancelled" : "done";
    } catch (error) {
      if (this.running && error.name === "AbortError") this.status = "cancelled";
      else if (this.running) this.fail(error.message);
    }
    this.ms = performance.now() - this.begun;
    this.questions = [];
    this.changed();
  }

  fail(problem) {
    this.status = "failed";
    this.problem ||= problem;
    this.changed();
  }

  get running() {
    return this.status === "running";
  }

  get signal() {
    return this.#leaving.signal;
  }

  // The reply of the person to a question of the server: `{action, content}`.
  ask(params) {
    return new Promise((done, failed) => {
      const question = { params, reply: (reply) => {
        this.questions = this.questions.filter((each) => each !== question);
        this.event("answered", { words: reply.action });
        done(reply);
      } };
      this.questions = [...this.questions, question];
      this.signal.addEventListener("abort", () => failed(this.signal.reason), { once: true });
      this.event("question", { words: params?.message });
    });
  }

  // Ends it at the agent, if there is a way to say so, and leaves the answer as any caller that leaves.
  async cancel() {
    if (!this.running || this.cancelling) return;
    this.cancelling = true;
    this.changed();
    try {
      await this.stop?.();
    } catch (error) {
      this.event("error", { words: error.message });
    }
    if (this.running) this.status = "cancelled";
    this.#leaving.abort();
    this.changed();
  }

  // Sends one request and reads its answer; `take` gets each message of it. Gives the exchange, whose status may be any.
  async exchange({ path, method = "POST", headers, message }, take, signal = this.signal) {
    const made = { method, path, headers, body: message === undefined ? "" : JSON.stringify(message), status: 0, fields: [], text: "", cut: false };
    this.exchanges.push(made);
    this.changed();
    const begun = performance.now();
    try {
      const response = await sendTry(path, { method, headers, body: made.body || undefined, signal });
      made.status = response.status;
      made.fields = [...response.headers];
      this.code = response.headers.get("cardea-error") ?? this.code;
      await this.#read(response, made, take);
    } finally {
      made.ms = performance.now() - begun;
      this.changed();
    }
    return made;
  }

  async #read(response, made, take) {
    const stream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
    const reader = new EventReader();
    const decoder = new TextDecoder();
    const whole = [];
    let size = 0;
    for await (const piece of piecesOf(response)) {
      const text = decoder.decode(piece, { stream: piece !== undefined });
      size += text.length;
      made.cut ||= size > mostText;
      if (made.text.length < mostText) made.text += text.slice(0, mostText - made.text.length);
      if (!stream && size > mostAnswer) throw new Error("The answer is larger than 32 MiB.");
      if (!stream) whole.push(text);
      else for (const { data } of reader.feed(text)) if (data) take?.(parsed(data), made);
    }
    const document = whole.join("").trim();
    if (!stream && document) take?.(parsed(document), made);
  }
}

async function* piecesOf(response) {
  const reader = response.body?.getReader();
  for (let next; reader && !(next = await reader.read()).done;) yield next.value;
  yield undefined; // the decoder's end
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// What an answer that is no result says: an error of JSON-RPC, or the HTTP status.
export function problemOf(message, { status }) {
  const error = message?.error;
  if (error && typeof error === "object") return [error.message ?? "", error.code === undefined ? "" : `(${error.code})`, codeOf(error)].filter(Boolean).join(" ");
  if (typeof error === "string") return error;
  return status >= 400 || message === null ? `HTTP ${status}` : "";
}

const codeOf = (error) => (Array.isArray(error.data) ? error.data.find((each) => each?.reason)?.reason : error.data?.code) ?? "";

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

// The same request for a shell, to the address of callers. A credential is left out: `$CREDENTIAL` stands for it.
export function curlOf({ method, path, headers, body }, publicUrl) {
  const rest = path.replace(/^agents\/[^/]+/, "");
  const fields = Object.entries(headers).map(([name, value]) =>
    name.toLowerCase() === "authorization" ? `-H "Authorization: $CREDENTIAL"` : `-H ${quoted(`${name}: ${value}`)}`);
  return ["curl -sN", method === "POST" ? "" : `-X ${method}`, quoted(publicUrl.replace(/\/$/, "") + rest), ...fields, body ? `-d ${quoted(body)}` : ""].filter(Boolean).join(" ");
}
