// An MCP server whose tools are in the file TOOLS, which it reads for each list.
import { readFileSync } from "node:fs";

import { greeting, serve } from "./stdio.js";

serve({
  initialize: () => greeting("changing"),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(process.env.TOOLS, "utf8")) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: `called ${name}` }] }),
  ping: () => ({}),
});
