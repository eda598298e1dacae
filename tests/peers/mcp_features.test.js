// What a call can do beside being answered, of clients that none of us wrote with server-everything over each transport: progress, questions
// of the server to its client, and cancellation are as directly. Changed lists are told across eras and transports.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';

import { answering, answersOf, checkProgressAndCancel, connectAnsweringV1, connectListening } from './support/mcp_answering.js';
import { remoteCommand } from './support/mcp_clients.js';
import { HttpServer, startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { Happenings, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const v2Server = file('support/mcp_server_v2.js');
const program = { command: process.execPath, args: [file('node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'] };

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
    wanted = await answersOf(await connectAnsweringV1(new StdioV1({ ...program, stderr: 'ignore' })));
    assert.match(wanted.sampling.join(), /sampled/);
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(started.map((server) => server.kill()));
    await rm(folder, { recursive: true });
}, patience);

const clients = { ...answering, 'mcp-remote': (at) => connectAnsweringV1(new StdioV1({ ...remoteCommand(at), stderr: 'ignore' })) };

for (const id of ['stdio', 'http', 'sse']) {
    describe(`server-everything over ${id}`, { concurrency: 2 }, () => {
        for (const [name, connect] of Object.entries(clients)) {
            test(`${name} answers what the server asks, as directly`, patience, async () => {
                assert.deepEqual(await answersOf(await connect(url(id))), wanted);
            });

            test(`${name} hears of progress, cancels, and goes on`, patience, async () => {
                await checkProgressAndCancel(await connect(url(id)));
            });
        }

        test('ai-sdk answers what the server asks', patience, async () => {
            const client = await createMCPClient({ transport: { type: 'http', url: url(id).href }, capabilities: { elicitation: {} } });
            client.onElicitationRequest(ElicitationRequestSchema, async () => ({ action: 'decline' }));
            const { content } = await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
            assert.match(JSON.stringify(content), /decline/);
            await client.close();
        });
    });
}

describe('a list that changes', () => {
    test('is told to clients of each era by servers of each era, over each transport', patience, async () => {
        const told = new Happenings();
        const open = [];
        for (const id of ['legacy-http', 'modern-http', 'legacy-stdio', 'modern-stdio']) {
            const clientsHere = await connectListening(url(id), (name, names) => told.add({ cell: `${name}, ${id}`, names }));
            open.push(...clientsHere.map(({ name, client }) => ({ cell: `${name}, ${id}`, client })));
        }
        for (const { cell, client } of open) {
            assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), ['first'], cell);
        }
        await appendFile(path.join(folder, 'tools'), 'second\n');
        for (const { cell } of open) {
            const heard = await told.wanted((each) => each.cell === cell && each.names?.includes('second'), `news for ${cell}`);
            assert.deepEqual(heard.names, ['first', 'second']);
        }
        await Promise.all(open.map(({ client }) => client.close()));
    });
});
