// Lines to paste for callers of an agent.
import { html, useState } from "./dom.js";
import { Block } from "./widgets.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const sdk03 = (url) => `// npm install @a2a-js/sdk@0.3.14
import { randomUUID } from "node:crypto";
import { ClientFactory } from "@a2a-js/sdk/client";

const client = await new ClientFactory().createFromUrl(${JSON.stringify(`${url}/`)});
const answer = await client.sendMessage({
  message: { kind: "message", messageId: randomUUID(), role: "user", parts: [{ kind: "text", text: "Hello" }] },
});
console.log(JSON.stringify(answer, null, 2));`;

const sdk13 = (url) => `// npm install @a2a-js/sdk@1.3.0
import { randomUUID } from "node:crypto";
import { SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const client = await new ClientFactory().createFromUrl(${JSON.stringify(`${url}/`)});
const answer = await client.sendMessage(SendMessageRequest.fromJSON({
  message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "Hello" }] },
}));
console.log(JSON.stringify(answer, null, 2));`;

const json = "-H 'Content-Type: application/json'";
const message = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello" }] } } };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "curl", version: "1" } } };

// `[name, text]` of each kind of caller.
export function linesOf({ id, protocol, public_url: url }) {
  const address = url.replace(/\/$/, "");
  const mcp = `${address}/mcp`;
  const clients = [
    ["mcp.json", JSON.stringify({ mcpServers: { [id]: { type: "http", url: mcp } } }, null, 2)],
    ["Claude Code", `claude mcp add --transport http ${id} ${mcp}`],
    ["MCP Inspector", `npx @modelcontextprotocol/inspector --cli ${mcp} --transport http --method tools/list`],
  ];
  const curl = protocol === "mcp"
    ? `curl -sN ${mcp} ${json} \\\n  -H 'Accept: application/json, text/event-stream' \\\n  -d ${quoted(JSON.stringify(initialize))}`
    : `curl -sN ${address} ${json} -H 'A2A-Version: 1.0' \\\n  -d ${quoted(JSON.stringify(message))}`;
  const ours = protocol === "mcp" ? `cardea call ${id} --tool NAME --args '{}'` : `cardea call ${id} 'Hello' --stream`;
  const sdks = [["@a2a-js/sdk 0.3.14", sdk03(address)], ["@a2a-js/sdk 1.3.0", sdk13(address)]];
  return [["curl", curl], ["cardea", ours], ...(protocol === "mcp" ? [...clients, ...sdks] : [...sdks, ...clients])];
}

export function Connect({ agent }) {
  const [shown, show] = useState(0);
  const lines = linesOf(agent);
  return html`<section class="panel"><h2>Connect</h2>
    <span class="choices" role="group" aria-label="Kind of caller">${lines.map(([name], i) => html`<button aria-pressed=${i === shown} onClick=${() => show(i)}>${name}</button>`)}</span>
    <${Block} text=${lines[shown][1]} label=${lines[shown][0]} />
    ${agent.protocol !== "mcp" && /^\{|claude|npx/.test(lines[shown][1]) && html`<p class="hint">MCP clients get the agent as tools, unless its <code>as_tools</code> is off.</p>`}
  </section>`;
}
