// MCP clients that none of us wrote call MCP servers that none of us wrote, directly and through the gateway over HTTP, and get
// the same.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { freePort, HttpServer } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const everything = file('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const info = { name: 'test', version: '1' };
const answers = {
    sampling: {},
    elicitation: { form: {} },
    roots: { listChanged: true },
};
const clients = {
    'sdk 1.32': { make: () => new ClientV1(info, { capabilities: answers }), Transport: HttpV1 },
    'client 2.4, legacy': { make: () => new ClientV2(info, { versionNegotiation: { mode: 'legacy' } }), Transport: HttpV2 },
    'client 2.4, auto': { make: () => new ClientV2(info, { versionNegotiation: { mode: 'auto' } }), Transport: HttpV2 },
};

let gateway;
let folder;
let child;
let modern;
const urls = {};

async function startEverything(port) {
    child = spawn(process.execPath, [everything, 'streamableHttp'], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
    const up = async () => {
        while (!(await fetch(`http://127.0.0.1:${port}/none`).then(() => true, () => false))) {
            assert.equal(child.exitCode, null);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(up(), 'server-everything', 20_000);
    return `http://127.0.0.1:${port}/mcp`;
}

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-calls-'));
    const tools = path.join(folder, 'tools');
    await writeFile(tools, 'first\nsecond\n');
    urls.everything = await startEverything(await freePort());
    modern = new HttpServer(file('support/mcp_server_v2.js'), 'modern-http', tools);
    await modern.start();
    urls.modern = `${modern.origin}mcp`;
    const mcpServers = {
        everything: { type: 'streamable-http', url: urls.everything, start: 'lazy' },
        modern: { type: 'streamable-http', url: urls.modern, start: 'lazy' },
        filtered: {
            type: 'streamable-http',
            url: urls.everything,
            tools: { deny: ['trigger-*', 'toggle-*'], rename: { echo: 'say' }, describe: { say: 'Says it again' } },
        },
    };
    gateway = await startConfiguredGateway({ mcpServers });
}, patience);

after(async () => {
    await gateway?.stop();
    child?.kill();
    await modern?.kill();
    await rm(folder, { recursive: true, force: true });
}, patience);

const through = (id) => `${gateway.base}agents/${id}/mcp`;

async function connect({ make, Transport }, url, prepare = () => {}) {
    const client = make();
    prepare(client);
    const transport = new Transport(new URL(url));
    await client.connect(transport);
    return { client, transport, close: () => client.close() };
}

// What `act` finds directly and through the gateway.
async function both(kind, id, act, prepare) {
    const found = [];
    for (const url of [urls[id], through(id)]) {
        const connected = await connect(kind, url, prepare);
        try {
            found.push(await act(connected));
        } finally {
            await connected.close();
        }
    }
    return found;
}

const steady = (value) => JSON.parse(JSON.stringify(value, (key, member) => (/timestamp|lastModified/i.test(key) ? '' : member)));

for (const [name, kind] of Object.entries(clients)) {
    describe(`${name} with server-everything`, () => {
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
            assert.deepEqual(steady(passed), steady(direct));
        });

        test('an unknown tool fails as directly', patience, async () => {
            const [direct, passed] = await both(kind, 'everything', ({ client }) =>
                client.callTool({ name: 'no-such-tool', arguments: {} }).then((result) => ({ result }), ({ code, message }) => ({ code, message })));
            assert.deepEqual(passed, direct);
        });

        test('progress comes while the call runs', patience, async () => {
            const [direct, passed] = await both(kind, 'everything', async ({ client }) => {
                const steps = [];
                const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
                const onprogress = ({ progress }) => steps.push(progress);
                const options = { onprogress };
                const result = client instanceof ClientV2 ? await client.callTool(call, options) : await client.callTool(call, undefined, options);
                return { steps, result };
            });
            assert.deepEqual(passed.steps, [1, 2, 3, 4]);
            assert.deepEqual(passed, direct);
        });
    });
}

