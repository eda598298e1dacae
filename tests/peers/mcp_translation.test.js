// A client of the modern era that none of us wrote calls MCP servers of the legacy era that none of us wrote, through the gateway, and
// gets what a client of the legacy era gets directly.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const server = (name) => fileURLToPath(new URL(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const info = { name: 'test', version: '1' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} };

let gateway;
let folder;
let overHttp;
const programs = {};

async function until(reached, what) {
    const poll = async () => {
        while (!(await reached())) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(poll(), what, 20_000);
}

const hasCard = async (id) => (await fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`)).status === 200;

before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'cardea-translation-')));
    await writeFile(path.join(folder, 'a.txt'), 'first line\nsecond grüße\n');
    const node = (...args) => ({ command: process.execPath, args });
    programs.everything = node(server('everything'), 'stdio');
    programs.filesystem = node(server('filesystem'), folder);
    programs.memory = { ...node(server('memory')), env: { MEMORY_FILE_PATH: path.join(folder, 'memory.json') } };
    const mcpServers = Object.fromEntries(Object.entries(programs).map(([id, how]) => [id, { ...how, max_sessions: 32 }]));
    mcpServers.lazy = { ...programs.everything, start: 'lazy' };
    await writeFile(path.join(folder, 'tools'), 'first\n');
    const growing = fileURLToPath(new URL('support/mcp_server_v2.js', import.meta.url));
    mcpServers.growing = node(growing, 'legacy-stdio', path.join(folder, 'tools'), path.join(folder, 'pids'));
    overHttp = await startEverything('streamableHttp');
    mcpServers.http = { type: 'streamable-http', url: overHttp.url };
    // Clients of both eras would begin a session.
    for (const each of Object.values(mcpServers)) each.sessionless = 'fresh';
    mcpServers.both = programs.everything;
    mcpServers['both-http'] = { type: 'streamable-http', url: overHttp.url };
    gateway = await startConfiguredGateway({ mcpServers });
    await until(async () => (await Promise.all([...Object.keys(programs), 'growing', 'http', 'both', 'both-http'].map(hasCard))).every(Boolean), 'the cards');
}, patience);

after(async () => {
    await gateway?.stop();
    await overHttp?.kill();
    await rm(folder, { recursive: true, force: true });
}, patience);

async function connect(id, declares = {}) {
    const client = new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: declares });
    if (declares.sampling) {
        client.setRequestHandler('sampling/createMessage', async () => ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }));
        client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
        client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
    }
    await client.connect(new HttpV2(new URL(`${gateway.base}agents/${id}/mcp`)));
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    return client;
}

async function connectDirectly(id) {
    const client = new ClientV1(info, { capabilities: {} });
    await client.connect(new StdioClientTransport({ ...programs[id], stderr: 'ignore' }));
    return client;
}

// Without what the modern era adds, and what differs from one process to the next.
const steady = (value) => JSON.parse(JSON.stringify(value, (key, member) => {
    if (['resultType', 'ttlMs', 'cacheScope', 'execution'].includes(key)) return undefined;
    return /timestamp|lastModified/i.test(key) ? '' : member;
}));

async function both(id, act, directId = id) {
    const direct = await connectDirectly(directId);
    const passed = await connect(id);
    try {
        return [steady(await act(direct)), steady(await act(passed))];
    } finally {
        await direct.close();
        await passed.close();
    }
}

for (const id of ['everything', 'lazy', 'http']) {
    describe(`server-everything, as ${id}`, () => {
        test('lists, calls, reads and completes as directly', patience, async () => {
            const [direct, passed] = await both(id, async (client) => ({
                tools: await client.listTools(),
                prompts: await client.listPrompts(),
                resources: await client.listResources(),
                templates: await client.listResourceTemplates(),
                echo: await client.callTool({ name: 'echo', arguments: { message: 'grüße \u{1f600}' } }),
                sum: await client.callTool({ name: 'get-sum', arguments: { a: 1.5, b: -2 } }),
                prompt: await client.getPrompt({ name: 'simple-prompt' }),
                unknown: await client.callTool({ name: 'no-such-tool', arguments: {} }).catch(({ code }) => code),
                instructions: client.getInstructions(),
            }), 'everything');
            assert.ok(direct.tools.tools.length > 5);
            assert.deepEqual(passed, direct);
        });

        test('progress comes while the call runs', patience, async () => {
            const client = await connect(id);
            const steps = [];
            const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
            await client.callTool(call, { onprogress: ({ progress }) => steps.push(progress) });
            assert.deepEqual(steps, [1, 2, 3, 4]);
            await client.close();
        });

        test('what the server asks is asked of the client', patience, async () => {
            const client = await connect(id, capabilities);
            const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } });
            assert.match(JSON.stringify(sampled), /sampled/);
            const elicited = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
            assert.match(JSON.stringify(elicited), /decline/);
            await client.close();
        });
    });
}

for (const id of ['both', 'both-http']) {
    test(`a client of both eras has a session with a legacy server, and gets what it gets directly: ${id}`, patience, async () => {
        const direct = new ClientV1(info, { capabilities });
        await direct.connect(new StdioClientTransport({ ...programs.everything, stderr: 'ignore' }));
        const client = new ClientV2(info, { versionNegotiation: { mode: 'auto' }, capabilities });
        client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
        await client.connect(new HttpV2(new URL(`${gateway.base}agents/${id}/mcp`)));
        assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25');
        const names = ({ tools }) => tools.map(({ name }) => name);
        await until(async () => names(await client.listTools()).length === names(await direct.listTools()).length, 'all tools');
        assert.deepEqual(names(await client.listTools()), names(await direct.listTools()));
        await direct.close();
        await client.close();
    });
}

describe('other programs', () => {
    test('server-filesystem reads and lists as directly', patience, async () => {
        const [direct, passed] = await both('filesystem', async (client) => ({
            tools: await client.listTools(),
            text: await client.callTool({ name: 'read_text_file', arguments: { path: path.join(folder, 'a.txt') } }),
            none: await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/passwd' } }),
        }));
        assert.match(JSON.stringify(direct.text), /second grüße/);
        assert.deepEqual(passed, direct);
    });

    test('server-memory keeps in its file what it is told', patience, async () => {
        const client = await connect('memory');
        await client.callTool({ name: 'create_entities', arguments: { entities: [{ name: 'n', entityType: 't', observations: ['o'] }] } });
        const { content } = await client.callTool({ name: 'read_graph', arguments: {} });
        assert.match(content[0].text, /"n"/);
        await client.close();
    });
});

describe('a server whose tools change', () => {
    test('a client that listens hears of it, and lists them', patience, async () => {
        const client = await connect('growing');
        assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['first']);
        assert.equal(client.getServerCapabilities().tools.listChanged, true);
        const meta = {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
            'io.modelcontextprotocol/clientInfo': info,
        };
        const notifications = { toolsListChanged: true, resourceSubscriptions: ['file:///r'] };
        const leave = new AbortController();
        const { status, body } = await fetch(`${gateway.base}agents/growing/mcp`, {
            method: 'POST',
            signal: leave.signal,
            headers: {
                'Content-Type': 'application/json',
                Accept: 'application/json, text/event-stream',
                'MCP-Protocol-Version': '2026-07-28',
                'Mcp-Method': 'subscriptions/listen',
            },
            body: JSON.stringify({ jsonrpc: '2.0', id: 'mine', method: 'subscriptions/listen', params: { notifications, _meta: meta } }),
        });
        assert.equal(status, 200);
        const told = [];
        const listening = (async () => {
            let text = '';
            for await (const piece of body.pipeThrough(new TextDecoderStream())) {
                text += piece;
                const events = text.split('\n\n');
                text = events.pop();
                told.push(...events.filter((event) => event.includes('data: ')).map((event) => JSON.parse(event.split('data: ')[1])));
            }
        })().catch((problem) => problem);
        const subscription = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'mine' } };
        await until(() => told.length === 1, 'the acknowledgement');
        assert.equal(told[0].method, 'notifications/subscriptions/acknowledged');
        assert.deepEqual(told[0].params, { ...subscription, notifications: { toolsListChanged: true } });
        await appendFile(path.join(folder, 'tools'), 'second\n');
        await until(() => told.length === 2, 'the change');
        assert.equal(told[1].method, 'notifications/tools/list_changed');
        assert.deepEqual(told[1].params, subscription);
        assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['first', 'second']);
        leave.abort();
        await listening;
        await client.close();
    });
});
