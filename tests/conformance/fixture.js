// A server for the conformance suite, by the packages of the TypeScript SDK's second line. argv[2] is `http` or `stdio`, argv[3] the
// era that it speaks: `both`, `legacy` or `modern`. Over HTTP argv[4] is the port, and standard output says which it is.
import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';

import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
    classifyInboundRequest,
    createMcpHandler,
    localhostAllowedHostnames,
    localhostAllowedOrigins,
    validateHostHeader,
    validateOriginHeader,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import { listen } from '../peers/support/growing_tools.js';
import { makeServer } from './fixture_features.js';

const [, , kind, era, port] = process.argv;

function answer(response, status, code, message) {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
}

// The events of one session, so that a client that comes back gets what it has missed.
function eventStore() {
    const events = [];
    return {
        storeEvent: async (stream, message) => `${stream}/${events.push({ stream, message }) - 1}`,
        replayEventsAfter: async (last, { send }) => {
            const [stream, number] = last.split('/');
            for (let i = Number(number) + 1; i < events.length; i += 1) {
                if (events[i].stream === stream && Object.keys(events[i].message).length > 0) {
                    await send(`${stream}/${i}`, events[i].message);
                }
            }
            return stream;
        },
    };
}

// What a tool of any of `made` calls when a list has changed: all of them list it again.
const telling = (made) => ({ tool: () => made.forEach(({ renew }) => renew.tool()), prompt: () => made.forEach(({ renew }) => renew.prompt()) });

function sessions() {
    const transports = new Map();
    const live = new Set();
    const open = async () => {
        const transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            eventStore: eventStore(),
            retryInterval: 500,
            onsessioninitialized: (id) => transports.set(id, transport),
            onsessionclosed: (id) => transports.delete(id),
        });
        const made = makeServer(telling(live));
        live.add(made);
        made.server.server.onclose = () => live.delete(made);
        await made.server.connect(transport);
        return transport;
    };
    return async (request, response, body) => {
        const id = request.headers['mcp-session-id'];
        if (id === undefined && body?.method !== 'initialize') {
            answer(response, 400, -32000, 'a session is needed');
        } else if (id !== undefined && !transports.has(id)) {
            answer(response, 404, -32001, 'Session not found');
        } else {
            await (transports.get(id) ?? (await open())).handleRequest(request, response, body);
        }
    };
}

function serveHttp() {
    const told = { tool: () => modern.notify.toolsChanged(), prompt: () => modern.notify.promptsChanged() };
    const modern = createMcpHandler(() => makeServer(told).server, { legacy: 'reject' });
    const serveModern = toNodeHandler(modern);
    const serveLegacy = sessions();
    const isLegacy = ({ method, headers }, body) =>
        classifyInboundRequest({
            httpMethod: method,
            protocolVersionHeader: headers['mcp-protocol-version'],
            mcpMethodHeader: headers['mcp-method'],
            body,
        }).kind === 'legacy';
    listen(port, async (request, response) => {
        const { host, origin } = request.headers;
        if (!validateHostHeader(host, localhostAllowedHostnames()).ok || !validateOriginHeader(origin, localhostAllowedOrigins()).ok) {
            answer(response, 403, -32000, 'not for this host or origin');
            return;
        }
        const body = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
        const legacy = era === 'legacy' || (era === 'both' && isLegacy(request, body));
        await (legacy ? serveLegacy : serveModern)(request, response, body);
    });
}

function serveProgram() {
    const live = new Set();
    const make = () => {
        const made = makeServer(telling(live));
        live.add(made);
        return made.server;
    };
    if (era === 'legacy') {
        return make().connect(new StdioServerTransport());
    }
    return serveStdio(make, { legacy: era === 'modern' ? 'reject' : 'serve' });
}

await (kind === 'http' ? serveHttp() : serveProgram());
