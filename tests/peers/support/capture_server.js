// What public MCP servers have listed, said once more by the TypeScript SDK over streamable HTTP: the path names a capture in the
// folder argv[2], `times` has its tools that often, under names of their own. argv[3] is the port.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
    ListPromptsRequestSchema,
    ListResourcesRequestSchema,
    ListResourceTemplatesRequestSchema,
    ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { listen } from './growing_tools.js';

const [, , folder, port] = process.argv;
const pageSize = 100;
const lists = {
    tools: { schema: ListToolsRequestSchema, capability: 'tools' },
    resources: { schema: ListResourcesRequestSchema, capability: 'resources' },
    resourceTemplates: { schema: ListResourceTemplatesRequestSchema, capability: 'resources' },
    prompts: { schema: ListPromptsRequestSchema, capability: 'prompts' },
};

function repeated(tools, times) {
    return Array.from({ length: times }, (_, i) => tools.map((tool) => (i === 0 ? tool : { ...tool, name: `${tool.name}_${i}` }))).flat();
}

function make(url) {
    const capture = JSON.parse(readFileSync(path.join(folder, path.basename(url.pathname)), 'utf8'));
    const { serverInfo, capabilities, instructions } = capture.initialize;
    const server = new Server(serverInfo, { capabilities, instructions });
    const times = Number(url.searchParams.get('times') ?? 1);
    for (const [list, { schema, capability }] of Object.entries(lists)) {
        const items = list === 'tools' ? repeated(capture.tools, times) : capture[list];
        if (capabilities[capability] !== undefined && Array.isArray(items)) {
            server.setRequestHandler(schema, ({ params }) => {
                const from = Number(params?.cursor ?? 0);
                const nextCursor = from + pageSize < items.length ? String(from + pageSize) : undefined;
                return { [list]: items.slice(from, from + pageSize), nextCursor };
            });
        }
    }
    return server;
}

const transports = new Map();

listen(port, async (request, response) => {
    let transport = transports.get(request.headers['mcp-session-id']);
    if (transport === undefined) {
        transport = new StreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: (id) => transports.set(id, transport),
        });
        await make(new URL(request.url, 'http://localhost')).connect(transport);
    }
    await transport.handleRequest(request, response);
});
