// A program with one tool that runs until somebody kills it, and does not start a second time.
import { existsSync, writeFileSync } from "node:fs";

import { greeting, serve } from "./stdio.js";

if (existsSync(process.env.PROCESS_FILE)) {
  process.stderr.write("The data are locked.\n");
  process.exit(4);
}
writeFileSync(process.env.PROCESS_FILE, String(process.pid));
serve({
  initialize: () => greeting("quiet"),
  "tools/list": () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
  ping: () => ({}),
});
