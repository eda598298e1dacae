// MCP clients that none of us wrote call MCP servers that none of us wrote and that are programs or speak HTTP+SSE, directly and
// through the gateway over HTTP, and get the same.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const server = (name) => fileURLToPath(new URL(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const info = { name: 'test', version: '1' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const v1 = { make: () => new ClientV1(info, { capabilities }), Transport: HttpV1 };
const clients = {
    'sdk 1.32': v1,
    'client 2.4, legacy': { make: () => new ClientV2(info, { versionNegotiation: { mode: 'legacy' } }), Transport: HttpV2 },
};
// It chooses the modern era, which is translated for servers that do not speak it: see mcp_translation.test.js.
const auto = { make: () => new ClientV2(info, { versionNegotiation: { mode: 'auto' } }), Transport: HttpV2 };

let gateway;
let folder;
let overSse;
const programs = {};

before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'cardea-programs-')));
    await writeFile(path.join(folder, 'a.txt'), 'first line\nsecond grüße\n');
    const node = (...args) => ({ command: process.execPath, args });
    programs.everything = node(server('everything'), 'stdio');
    programs.filesystem = node(server('filesystem'), folder);
    programs.memory = { ...node(server('memory')), env: { MEMORY_FILE_PATH: path.join(folder, 'memory.json') } };
    const usual = { start: 'lazy', max_sessions: 32 };
    const mcpServers = Object.fromEntries(Object.entries(programs).map(([id, how]) => [id, { ...how, ...usual }]));
    mcpServers.filtered = {
        ...programs.everything,
        ...usual,
        tools: { deny: ['trigger-*', 'toggle-*'], rename: { echo: 'say' }, describe: { say: 'Says it again' } },
    };
    // The last argument means nothing to the server: its processes are known by it.
    mcpServers.doomed = { ...node(server('everything'), 'stdio', path.join(folder, 'doomed')), ...usual };
    const tools = path.join(folder, 'tools');
    await writeFile(tools, 'first\nsecond\n');
    const v2 = fileURLToPath(new URL('support/mcp_server_v2.js', import.meta.url));
    for (const kind of ['modern-stdio', 'dual-stdio']) {
        mcpServers[kind] = node(v2, kind, tools, path.join(folder, `${kind}.pids`));
    }
    mcpServers.few = { ...programs.everything, ...usual, max_sessions: 1, warm: 0 };
    overSse = await startEverything('sse');
    mcpServers.sse = { type: 'sse', url: overSse.url, ...usual };
    gateway = await startConfiguredGateway({ mcpServers });
}, patience);

after(async () => {
    await gateway?.stop();
    await overSse?.kill();
    await rm(folder, { recursive: true, force: true });
}, patience);

const through = (id) => new URL(`${gateway.base}agents/${id}/mcp`);

async function connect({ make, Transport }, id, prepare = () => {}) {
    const client = make();
    prepare(client);
    const transport = new Transport(through(id));
    await client.connect(transport);
    return { client, transport, close: () => client.close() };
}

async function connectDirectly({ make }, id, prepare = () => {}) {
    const client = make();
    prepare(client);
    await client.connect(new StdioClientTransport({ ...programs[id], stderr: 'ignore' }));
    return { client, close: () => client.close() };
}

// What `act` finds directly, with the client of the SDK, and through the gateway.
async function both(kind, id, act, prepare) {
    const found = [];
    for (const begin of [() => connectDirectly(v1, id, prepare), () => connect(kind, id, prepare)]) {
        const connected = await begin();
        try {
            found.push(await act(connected));
        } finally {
            await connected.close();
        }
    }
    return found;
}

const answering = (client) => {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
        model: 'm', role: 'assistant', content: { type: 'text', text: `sampled ${params.messages[0].content.text.length > 0}` },
    }));
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }));
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
};

const steady = (value) => JSON.parse(JSON.stringify(value, (key, member) => (/timestamp|lastModified/i.test(key) ? '' : member)));
const callTool = (client, call, options) => (client instanceof ClientV2 ? client.callTool(call, options) : client.callTool(call, undefined, options));

// The processes with this text in their command line.
function pids(text) {
    const all = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return all.filter((line) => line.includes(text)).map((line) => Number.parseInt(line, 10));
}

