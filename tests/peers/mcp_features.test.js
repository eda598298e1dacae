// What a call can do beside being answered, of clients that none of us wrote with server-everything over each transport: progress, questions
// of the server to its client, and cancellation are as directly. Changed lists are told across eras and transports.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { remoteCommand } from './support/mcp_clients.js';
import { HttpServer, startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { Happenings, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const v2Server = file('support/mcp_server_v2.js');
const program = { command: process.execPath, args: [file('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'] };
const info = { name: 'test', version: '1' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const sampled = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } };
const declined = { action: 'decline' };
const roots = { roots: [{ uri: 'file:///r', name: 'r' }] };

let folder;
let gateway;
let wanted;
const started = [];

const isReady = (id) => gateway.log.some((line) => line.includes(`"agent":"${id}"`) && line.includes('"state":"ready"'));
const url = (id) => new URL(`${gateway.base}agents/${id}/mcp`);

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-features-'));
    await writeFile(path.join(folder, 'tools'), 'first\n');
    const own = (kind) => [v2Server, kind, path.join(folder, 'tools')];
    const http = { legacy: new HttpServer(...own('legacy-http')), modern: new HttpServer(...own('modern-http')) };
    const overHttp = await startEverything('streamableHttp');
    const overSse = await startEverything('sse');
    started.push(overHttp, overSse, ...Object.values(http));
    await Promise.all(Object.values(http).map((server) => server.start()));
    const usual = { max_sessions: 32, warm: 0 };
    const growing = (kind) => ({ command: process.execPath, args: [...own(kind), path.join(folder, 'pids')], ...usual });
    const mcpServers = {
        stdio: { ...program, ...usual },
        http: { type: 'streamable-http', url: overHttp.url },
        sse: { type: 'sse', url: overSse.url },
        'legacy-http': { type: 'streamable-http', url: `${http.legacy.origin}mcp` },
        'modern-http': { type: 'streamable-http', url: `${http.modern.origin}mcp` },
        'legacy-stdio': growing('legacy-stdio'),
        'modern-stdio': growing('modern-stdio'),
    };
    // Pinned clients of the modern era ask for server/discover.
    for (const each of Object.values(mcpServers)) each.sessionless = 'fresh';
    gateway = await startConfiguredGateway({ mcpServers });
    const ready = async () => {
        while (!Object.keys(mcpServers).every(isReady)) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(ready(), 'sessions of the gateway', 60_000);
    wanted = await answers(await connected(answeringV1(), new StdioV1({ ...program, stderr: 'ignore' })));
    assert.match(wanted.sampling.join(), /sampled/);
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(started.map((server) => server.kill()));
    await rm(folder, { recursive: true });
}, patience);

function answeringV1() {
    const client = new ClientV1(info, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, async () => sampled);
    client.setRequestHandler(ElicitRequestSchema, async () => declined);
    client.setRequestHandler(ListRootsRequestSchema, async () => roots);
    return client;
}

function answeringV2(mode) {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('sampling/createMessage', async () => sampled);
    client.setRequestHandler('elicitation/create', async () => declined);
    client.setRequestHandler('roots/list', async () => roots);
    return client;
}

async function connected(client, transport) {
    await client.connect(transport);
    const call = (name, given, options) => {
        const request = { name, arguments: given };
        return client instanceof ClientV2 ? client.callTool(request, options) : client.callTool(request, undefined, options);
    };
    return { call, close: () => client.close() };
}

const clients = {
    'sdk 1.32': (id) => connected(answeringV1(), new HttpV1(url(id))),
    'client 2.4, legacy': (id) => connected(answeringV2('legacy'), new HttpV2(url(id))),
    'client 2.4, pinned': (id) => connected(answeringV2({ pin: '2026-07-28' }), new HttpV2(url(id))),
    'mcp-remote': (id) => connected(answeringV1(), new StdioV1({ ...remoteCommand(url(id)), stderr: 'ignore' })),
};

// The answers of tools that ask the client.
async function answers({ call, close }) {
    const text = ({ content }) => content.map((each) => each.text);
    try {
        return {
            sampling: text(await call('trigger-sampling-request', { prompt: 'p', maxTokens: 5 })),
            elicitation: text(await call('trigger-elicitation-request', {})),
            roots: text(await call('get-roots-list', {})),
        };
    } finally {
        await close();
    }
}

for (const id of ['stdio', 'http', 'sse']) {
    describe(`server-everything over ${id}`, { concurrency: 2 }, () => {
        for (const [name, connect] of Object.entries(clients)) {
            test(`${name} answers what the server asks, as directly`, patience, async () => {
                assert.deepEqual(await answers(await connect(id)), wanted);
            });

            test(`${name} hears of progress, cancels, and goes on`, patience, async () => {
                const { call, close } = await connect(id);
                try {
                    const steps = [];
                    const long = (duration, count, options) => call('trigger-long-running-operation', { duration, steps: count }, options);
                    await long(0.2, 4, { onprogress: ({ progress }) => steps.push(progress) });
                    // The SDK forgets who hears of progress as soon as the answer is there, and tells of progress a turn later: a
                    // last step that comes in one read with the answer gets lost in the client.
                    assert.deepEqual(steps, [1, 2, 3, 4].slice(0, Math.max(3, steps.length)));
                    const leave = new AbortController();
                    await assert.rejects(long(60, 600, { signal: leave.signal, onprogress: () => leave.abort() }));
                    assert.match((await call('echo', { message: 'still there' })).content[0].text, /still there$/);
                } finally {
                    await close();
                }
            });
        }

        test('ai-sdk answers what the server asks', patience, async () => {
            const client = await createMCPClient({ transport: { type: 'http', url: url(id).href }, capabilities: { elicitation: {} } });
            client.onElicitationRequest(ElicitationRequestSchema, async () => declined);
            const { content } = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
            assert.match(JSON.stringify(content), /decline/);
            await client.close();
        });
    });
}

describe('a list that changes', () => {
    test('is told to clients of each era by servers of each era, over each transport', patience, async () => {
        const kinds = {
            'sdk 1.32': (options) => [new ClientV1(info, options), HttpV1],
            'client 2.4, legacy': (options) => [new ClientV2(info, { ...options, versionNegotiation: { mode: 'legacy' } }), HttpV2],
            'client 2.4, pinned': (options) => [new ClientV2(info, { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } }), HttpV2],
        };
        const told = new Happenings();
        const open = [];
        const cells = [];
        for (const id of ['legacy-http', 'modern-http', 'legacy-stdio', 'modern-stdio']) {
            for (const [name, make] of Object.entries(kinds)) {
                const cell = `${name}, ${id}`;
                const onChanged = (problem, tools) => told.add({ cell, problem, names: tools?.map((tool) => tool.name) });
                const [client, Transport] = make({ listChanged: { tools: { onChanged } } });
                await client.connect(new Transport(url(id)));
                assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), ['first'], cell);
                open.push(client);
                cells.push(cell);
            }
        }
        await appendFile(path.join(folder, 'tools'), 'second\n');
        for (const cell of cells) {
            const heard = await told.wanted((each) => each.cell === cell && each.names?.includes('second'), `news for ${cell}`);
            assert.deepEqual(heard.names, ['first', 'second']);
        }
        await Promise.all(open.map((client) => client.close()));
    });
});
