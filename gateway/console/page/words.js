// Sentences, command lines and parameters of containments, pins, denials and edges. Nothing here touches the page.
import { count, name, shellWord, visible } from "./text.js";

const some = (value, noun) => `${value ? count(value) : "no"} ${noun}${value === 1 ? "" : "s"}`;

// The numbers of `cut`, in words.
export const cutWords = ({ calls = 0, streams = 0, sessions = 0 } = {}) =>
  `${some(calls, "call")}, ${some(streams, "stream")} and ${some(sessions, "session")}`;

const filled = (values) => Object.entries(values).map(([key, value]) => [key, value.trim()]).filter(([, value]) => value);

// `{reason, until, notice}` as agents/contain takes them: what is empty is left out.
export const containParams = (id, values) => ({ id, ...Object.fromEntries(filled(values)) });

export const containCommand = (id, values) => ["cardea agents contain", shellWord(id), ...(values.reason.trim() ? [] : ["--reason …"]),
  ...filled(values).map(([key, value]) => `--${key} ${shellWord(visible(value))}`)].join(" ");

// By `why` of a held item: for one thing, and for several.
const reasons = {
  new: ["is new", "are new"],
  changed: ["has changed", "have changed"],
  words: ["has other words; callers get the approved ones", "have other words; callers get the approved ones"],
  pins_full: ["waits: the room for pins is full", "wait: the room for pins is full"],
};

const kinds = { card: "The card", instructions: "The instructions", tool: "The tool" };

// A pinned item as the subject of a sentence.
export const itemWords = ({ kind, name: which }) => `${kinds[kind] ?? name(kind)}${which === undefined ? "" : ` ${name(which)}`}`;
export const whyHeld = (item) => `${itemWords(item)} ${reasons[item.why]?.[item.kind === "instructions" ? 1 : 0] ?? `is held: ${name(item.why)}`}.`;

// Names one of the held items, as agents/approve takes it: what was looked at, and nothing that came since.
export const approvedItem = ({ kind, name: which, sha256 }) => ({ kind, ...(which !== undefined && { name: which }), sha256 });

export const approveCommand = (id, items) => `cardea agents approve ${shellWord(id)} ${items.length !== 1 || !["card", "tool"].includes(items[0].kind)
  ? "--all" : items[0].kind === "card" ? "--card" : `--tool ${shellWord(visible(items[0].name))}`}`;

const denials = ["forbidden", "unauthenticated", "agent_contained", "principal_contained"];

// Whether access denied the call of an access line.
export const isDenied = (line) => Boolean(line.rule) || denials.includes(line.code);

// The question to access/explain about the call of an access line; null: the line does not name its agent.
export const explainParams = ({ agent, rpc, tool, principal, provider }) => agent ? {
  agent,
  ...(rpc && { method: rpc }),
  ...(tool && { tool }),
  ...(principal ? { principal: { provider, id: principal } } : { anonymous: true }),
} : null;

const checks = { identity: "Identity", contained: "Contained", discover: "May know of it", call: "May call it", tool: "May call the tool" };
export const checkWords = (check) => checks[check] ?? name(check);

// The caller of an edge: the agent that acts as the principal, and the principal.
export const callerWords = ({ caller, principal }) => {
  const who = principal ? name(principal, 120) : "no credential";
  return caller ? `${name(caller, 80)} (${who})` : who;
};