async function until(reached, what) {
    const poll = async () => {
        while (!(await reached())) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(poll(), what, 20_000);
}

const raw = (id, method, headers, body) =>
    fetch(through(id), {
        method,
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
        body,
    });

async function manyClients() {
    const one = async (number) => {
        const { client, close } = await connect(v1, 'sse');
        for (let i = 0; i < 10; i += 1) {
            const message = `client ${number}, call ${i}`;
            const { content } = await client.callTool({ name: 'echo', arguments: { message } });
            assert.ok(content[0].text.endsWith(message), content[0].text);
        }
        return close;
    };
    const ends = await Promise.all(Array.from({ length: 20 }, (_, number) => one(number)));
    await Promise.all(ends.map((end) => end()));
}

for (const [name, kind] of Object.entries(clients)) {
    describe(`${name} with server-everything over stdio`, () => {
        test('lists, calls, reads and completes as directly', patience, async () => {
            const [direct, passed] = await both(kind, 'everything', async ({ client }) => ({
                tools: await client.listTools(),
                prompts: await client.listPrompts(),
                resources: await client.listResources(),
                echo: await client.callTool({ name: 'echo', arguments: { message: 'grüße \u{1f600}' } }),
                sum: await client.callTool({ name: 'get-sum', arguments: { a: 1.5, b: -2 } }),
                image: await client.callTool({ name: 'get-tiny-image', arguments: {} }),
                instructions: client.getInstructions(),
                capabilities: client.getServerCapabilities(),
            }));
            assert.ok(direct.tools.tools.length > 5);
            if (kind === v1) {
                assert.deepEqual(steady(passed), steady(direct));
            } else {
                // Other capabilities of the client: the server lists other tools.
                assert.deepEqual(steady({ ...passed, tools: 0 }), steady({ ...direct, tools: 0 }));
            }
        });

        test('progress comes while the call runs', patience, async () => {
            const { client, close } = await connect(kind, 'everything');
            const steps = [];
            const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
            await callTool(client, call, { onprogress: ({ progress }) => steps.push(progress) });
            assert.deepEqual(steps, [1, 2, 3, 4]);
            await close();
        });
    });
}

describe('sdk 1.32 with other programs', () => {
    test('server-filesystem reads and lists as directly', patience, async () => {
        const [direct, passed] = await both(v1, 'filesystem', async ({ client }) => ({
            tools: await client.listTools(),
            text: await client.callTool({ name: 'read_text_file', arguments: { path: path.join(folder, 'a.txt') } }),
            none: await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } }),
        }));
        assert.match(JSON.stringify(direct.text), /second grüße/);
        assert.deepEqual(passed, direct);
    });

    test('server-memory keeps what it is told within a session', patience, async () => {
        const { client, close } = await connect(v1, 'memory');
        await client.callTool({ name: 'create_entities', arguments: { entities: [{ name: 'n', entityType: 't', observations: ['o'] }] } });
        const { content } = await client.callTool({ name: 'read_graph', arguments: {} });
        assert.match(content[0].text, /"n"/);
        await close();
    });
});

describe('what a program asks its client', () => {
    test('sampling, elicitation and roots reach the client whose call it is', patience, async () => {
        const [direct, passed] = await both(v1, 'everything', async ({ client }) => ({
            sampled: await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } }),
            elicited: await client.callTool({ name: 'trigger-elicitation-request', arguments: {} }),
            roots: await client.callTool({ name: 'get-roots-list', arguments: {} }),
        }), answering);
        assert.match(JSON.stringify(direct.sampled), /sampled true/);
        assert.deepEqual(passed, direct);
    });

    test('log messages and updates come over the stream of the session', patience, async () => {
        const heard = { logs: 0, updates: [] };
        const { client, close } = await connect(v1, 'everything', (of) => {
            of.setNotificationHandler(LoggingMessageNotificationSchema, () => { heard.logs += 1; });
            of.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.updates.push(params.uri));
        });
        const { resources } = await client.listResources();
        await client.setLoggingLevel('debug');
        await client.subscribeResource({ uri: resources[0].uri });
        await client.callTool({ name: 'toggle-simulated-logging', arguments: {} });
        await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
        await until(() => heard.updates.includes(resources[0].uri) && heard.logs > 0, 'an update and a log message');
        await client.unsubscribeResource({ uri: resources[0].uri });
        await close();
    });
});

