// Requests to the gateway. All addresses are relative to /console/, so that the page works behind a port-forward or a path prefix.
const root = new URL("../", location.href.split("#")[0]);

export const address = (path) => new URL(path.replace(/^\//, ""), root).href;

const key = "cardea.token";
export const token = () => sessionStorage.getItem(key) ?? "";
export function setToken(value) {
  if (value) sessionStorage.setItem(key, value);
  else sessionStorage.removeItem(key);
}

// A request that failed. `kind`: `unreachable`, `unauthenticated`, `forbidden`, `refused`; `code`: the stable code of a refusal.
export class Failure extends Error {
  constructor(kind, message, code = "", data = null) {
    super(message);
    this.kind = kind;
    this.code = code;
    this.data = data;
  }
}

const listeners = new Set();
// Hears of `{reachable, authenticated}` with each answer; returns what ends that.
export function onState(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
const tell = (state) => listeners.forEach((listener) => listener(state));

// A token, or a key of `cardea key new`, which has a field of its own.
const credential = (value) => (value.startsWith("cardea_") ? ["X-API-Key", value] : ["Authorization", `Bearer ${value}`]);

// Whether a header field can have it.
export const isToken = (value) => /^[!-~]+$/.test(value);

// The Response to any request of the page, with the token.
export async function send(path, { headers = {}, ...options } = {}) {
  const fields = new Headers(headers);
  if (token()) fields.set(...credential(token()));
  let response;
  try {
    response = await fetch(address(path), { cache: "no-store", redirect: "error", ...options, headers: fields });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tell({ reachable: false });
    throw new Failure("unreachable", "The gateway cannot be reached.");
  }
  tell({ reachable: true });
  return response;
}

// The failure that an answer is, with its stable code and its sentence.
export async function failureOf(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    // No JSON: the status says it.
  }
  const error = body?.error ?? body ?? {};
  const code = error.data?.code ?? error.code ?? "";
  const kind = { 401: "unauthenticated", 403: "forbidden" }[response.status] ?? "refused";
  if (kind === "unauthenticated") tell({ reachable: true, authenticated: false });
  return new Failure(kind, error.message ?? error.detail ?? `HTTP ${response.status}`, String(code), body);
}

let next = 0;

// The result of a management method. Fails with Failure.
export async function rpc(method, params = {}, { signal } = {}) {
  const response = await send("rpc", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++next, method, params }),
    signal,
  });
  if (!response.ok) throw await failureOf(response);
  const answer = await response.json();
  if (answer.error) {
    throw new Failure("refused", answer.error.message, answer.error.data?.code ?? "", answer.error.data ?? null);
  }
  tell({ reachable: true, authenticated: true });
  return answer.result;
}

// POST without parameters, such as `reload`; the document of the answer.
export async function act(path) {
  const response = await send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  if (!response.ok) throw await failureOf(response);
  return response.json();
}
