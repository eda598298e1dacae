// An MCP server of 2024-11-05 over HTTP+SSE, by the last SDK that knew no later version: argv[2] names the file of tools,
// argv[3] the port.
import { McpServer } from 'mcp-sdk-2024/server/mcp.js';
import { SSEServerTransport } from 'mcp-sdk-2024/server/sse.js';

import { description, growing, listen } from './growing_tools.js';

const [, , toolsFile, port] = process.argv;
const live = new Set();
const addTo = (server, name) => server.tool(name, description(name), async () => ({ content: [] }));
const tools = growing(toolsFile, (name) => {
    for (const server of live) {
        addTo(server, name);
        server.server.sendToolListChanged();
    }
});
const transports = new Map();

async function open(response) {
    const transport = new SSEServerTransport('/message', response);
    const server = new McpServer({ name: 'sse', version: '0.1.0' }, { capabilities: { tools: { listChanged: true } } });
    tools.forEach((name) => addTo(server, name));
    transports.set(transport.sessionId, transport);
    live.add(server);
    server.server.onclose = () => {
        transports.delete(transport.sessionId);
        live.delete(server);
    };
    await server.connect(transport);
}

listen(port, async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const transport = transports.get(url.searchParams.get('sessionId'));
    if (request.method === 'GET' && url.pathname === '/sse') {
        await open(response);
    } else if (request.method === 'POST' && transport !== undefined) {
        await transport.handlePostMessage(request, response);
    } else {
        response.writeHead(404).end();
    }
});
