// An MCP server with 10,000 tools, a schema as deep as its argument says, and markup wherever there is text.
import { evil, long } from "./hostile.js";
import { greeting, serve } from "./stdio.js";

let deep = { type: "string", description: evil };
const levels = Number(process.argv[2]);
for (let i = 0; i < levels; ++i) deep = { type: "object", title: evil, properties: { inner: deep, [`at-${i}`]: { type: "string" } } };
const tools = Array.from({ length: 9998 }, (_, i) => ({
  name: `tool-${i}`,
  description: `${evil} ${i}`,
  inputSchema: { type: "object", properties: { text: { type: "string", description: evil }, [evil]: { type: "number" }, choice: { enum: [evil, "javascript:alert(6)"] } } },
}));
tools.unshift({ name: "deep", title: evil, description: evil, inputSchema: deep }, { name: "long", title: long, description: long, inputSchema: { type: "object" } });

process.stderr.write(`\u001b]0;title\u0007\u001b[31m${evil}\n`);
const page = 1000;
serve({
  initialize: () => greeting(evil, evil),
  "tools/list": ({ cursor = "0" }) => {
    const next = Number(cursor) + page;
    return { tools: tools.slice(Number(cursor), next), ...(next < tools.length && { nextCursor: String(next) }) };
  },
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: `${evil} got ${JSON.stringify(given)}` }, { type: "resource_link", uri: "javascript:alert(7)", name: evil }] }),
  ping: () => ({}),
});