describe('what a server asks its client', () => {
    const kind = clients['sdk 1.32'];

    test('sampling, elicitation and roots reach the client whose call it is', patience, async () => {
        const prepare = (client) => {
            client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
                model: 'm', role: 'assistant', content: { type: 'text', text: `sampled ${params.messages[0].content.text.length > 0}` },
            }));
            client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }));
            client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
        };
        const [direct, passed] = await both(kind, 'everything', async ({ client }) => ({
            sampled: await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } }),
            elicited: await client.callTool({ name: 'trigger-elicitation-request', arguments: {} }),
            roots: await client.callTool({ name: 'get-roots-list', arguments: {} }),
        }), prepare);
        assert.match(JSON.stringify(direct.sampled), /sampled true/);
        assert.deepEqual(passed, direct);
    });

    test('log messages and updates come over the stream of the session', patience, async () => {
        let heard;
        const prepare = (client) => {
            heard = { logs: 0, updates: [] };
            const mine = heard;
            client.setNotificationHandler(LoggingMessageNotificationSchema, () => { mine.logs += 1; });
            client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => mine.updates.push(params.uri));
        };
        const [direct, passed] = await both(kind, 'everything', async ({ client }) => {
            const mine = heard;
            const { resources } = await client.listResources();
            await client.setLoggingLevel('debug');
            await client.subscribeResource({ uri: resources[0].uri });
            await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
            const updated = async () => {
                while (!mine.updates.includes(resources[0].uri)) {
                    await new Promise((resolve) => setTimeout(resolve, 20));
                }
            };
            await within(updated(), 'an update', 20_000);
            await client.unsubscribeResource({ uri: resources[0].uri });
            return true;
        }, prepare);
        assert.equal(passed, direct);
    });
});

describe('sessions', () => {
    const kind = clients['sdk 1.32'];

    test('a session that the client ends is not found afterwards', patience, async () => {
        const { client, transport } = await connect(kind, through('everything'));
        const id = transport.sessionId;
        assert.ok(id.length > 40 && id.length <= 512);
        await transport.terminateSession();
        await client.close();
        const asked = await fetch(through('everything'), {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': id },
            body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        });
        assert.equal(asked.status, 404);
    });

    test('a session of one agent is none of another', patience, async () => {
        const { client, transport } = await connect(kind, through('everything'));
        const asked = await fetch(through('filtered'), {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': transport.sessionId },
            body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        });
        assert.equal(asked.status, 404);
        assert.equal((await asked.json()).error.code, -32001);
        await client.close();
    });
});

describe('a server that is started again', () => {
    const kind = clients['sdk 1.32'];

    test('serves the sessions of before behind the same ids, with what their clients declared', patience, async () => {
        const prepare = (client) => {
            client.setRequestHandler(CreateMessageRequestSchema, async () => ({
                model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled again' },
            }));
        };
        const { client, transport, close } = await connect(kind, through('everything'), prepare);
        const id = transport.sessionId;
        await client.setLoggingLevel('error');
        await client.callTool({ name: 'echo', arguments: { message: 'before' } });

        const ended = new Promise((resolve) => { child.once('exit', resolve); });
        child.kill('SIGKILL');
        await ended;
        await startEverything(new URL(urls.everything).port);

        const calls = Array.from({ length: 5 }, (_, number) => client.callTool({ name: 'echo', arguments: { message: `after ${number}` } }));
        const texts = (await Promise.all(calls)).map(({ content }) => content[0].text);
        texts.forEach((text, number) => assert.match(text, new RegExp(`after ${number}$`)));
        const sampled = await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } });
        assert.match(JSON.stringify(sampled), /sampled again/);
        assert.equal(transport.sessionId, id);
        await close();
    });
});

describe('a modern server', () => {
    for (const name of ['client 2.4, auto']) {
        test(`${name} lists and calls as directly`, patience, async () => {
            const [direct, passed] = await both(clients[name], 'modern', async ({ client }) => ({
                tools: await client.listTools(),
                first: await client.callTool({ name: 'first', arguments: {} }),
                unknown: await client.callTool({ name: 'none', arguments: {} }).catch(({ code }) => code),
                version: client.getNegotiatedProtocolVersion?.(),
            }));
            assert.equal(direct.tools.tools.length, 2);
            assert.deepEqual(passed, direct);
        });
    }
});

describe('a server of which callers get a part', () => {
    const kind = clients['sdk 1.32'];

    test('hidden tools are not listed and cannot be called, renamed ones are called by their new name', patience, async () => {
        const { client, close } = await connect(kind, through('filtered'));
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

    test('its card shows what callers get', patience, async () => {
        const card = await within((async () => {
            for (;;) {
                const answer = await fetch(`${gateway.base}agents/filtered/.well-known/agent-card.json`);
                if (answer.status === 200) {
                    return answer.json();
                }
                await new Promise((resolve) => setTimeout(resolve, 20));
            }
        })(), 'the card', 20_000);
        const names = card.skills.map(({ name }) => name);
        assert.ok(names.includes('say') || card.skills.some(({ id }) => id === 'say'), names.join());
        assert.ok(!card.skills.some(({ id }) => id === 'echo' || id.startsWith('trigger-')), names.join());
    });
});
