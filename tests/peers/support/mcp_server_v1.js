// MCP servers by the TypeScript SDK's first line: argv[2] says over what, argv[3] names the file of tools, argv[4] the file for
// the process id, or the port.
import { randomUUID } from 'node:crypto';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { description, growing, listen, tellPid } from './growing_tools.js';

const [, , kind, toolsFile, place] = process.argv;
const live = new Set();
const addTo = (server, name) => server.registerTool(name, { description: description(name) }, async () => ({ content: [] }));
const tools = growing(toolsFile, (name) => live.forEach((server) => addTo(server, name)));

function make() {
    const server = new McpServer({ name: kind, version: '1.0.0' });
    tools.forEach((name) => addTo(server, name));
    live.add(server);
    return server;
}

// Sessions; one that is not known is 404.
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
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (made) => transports.set(made, transport),
            });
            await make().connect(transport);
        }
        await transport.handleRequest(request, response);
    };
}

if (kind === 'http') {
    listen(place, sessions());
} else {
    tellPid(place);
    await make().connect(new StdioServerTransport());
}
