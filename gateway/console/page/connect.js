// Lines to paste for callers of an agent.
import { html, useState } from "./dom.js";
import { shellWord } from "./text.js";
import { Block } from "./widgets.js";

// Where callers of each protocol reach an agent: `public_url` of an MCP server ends with `/mcp`.
export function addressesOf({ protocol, public_url: url = "" }) {
  const base = url.replace(protocol === "mcp" ? /(\/mcp)?\/?$/ : /\/$/, "");
  return { a2a: base, mcp: `${base}/mcp` };
}

const sdk = (version, url, more, begin, message, end) => `// npm install @a2a-js/sdk@${version}
import { randomUUID } from "node:crypto";
${more}import { ClientFactory } from "@a2a-js/sdk/client";

const client = await new ClientFactory().createFromUrl(${JSON.stringify(`${url}/`)});
const answer = await client.sendMessage(${begin}{
  message: { messageId: randomUUID(), ${message} },
}${end});
console.log(JSON.stringify(answer, null, 2));`;

const curl = (url, field, method, params) => `curl -sN ${shellWord(url)} \\
  -H 'Content-Type: application/json' -H '${field}' \\
  -d '${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}'`;

// `[name, text]` of each kind of caller.
export function linesOf(agent) {
  const { id, protocol } = agent;
  const { a2a: url, mcp } = addressesOf(agent);
  const clients = [
    ["mcp.json", JSON.stringify({ mcpServers: { [id]: { type: "http", url: mcp } } }, null, 2)],
    ["Claude Code", `claude mcp add --transport http ${shellWord(id)} ${shellWord(mcp)}`],
    ["Inspector", `npx @modelcontextprotocol/inspector --cli ${shellWord(mcp)} --transport http --method tools/list`],
  ];
  const sdks = [
    ["@a2a-js/sdk 0.3.14", sdk("0.3.14", url, "", "", 'kind: "message", role: "user", parts: [{ kind: "text", text: "Hello" }]', "")],
    ["@a2a-js/sdk 1.3.0", sdk("1.3.0", url, 'import { SendMessageRequest } from "@a2a-js/sdk";\n', "SendMessageRequest.fromJSON(", 'role: "ROLE_USER", parts: [{ text: "Hello" }]', ")")],
  ];
  return protocol === "mcp"
    ? [["curl", curl(mcp, "Accept: application/json, text/event-stream", "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "curl", version: "1" } })],
      ["cardea", `cardea call ${shellWord(id)} --tool NAME --args '{}'`], ...clients, ...sdks]
    : [["curl", curl(url, "A2A-Version: 1.0", "SendMessage", { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello" }] } })],
      ["cardea", `cardea call ${shellWord(id)} Hello --stream`], ...sdks, ...clients];
}

export function Connect({ agent }) {
  const [shown, show] = useState(0);
  const lines = linesOf(agent);
  return html`<section class="panel"><h2>Connect</h2>
    <span class="choices" role="group" aria-label="Kind of caller">${lines.map(([name], i) => html`<button aria-pressed=${i === shown} onClick=${() => show(i)}>${name}</button>`)}</span>
    <${Block} text=${lines[shown][1]} label=${lines[shown][0]} /></section>`;
}
