// An MCP server by the TypeScript SDK that writes its process id to the file argv[2], and has one tool more for each line of
// the file argv[3], as soon as it is there.
import { readFileSync } from 'node:fs';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

import { tellPid } from './growing_tools.js';

const [, , pidFile, toolsFile] = process.argv;
const server = new McpServer({ name: 'growing', version: '1.0.0' });
const known = new Set();

function addTools() {
    for (const name of readFileSync(toolsFile, 'utf8').split('\n').filter((each) => each && !known.has(each))) {
        known.add(name);
        server.registerTool(name, { description: `The tool ${name}` }, async () => ({ content: [] }));
    }
}

tellPid(pidFile);
addTools();
await server.connect(new StdioServerTransport());
setInterval(addTools, 20);
