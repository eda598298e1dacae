// A server that speaks only the modern era, by the packages of the TypeScript SDK's second line: argv[2] is `stdio` or `http`, and
// over HTTP argv[3] the port.
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import { listen } from './growing_tools.js';

const [, , kind, port] = process.argv;
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const strings = (...names) =>
    fromJsonSchema({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required: names });
const confirmation = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] };
const servers = new Set();
let updated = (uri) => servers.forEach((server) => server.server.sendResourceUpdated({ uri }));

function make() {
    const server = new McpServer(
        { name: 'modern', version: '1.50' },
        { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: 'Be kind.' },
    );
    servers.add(server);
    server.registerTool('echo', { inputSchema: strings('message') }, async ({ message }) => text(message));
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    server.registerTool(
        'where',
        { inputSchema: fromJsonSchema({ type: 'object', properties: { region }, required: ['region'] }) },
        async ({ region: named }) => text(named),
    );
    server.registerTool('steps', { inputSchema: strings() }, async (_, { mcpReq }) => {
        for (const progress of [1, 2, 3]) {
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: mcpReq._meta.progressToken, progress } });
        }
        return text('done');
    });
    server.registerTool('log', { inputSchema: strings() }, async (_, { mcpReq }) => {
        await mcpReq.log('info', 'logged');
        return text('done');
    });
    server.registerTool('confirm', { inputSchema: strings() }, async (_, { mcpReq }) => {
        const accepted = acceptedContent(mcpReq.inputResponses, 'sure');
        if (accepted === undefined) {
            const sure = inputRequired.elicit({ message: 'Sure?', requestedSchema: confirmation });
            return inputRequired({ inputRequests: { sure, where: inputRequired.listRoots() }, requestState: 'state é' });
        }
        const state = mcpReq.requestState();
        return text(`${accepted.confirm} ${mcpReq.inputResponses.where.roots[0].uri} ${state}`);
    });
    server.registerTool('touch', { inputSchema: strings() }, async () => {
        await updated('test://one');
        return text('touched');
    });
    server.registerResource('one', 'test://one', {}, async (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
    server.registerPrompt('greet', { argsSchema: strings('name') }, async ({ name }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${name}` } }],
    }));
    return server;
}

if (kind === 'stdio') {
    serveStdio(make, { legacy: 'reject' });
} else {
    const handler = createMcpHandler(make, { legacy: 'reject' });
    updated = (uri) => handler.notify.resourceUpdated(uri);
    listen(port, toNodeHandler(handler));
}
