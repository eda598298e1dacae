// What A2A 0.3 and 1.0 say on the wire (JSON-RPC): requests of a try, and events in words. Nothing here touches the page.

export const versions = ["1.0", "0.3"];

// The header fields and the body of a message. `content`: a text, or with `json` a document; `more`: contextId, taskId, extensions.
export function messageRequest(version, { stream, content, json, skill, contextId, taskId, extensions }) {
  const first = version === "1.0";
  const kind = json ? "data" : "text";
  const message = {
    ...(first ? {} : { kind: "message" }),
    messageId: crypto.randomUUID(),
    role: first ? "ROLE_USER" : "user",
    parts: [first ? { [kind]: content } : { kind, [kind]: content }],
    ...(contextId ? { contextId } : {}),
    ...(taskId ? { taskId } : {}),
    ...(extensions.length ? { extensions } : {}),
    ...(skill ? { metadata: { skillId: skill } } : {}),
  };
  const method = first ? (stream ? "SendStreamingMessage" : "SendMessage") : stream ? "message/stream" : "message/send";
  return call(version, method, { message }, extensions, stream);
}

export const cancelRequest = (version, id) => call(version, version === "1.0" ? "CancelTask" : "tasks/cancel", { id }, [], false);

function call(version, method, params, extensions, stream) {
  return {
    headers: {
      "Content-Type": "application/json",
      Accept: stream ? "text/event-stream" : "application/json",
      "A2A-Version": version,
      ...(extensions.length ? { [version === "1.0" ? "A2A-Extensions" : "X-A2A-Extensions"]: extensions.join(", ") } : {}),
    },
    message: { jsonrpc: "2.0", id: 1, method, params },
  };
}

const stateOf = (state) => (state === undefined ? "" : String(state).replace(/^TASK_STATE_/, "").toLowerCase().replaceAll("_", "-"));

const wordsOf = (parts) => (Array.isArray(parts) ? parts : [])
  .map((part) => part?.text ?? (part?.data !== undefined ? JSON.stringify(part.data) : `[${part?.filename ?? part?.file?.name ?? part?.mediaType ?? part?.file?.mimeType ?? "file"}]`))
  .join("\n");

// What a result of a message or an event of a stream says: `{kind, state, words, taskId, contextId}`.
export function readResult(result) {
  const wrapped = ["task", "message", "statusUpdate", "artifactUpdate"].find((key) => result?.[key] !== undefined);
  const body = wrapped ? result[wrapped] : result ?? {};
  const kind = wrapped?.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`) ?? body.kind ?? (body.status ? "task" : "message");
  const artifacts = kind === "artifact-update" ? [body.artifact] : kind === "task" ? body.artifacts ?? [] : [];
  const said = kind === "message" ? wordsOf(body.parts) : wordsOf(body.status?.message?.parts);
  return {
    kind,
    state: stateOf(body.status?.state),
    words: [said, ...artifacts.map((each) => wordsOf(each?.parts))].filter(Boolean).join("\n"),
    taskId: kind === "message" ? body.taskId : kind === "task" ? body.id : body.taskId,
    contextId: body.contextId,
  };
}
