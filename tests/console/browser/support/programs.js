// MCP servers of these tests, as a configuration has them.
import { fileURLToPath } from "node:url";

const program = (file, args = [], env = {}) => ({ protocol: "mcp", transport: { type: "stdio", command: process.execPath,
  args: [fileURLToPath(new URL(file, import.meta.url)), ...args], env } });

export const everything = program("../../../peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js", ["stdio"]);

// Writes its process number into `file`, and does not start again while that is there.
export const quiet = (file) => program("quiet_program.js", [], { PROCESS_FILE: file });

// Has the tools of the file, which may change.
export const changing = (file) => program("changing_program.js", [], { TOOLS: file });

// `deep`: of the schema of its tool `deep`.
export const hostile = (deep) => program("hostile_program.js", [String(deep)]);

// Says what is missing, and ends.
export const missing = { protocol: "mcp", transport: { type: "stdio", command: "/bin/sh", args: ["-c", "echo 'TOKEN is missing' >&2; exit 3"] } };
