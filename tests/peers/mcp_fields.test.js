// Which header fields of real clients reach a server behind the gateway: those of MCP, of traces and those that its record lets pass, and
// none that says who the caller is. No suite notices a field that is lost.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { HttpServer } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { startRoundRobin } from './support/round_robin.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const traced = { Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', Tracestate: 'vendor=1' };
const headers = {
    ...traced,
    'X-Tenant': 'tenant-1',
    'X-Other': 'other',
    Authorization: 'Bearer of-the-caller',
    Cookie: 'session=of-the-caller',
    'Proxy-Authorization': 'Basic b2Y6Y2FsbGVy',
    'X-Forwarded-For': '192.0.2.1',
    Forwarded: 'for=192.0.2.1',
};
const never = ['authorization', 'cookie', 'proxy-authorization', 'forwarded', 'x-forwarded-for', 'x-other'];
const info = { name: 'test', version: '1' };

let folder;
let gateway;
let legacy;
const modern = new HttpServer(file('support/mcp_modern_server.js'), 'http');
const recorders = {};
let seen = [];

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-fields-'));
    await writeFile(path.join(folder, 'tools'), 'first\n');
    legacy = new HttpServer(file('support/mcp_server_v2.js'), 'legacy-http', path.join(folder, 'tools'));
    await Promise.all([modern.start(), legacy.start()]);
    const mcpServers = {};
    for (const [id, { origin }] of Object.entries({ modern, legacy, translated: modern })) {
        recorders[id] = await startRoundRobin([origin], (request) => seen.push({ id, ...request }));
        mcpServers[id] = {
            type: 'streamable-http',
            url: `${recorders[id].base}mcp`,
            start: 'lazy',
            headers: { 'X-Own': 'of-the-operator' },
            forward_headers: ['X-Tenant'],
        };
    }
    // Which arguments are repeated in header fields, the gateway knows from its own session.
    mcpServers.translated.start = 'eager';
    gateway = await startConfiguredGateway({ mcpServers });
    const ready = async () => {
        while (!gateway.log.some((line) => line.includes('"agent":"translated"') && line.includes('"state":"ready"'))) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(ready(), 'session of the gateway', 20_000);
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(recorders).map(({ stop }) => stop()));
    await Promise.all([modern, legacy].map((server) => server?.kill()));
    await rm(folder, { recursive: true });
}, patience);

beforeEach(() => {
    seen = [];
});

const url = (id) => new URL(`${gateway.base}agents/${id}/mcp`);

// Of a caller are the requests that are traced: the gateway's own session has nothing to pass on.
function ofCallers() {
    const all = seen.filter((request) => request.headers.traceparent !== undefined);
    for (const request of all) {
        assert.equal(request.headers.traceparent, traced.Traceparent);
        assert.equal(request.headers.tracestate, traced.Tracestate);
        assert.equal(request.headers['x-tenant'], 'tenant-1');
        assert.equal(request.headers['x-own'], 'of-the-operator');
        assert.match(request.headers['user-agent'], /^(node|cardea\/)/); // the client's, or that of what the gateway asks itself
        never.forEach((name) => assert.equal(request.headers[name], undefined, name));
    }
    return all;
}

const calls = (method) => ofCallers().filter(({ message }) => message?.method === method);
const base64 = (text) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

function checkModern(method, name) {
    const found = calls(method);
    assert.ok(found.length > 0, method);
    for (const request of found) {
        assert.equal(request.headers['mcp-protocol-version'], '2026-07-28');
        assert.equal(request.headers['mcp-method'], method);
        assert.equal(request.headers['mcp-name'], name);
        assert.match(request.headers['content-type'], /^application\/json/);
        assert.match(request.headers.accept, /application\/json/);
        assert.match(request.headers.accept, /text\/event-stream/);
    }
    return found;
}

async function useModernServer(client) {
    await client.listTools();
    await client.callTool({ name: 'where', arguments: { region: 'eu-1' } });
    await client.callTool({ name: 'where', arguments: { region: 'Köln' } });
    await client.readResource({ uri: 'test://one' });
    await client.getPrompt({ name: 'greet', arguments: { name: 'you' } });
    await client.close();
}

function checkModernServer() {
    checkModern('tools/list', undefined);
    checkModern('resources/read', 'test://one');
    checkModern('prompts/get', 'greet');
    const regions = checkModern('tools/call', 'where').map((request) => request.headers['mcp-param-region']);
    assert.deepEqual(regions, ['eu-1', base64('Köln')]);
}

describe('header fields', () => {
    test('those of a client of the modern era arrive, and its credentials do not', patience, async () => {
        const client = new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
        await client.connect(new HttpV2(url('modern'), { requestInit: { headers } }));
        await useModernServer(client);
        checkModernServer();
    });

    test('those of a client of the legacy era arrive, of its stream and its end too', patience, async () => {
        const client = new ClientV1(info);
        const transport = new HttpV1(url('legacy'), { requestInit: { headers } });
        await client.connect(transport);
        await client.listTools();
        await client.callTool({ name: 'first', arguments: {} });
        const listens = async () => {
            while (!ofCallers().some(({ method }) => method === 'GET')) {
                await new Promise((resolve) => setTimeout(resolve, 5));
            }
        };
        await within(listens(), 'stream of the session');
        await transport.terminateSession();
        await client.close();
        const all = ofCallers();
        const [initialize] = calls('initialize');
        assert.equal(initialize.headers['mcp-session-id'], undefined);
        const later = all.filter((request) => request !== initialize);
        assert.deepEqual([...new Set(later.map(({ method }) => method))].sort(), ['DELETE', 'GET', 'POST']);
        for (const request of later) {
            assert.equal(request.headers['mcp-protocol-version'], '2025-11-25');
            // The server's own: the client has another one.
            assert.match(request.headers['mcp-session-id'], /^[0-9a-f-]{36}$/);
            assert.notEqual(request.headers['mcp-session-id'], transport.sessionId);
        }
        assert.match(later.find(({ method }) => method === 'GET').headers.accept, /text\/event-stream/);
    });

    test('the place to go on from arrives as the client names it', patience, async () => {
        const client = new ClientV1(info);
        const transport = new HttpV1(url('legacy'), { requestInit: { headers } });
        await client.connect(transport);
        const fields = { ...headers, Accept: 'text/event-stream', 'Mcp-Session-Id': transport.sessionId, 'Last-Event-ID': 'stream/7' };
        const answer = await fetch(url('legacy'), { headers: fields });
        await answer.body?.cancel();
        const asked = ofCallers().filter((request) => request.headers['last-event-id'] !== undefined);
        assert.deepEqual(asked.map((request) => request.headers['last-event-id']), ['stream/7']);
        await client.close();
    });

    test('a client of the legacy era has those of the modern one made for it', patience, async () => {
        const client = new ClientV1(info);
        await client.connect(new HttpV1(url('translated'), { requestInit: { headers } }));
        await useModernServer(client);
        checkModernServer();
    });
});
