// Clients of the legacy era, by the first line of the TypeScript SDK and by the second, call a server that speaks only the modern
// one, by its second line: a program, and over streamable HTTP. One of the modern era does what needs more than an answer.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { HttpServer } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const program = fileURLToPath(new URL('support/mcp_modern_server.js', import.meta.url));
const info = { name: 'test', version: '1' };
const capabilities = { elicitation: { form: {} }, roots: { listChanged: true } };
const v1 = { make: () => new ClientV1(info, { capabilities }), Transport: HttpV1 };
const v2 = { make: () => new ClientV2(info, { capabilities, versionNegotiation: { mode: 'legacy' } }), Transport: HttpV2 };
const overHttp = new HttpServer(program, 'http');

let gateway;

before(async () => {
    await overHttp.start();
    const stdio = { command: process.execPath, args: [program, 'stdio'] };
    gateway = await startConfiguredGateway({
        mcpServers: {
            program: stdio,
            configured: { ...stdio, era: 'modern', start: 'lazy' },
            http: { type: 'streamable-http', url: `${overHttp.origin}mcp` },
        },
    });
    for (const id of ['program', 'http']) {
        await until(async () => (await fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`)).status === 200, `the card of ${id}`);
    }
}, patience);

after(async () => {
    await gateway?.stop();
    await overHttp.kill();
}, patience);

async function until(reached, what) {
    const poll = async () => {
        while (!(await reached())) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(poll(), what, 20_000);
}

async function connect({ make, Transport }, id, prepare = () => {}) {
    const client = make();
    prepare(client);
    await client.connect(new Transport(new URL(`${gateway.base}agents/${id}/mcp`)));
    return client;
}

const said = ({ content }) => content.map(({ text }) => text).join();

for (const id of ['program', 'configured', 'http']) {
    for (const [name, kind] of Object.entries({ 'sdk 1.32': v1, 'client 2.4, legacy': v2 })) {
        test(`${name} uses a modern server (${id}) as one of its own era`, patience, async () => {
            const client = await connect(kind, id);
            assert.deepEqual(client.getServerVersion(), { name: 'modern', version: '1.50' });
            assert.equal(client.getInstructions(), 'Be kind.');
            await client.ping();
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map((tool) => tool.name).sort(), ['confirm', 'echo', 'log', 'steps', 'touch', 'where']);
            assert.equal(said(await client.callTool({ name: 'echo', arguments: { message: 'grüße \u{1f600}' } })), 'grüße \u{1f600}');
            assert.equal(said(await client.callTool({ name: 'where', arguments: { region: 'Köln' } })), 'Köln');
            assert.equal((await client.readResource({ uri: 'test://one' })).contents[0].text, 'one');
            assert.equal((await client.listResources()).resources.length, 1);
            const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'you' } });
            assert.equal(messages[0].content.text, 'Hello, you');
            await assert.rejects(client.readResource({ uri: 'test://none' }), ({ code }) => code === -32602);
            await assert.rejects(client.callTool({ name: 'none', arguments: {} }), ({ code }) => code === -32602);
            await client.close();
        });
    }

    describe(`sdk 1.32 with a modern server (${id})`, () => {
        test('progress comes while the call runs', patience, async () => {
            const client = await connect(v1, id);
            const steps = [];
            await client.callTool({ name: 'steps', arguments: {} }, undefined, { onprogress: ({ progress }) => steps.push(progress) });
            assert.deepEqual(steps, [1, 2, 3]);
            await client.close();
        });

        test('what the server asks for reaches the client', patience, async () => {
            const client = await connect(v1, id, (of) => {
                of.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { confirm: true } }));
                of.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
            });
            assert.equal(said(await client.callTool({ name: 'confirm', arguments: {} })), 'true file:///r state é');
            await client.close();
        });

        test('a subscription tells of changes, and no more when it has ended', patience, async () => {
            const updates = [];
            const client = await connect(v1, id, (of) => {
                of.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.push(params.uri));
            });
            await client.subscribeResource({ uri: 'test://one' });
            await client.callTool({ name: 'touch', arguments: {} });
            await until(() => updates.length === 1, 'an update');
            await client.unsubscribeResource({ uri: 'test://one' });
            await client.callTool({ name: 'touch', arguments: {} });
            await client.ping();
            assert.deepEqual(updates, ['test://one']);
            await client.close();
        });

        test('a level of the log is taken', patience, async () => {
            const logs = [];
            const client = await connect(v1, id, (of) => {
                of.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params.data));
            });
            await client.setLoggingLevel('debug');
            await client.callTool({ name: 'log', arguments: {} });
            // What a program logs belongs to nobody.
            assert.deepEqual(logs, id === 'http' ? ['logged'] : []);
            await client.close();
        });
    });
}

for (const id of ['program', 'http']) {
    describe(`client 2.4 of the modern era with a server of its own (${id})`, () => {
        const pinned = {
            make: () => new ClientV2(info, { capabilities: { elicitation: { form: {} }, roots: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } }),
            Transport: HttpV2,
        };

        test('a resource that it listens to is told, and no more when it has stopped', patience, async () => {
            const updates = [];
            const client = await connect(pinned, id, (of) => {
                of.setNotificationHandler('notifications/resources/updated', ({ params }) => updates.push(params.uri));
            });
            const subscription = await client.listen({ resourceSubscriptions: ['test://one'] });
            assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, ['test://one']);
            await client.callTool({ name: 'touch', arguments: {} });
            await until(() => updates.length === 1, 'an update');
            await subscription.close();
            await client.callTool({ name: 'touch', arguments: {} });
            await client.listTools();
            assert.deepEqual(updates, ['test://one']);
            await client.close();
        });

        test('what the server asks for, progress and log messages come with the call', patience, async () => {
            const logs = [];
            const client = await connect(pinned, id, (of) => {
                of.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }));
                of.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
                of.setNotificationHandler('notifications/message', ({ params }) => logs.push(params.data));
            });
            assert.equal(said(await client.callTool({ name: 'confirm', arguments: {} })), 'true file:///r state é');
            const steps = [];
            await client.callTool({ name: 'steps', arguments: {} }, { onprogress: ({ progress }) => steps.push(progress) });
            assert.deepEqual(steps, [1, 2, 3]);
            const meta = { 'io.modelcontextprotocol/logLevel': 'info' };
            await client.callTool({ name: 'log', arguments: {}, _meta: meta });
            // What a program logs belongs to nobody.
            assert.deepEqual(logs, id === 'http' ? ['logged'] : []);
            await client.close();
        });
    });
}
