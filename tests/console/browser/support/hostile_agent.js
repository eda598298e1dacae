// An A2A 0.3 agent with markup, addresses that run something, names of 64 kB and streams of 5,000 events.
import { createServer } from "node:http";

import { listen } from "../../../peers/support/programs.js";
import { evil, long } from "./hostile.js";

const card = (url) => ({
  protocolVersion: "0.3.0",
  name: long,
  description: evil,
  url,
  preferredTransport: "JSONRPC",
  version: evil,
  iconUrl: "http://elsewhere.test/icon.png",
  documentationUrl: "javascript:alert(3)",
  provider: { organization: evil, url: "javascript:alert(4)" },
  capabilities: { streaming: true, extensions: [{ uri: "javascript:alert(5)", description: evil }] },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [
    { id: evil, name: long, description: evil.repeat(50), tags: [evil], examples: [evil, long] },
    ...Array.from({ length: 2000 }, (_, i) => ({ id: `skill-${i}`, name: `Skill ${i}`, description: evil, tags: [] })),
  ],
});

const update = (state, text) => ({
  kind: "status-update",
  taskId: evil,
  contextId: evil,
  final: state === "completed",
  status: { state, message: { kind: "message", role: "agent", messageId: "m", parts: [{ kind: "text", text }] } },
});

async function answer(request, response) {
  if (request.method === "GET") {
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(card(`http://${request.headers.host}/`)));
    return;
  }
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const { id } = JSON.parse(Buffer.concat(pieces).toString());
  response.writeHead(200, { "Content-Type": "text/event-stream", "X-Evil": markupIn(evil) });
  const event = (result) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
  for (let i = 0; i < 5000; ++i) event(update("working", `${evil} ${i}`));
  event(update("completed", evil));
  response.end();
}

// A header field cannot have control characters.
const markupIn = (text) => text.replace(/[^ -~]/g, "");

export const startHostileAgent = () => listen(createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
}));
