// An MCP server by the TypeScript SDK that has one tool for each line of the file argv[2] whenever it is asked, and never
// says that they have changed.
import { readFileSync } from 'node:fs';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const server = new Server({ name: 'quiet', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: readFileSync(process.argv[2], 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
await server.connect(new StdioServerTransport());