describe('sessions with programs', () => {
    test('a call that the client cancels ends, and the session goes on', patience, async () => {
        const { client, close } = await connect(v1, 'everything');
        const cancel = new AbortController();
        const call = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 300 } };
        const onprogress = () => cancel.abort();
        await assert.rejects(client.callTool(call, undefined, { signal: cancel.signal, onprogress }));
        const { content } = await client.callTool({ name: 'echo', arguments: { message: 'still there' } });
        assert.match(content[0].text, /still there$/);
        await close();
    });

    test('DELETE ends the program, and the session is not found afterwards', patience, async () => {
        const { client, transport } = await connect(v1, 'few');
        const id = transport.sessionId;
        assert.ok(id.length > 40 && id.length <= 512);
        const other = await raw('few', 'POST', {}, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
        assert.equal(other.status, 503);
        assert.equal((await other.json()).error.data.code, 'session_limit');
        assert.equal((await raw('everything', 'POST', { 'Mcp-Session-Id': id }, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status, 404);
        await transport.terminateSession();
        await client.close();
        const gone = await raw('few', 'POST', { 'Mcp-Session-Id': id }, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
        assert.equal(gone.status, 404);
        assert.equal((await gone.json()).error.code, -32001);
        // The place of the ended session is waited for until its program has exited.
        const next = await connect(v1, 'few');
        await next.transport.terminateSession();
        await next.close();
    });

    test('a program that is killed during a call fails that call only, and its session goes on', patience, async () => {
        const bystander = await connect(v1, 'filesystem');
        const { client, close } = await connect(v1, 'doomed');
        const steps = [];
        const call = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 300 } };
        const failed = client.callTool(call, undefined, { onprogress: ({ progress }) => steps.push(progress) })
            .then(() => assert.fail('it was answered'), ({ code, data }) => ({ code, data }));
        await until(() => steps.length > 0, 'progress');
        const running = pids(path.join(folder, 'doomed'));
        assert.ok(running.length > 0);
        running.forEach((pid) => process.kill(pid, 'SIGKILL'));
        assert.equal((await within(failed, 'the failure', 20_000)).data.code, 'upstream_reset');
        const { content } = await client.callTool({ name: 'echo', arguments: { message: 'back again' } });
        assert.match(content[0].text, /back again$/);
        assert.ok((await bystander.client.listTools()).tools.length > 0);
        await bystander.close();
        await close();
    });

    test('a call without a session gets a program of its own, which ends with it', patience, async () => {
        const body = { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'echo', arguments: { message: 'alone' } } };
        const answer = await raw('everything', 'POST', { 'MCP-Protocol-Version': '2025-06-18' }, JSON.stringify(body));
        assert.equal(answer.status, 200);
        const text = await answer.text();
        assert.match(text, /alone/);
        assert.match(text, /"id":"x"/);
        assert.equal(answer.headers.get('mcp-session-id'), null);
    });
});

describe('a server that speaks HTTP+SSE', () => {
    for (const [name, kind] of Object.entries({ ...clients, 'client 2.4, auto': auto })) {
        test(`${name} lists, calls and hears of progress`, patience, async () => {
            const { client, close } = await connect(kind, 'sse');
            assert.ok((await client.listTools()).tools.length > 5);
            const { content } = await client.callTool({ name: 'echo', arguments: { message: 'grüße' } });
            assert.match(content[0].text, /grüße$/);
            const steps = [];
            const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
            await callTool(client, call, { onprogress: ({ progress }) => steps.push(progress) });
            assert.deepEqual(steps, [1, 2, 3, 4]);
            await close();
        });
    }

    test('what it asks reaches its client, and a session ends', patience, async () => {
        const { client, transport, close } = await connect(v1, 'sse', answering);
        const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } });
        assert.match(JSON.stringify(sampled), /sampled true/);
        const id = transport.sessionId;
        await transport.terminateSession();
        await close();
        assert.equal((await raw('sse', 'POST', { 'Mcp-Session-Id': id }, '{"jsonrpc":"2.0","id":1,"method":"ping"}')).status, 404);
    });

    test('twenty clients with the same ids get their own answers', patience, manyClients);
});

describe('programs that speak the modern era', () => {
    for (const id of ['modern-stdio', 'dual-stdio']) {
        test(`${id}: client 2.4 lists and calls in that era`, patience, async () => {
            await until(async () => (await fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`)).status === 200, 'the card');
            const { client, close } = await connect(auto, id);
            assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map(({ name }) => name), ['first', 'second']);
            assert.deepEqual((await client.callTool({ name: 'first', arguments: {} })).content, []);
            await assert.rejects(client.callTool({ name: 'none', arguments: {} }), ({ code }) => code === -32602);
            await close();
        });
    }

    test('one program of both eras serves a legacy client in its own', patience, async () => {
        const { client, close } = await connect(v1, 'dual-stdio');
        assert.equal((await client.listTools()).tools.length, 2);
        await close();
    });
});

describe('a program of which callers get a part', () => {
    test('hidden tools are not listed and cannot be called, renamed ones are called by their new name', patience, async () => {
        const { client, close } = await connect(v1, 'filtered');
        const { tools } = await client.listTools();
        const names = tools.map(({ name }) => name);
        assert.ok(names.includes('say'));
        assert.equal(tools.find(({ name }) => name === 'say').description, 'Says it again');
        assert.ok(!names.some((name) => name === 'echo' || name.startsWith('trigger-') || name.startsWith('toggle-')), names.join());
        const { content } = await client.callTool({ name: 'say', arguments: { message: 'm' } });
        assert.match(content[0].text, /m$/);
        for (const name of ['echo', 'toggle-simulated-logging']) {
            await assert.rejects(client.callTool({ name, arguments: {} }), ({ code }) => code === -32602);
        }
        await close();
    });
});
