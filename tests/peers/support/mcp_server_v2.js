// MCP servers by the packages of the TypeScript SDK's second line: argv[2] says of which era and over what, argv[3] names the
// file of tools, argv[4] the file for the process id, or the port.
import { randomUUID } from 'node:crypto';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import { description, growing, listen, tellPid } from './growing_tools.js';

const [, , kind, toolsFile, place] = process.argv;
const live = new Set();
const addTo = (server, name) => server.registerTool(name, { description: description(name) }, async () => ({ content: [] }));
let changed = () => {};
const tools = growing(toolsFile, (name) => {
    live.forEach((server) => addTo(server, name));
    changed();
});

function make() {
    const server = new McpServer({ name: kind, version: '2.0.0' });
    tools.forEach((name) => addTo(server, name));
    return server;
}

function makeLive() {
    const server = make();
    live.add(server);
    return server;
}

// Sessions as the legacy era has them; one that is not known is 404.
function sessions() {
    const transports = new Map();
    return async (request, response) => {
        const id = request.headers['mcp-session-id'];
        if (id !== undefined && !transports.has(id)) {
            response.writeHead(404).end();
            return;
        }
        let transport = transports.get(id);
        if (transport === undefined) {
            transport = new NodeStreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (made) => transports.set(made, transport),
            });
            await makeLive().connect(transport);
        }
        await transport.handleRequest(request, response);
    };
}

const kinds = {
    'modern-stdio': () => serveStdio(makeLive, { legacy: 'reject' }),
    'dual-stdio': () => serveStdio(makeLive),
    'legacy-stdio': () => makeLive().connect(new StdioServerTransport()),
    'modern-http': () => {
        const handler = createMcpHandler(make, { legacy: 'reject' });
        changed = () => handler.notify.toolsChanged();
        listen(place, toNodeHandler(handler));
    },
    'legacy-http': () => listen(place, sessions()),
};

if (kind.endsWith('stdio')) {
    tellPid(place);
}
await kinds[kind]();
