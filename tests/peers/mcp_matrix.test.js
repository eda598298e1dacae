// Clients that none of us wrote with servers that none of us wrote, of each era and over each transport: all list and call as directly.
import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as Client2024 } from 'mcp-sdk-2024/client/index.js';
import { SSEClientTransport as Sse2024 } from 'mcp-sdk-2024/client/sse.js';

import { clients, connectDirectly } from './support/mcp_clients.js';
import { HttpServer, startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const published = (name) => file(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
const v2 = file('support/mcp_server_v2.js');
const echo = ['echo', { message: 'grüße \u{1f600}' }];
const first = ['first', {}];
const thought = { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };

let folder;
let gateway;
const started = [];

const node = (...args) => ({ command: process.execPath, args });
const tools = (name) => [path.join(folder, 'tools'), path.join(folder, `${name}.pids`)];

// `how`: as the configuration has it; `era` of the server, if not the legacy one.
const servers = {
    'everything over stdio': { how: () => node(published('everything'), 'stdio'), call: echo },
    'everything over streamable HTTP': { how: () => everything('streamableHttp'), call: echo },
    'everything over HTTP+SSE': { how: () => everything('sse'), call: echo },
    filesystem: { how: () => node(published('filesystem'), folder), call: ['read_text_file', () => ({ path: path.join(folder, 'a.txt') })] },
    memory: { how: () => ({ ...node(published('memory')), env: { MEMORY_FILE_PATH: path.join(folder, 'none.json') } }), call: ['read_graph', {}] },
    'sequential-thinking': { how: () => node(published('sequential-thinking')), call: ['sequentialthinking', thought] },
    commands: { how: () => node(file('node_modules/mcp-server-commands/build/index.js')), call: ['run_command', { command: 'echo grüße' }] },
    'sdk 1.9 over HTTP+SSE': { how: () => http(file('support/mcp_server_2024.js')), call: first },
    'server 2.4, legacy, over stdio': { how: () => node(v2, 'legacy-stdio', ...tools('legacy')), call: first },
    'server 2.4, legacy, over streamable HTTP': { how: () => http(v2, 'legacy-http'), call: first },
    'server 2.4, both eras, over stdio': { how: () => node(v2, 'dual-stdio', ...tools('dual')), era: 'modern', call: first },
    'server 2.4, modern, over stdio': { how: () => node(v2, 'modern-stdio', ...tools('modern')), era: 'modern', call: first },
    'server 2.4, modern, over streamable HTTP': { how: () => http(v2, 'modern-http'), era: 'modern', call: first },
};
const idOf = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');

async function everything(mode) {
    const server = await startEverything(mode);
    started.push(server);
    return { type: mode === 'sse' ? 'sse' : 'streamable-http', url: server.url };
}

async function http(program, ...kind) {
    const server = new HttpServer(program, ...kind, path.join(folder, 'tools'));
    started.push(server);
    await server.start();
    return kind.length > 0 ? { type: 'streamable-http', url: `${server.origin}mcp` } : { type: 'sse', url: `${server.origin}sse` };
}

const isReady = (id) => gateway.log.some((line) => line.includes(`"agent":"${id}"`) && line.includes('"state":"ready"'));

before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'cardea-matrix-')));
    await writeFile(path.join(folder, 'a.txt'), 'first line\nsecond grüße\n');
    await writeFile(path.join(folder, 'tools'), 'first\nsecond\n');
    const mcpServers = {};
    for (const [name, server] of Object.entries(servers)) {
        server.found = await server.how();
        // Pinned clients of the modern era ask for server/discover.
        mcpServers[idOf(name)] = { ...server.found, sessionless: 'fresh', ...(server.found.url ? {} : { max_sessions: 32, warm: 0 }) };
    }
    gateway = await startConfiguredGateway({ mcpServers });
    const ready = async () => {
        while (!Object.keys(mcpServers).every(isReady)) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(ready(), 'sessions of the gateway', 60_000);
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(started.map((server) => server.kill()));
    await rm(folder, { recursive: true });
}, patience);

async function found(connecting, [name, given]) {
    const client = await connecting;
    try {
        const listed = (await client.tools()).map(({ name: id, title, description, inputSchema }) => ({ id, title, description, inputSchema }));
        const { content, isError } = await client.call(name, typeof given === 'function' ? given() : given);
        // Some clients keep what their schemas do not know.
        const said = content.map(({ type, text }) => ({ type, text }));
        return JSON.parse(JSON.stringify({ tools: listed, content: said, isError: isError ?? false }));
    } finally {
        await client.close();
    }
}

for (const [name, server] of Object.entries(servers)) {
    describe(name, { concurrency: 3 }, () => {
        let wanted;

        before(async () => {
            wanted = await found(connectDirectly(server.found, server.era), server.call);
            assert.ok(wanted.tools.length > 0);
            assert.equal(wanted.isError, false);
        }, patience);

        for (const [client, connect] of Object.entries(clients)) {
            test(`${client} lists and calls as directly`, patience, async () => {
                const url = new URL(`${gateway.base}agents/${idOf(name)}/mcp`);
                assert.deepEqual(await within(found(connect(url), server.call), `answers of ${name}`, 90_000), wanted);
            });
        }
    });
}

test('a client that knows HTTP+SSE only finds no such endpoint', patience, async () => {
    const client = new Client2024({ name: 'matrix', version: '1' });
    const transport = new Sse2024(new URL(`${gateway.base}agents/${idOf('everything over HTTP+SSE')}/mcp`));
    await assert.rejects(within(client.connect(transport), 'refusal'), /405/);
    await transport.close();
});
