// MCP servers of each era and version, made with the SDKs of their time: the gateway finds out what they speak, their cards say
// what the SDK's own client lists, follow what is added, and come back with the server.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { killTold } from './support/growing_tools.js';
import { HttpServer } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const v1 = { program: file('support/mcp_server_v1.js'), client: () => new ClientV1({ name: 'test', version: '1' }) };
const v2 = {
    program: file('support/mcp_server_v2.js'),
    client: () => new ClientV2({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
};
const modern = { era: 'modern', protocolVersion: '2026-07-28' };
const legacy = { era: 'legacy', protocolVersion: '2025-11-25' };
const oldest = { era: 'legacy', protocolVersion: '2024-11-05' };
const rows = [
    { id: 'v2-modern-stdio', sdk: v2, args: [v2.program, 'modern-stdio'], transport: StdioV2, speaks: modern },
    { id: 'v2-dual-stdio', sdk: v2, args: [v2.program, 'dual-stdio'], transport: StdioV2, speaks: modern },
    { id: 'v2-legacy-stdio', sdk: v2, args: [v2.program, 'legacy-stdio'], transport: StdioV2, speaks: legacy },
    { id: 'v2-modern-http', sdk: v2, args: [v2.program, 'modern-http'], transport: HttpV2, speaks: modern, type: 'streamable-http' },
    { id: 'v2-legacy-http', sdk: v2, args: [v2.program, 'legacy-http'], transport: HttpV2, speaks: legacy, type: 'streamable-http' },
    { id: 'v1-stdio', sdk: v1, args: [v1.program, 'stdio'], transport: StdioV1, speaks: legacy },
    { id: 'v1-http', sdk: v1, args: [v1.program, 'http'], transport: HttpV1, speaks: legacy, type: 'streamable-http' },
    { id: '2024-sse', sdk: v1, args: [file('support/mcp_server_2024.js')], transport: SseV1, speaks: oldest, type: 'sse', path: 'sse' },
    { id: '2024-as-http', sdk: v1, args: [file('support/mcp_server_2024.js')], transport: SseV1, speaks: oldest, type: 'sse', path: 'sse', said: { type: 'streamable-http' } },
    { id: '2024-by-url', sdk: v1, args: [file('support/mcp_server_2024.js')], transport: SseV1, speaks: oldest, type: 'sse', path: 'sse', said: {} },
];
const changing = { id: 'changing' };
const annotated = { id: 'annotated', type: 'streamable-http', transport: HttpV2 };
const commands = [file('node_modules/mcp-server-commands/build/index.js')];

let folder;
let gateway;

const toolsFile = ({ id }) => path.join(folder, `${id}.tools`);
const pidFile = ({ id }) => path.join(folder, `${id}.pid`);
const address = ({ server, path: suffix = 'mcp' }) => `${server.origin}${suffix}`;

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-eras-'));
    const agents = { commands: { command: process.execPath, args: commands } };
    const restart = { backoff: '100ms', max_backoff: '200ms' };
    for (const row of rows) {
        await writeFile(toolsFile(row), 'first\n');
        if (row.type === undefined) {
            agents[row.id] = { command: process.execPath, args: [...row.args, toolsFile(row), pidFile(row)], restart };
        } else {
            row.server = new HttpServer(...row.args, toolsFile(row));
            await row.server.start();
            agents[row.id] = { ...(row.said ?? { type: row.type }), url: address(row), restart };
        }
    }
    await writeFile(toolsFile(changing), 'first\n');
    changing.server = new HttpServer(v2.program, 'legacy-http', toolsFile(changing));
    await changing.server.start();
    agents.changing = { type: 'streamable-http', url: address(changing), restart };
    annotated.server = new HttpServer(file('support/mcp_server_headers.js'));
    await annotated.server.start();
    agents.annotated = { type: annotated.type, url: address(annotated) };
    gateway = await startConfiguredGateway({ mcpServers: agents });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all([...rows, changing, annotated].map(({ server }) => server?.kill()));
    await rm(folder, { recursive: true });
}, patience);

const ask = (id) => fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`);
const skills = ({ skills: all }) => all.map(({ id }) => id);

// The first answer that satisfies.
async function until(id, satisfies) {
    const found = async () => {
        for (;;) {
            const answer = await ask(id);
            const body = await answer.json();
            if (await satisfies(answer, body)) {
                return body;
            }
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    return within(found(), `card of ${id}`, 20_000).catch((error) => {
        const said = gateway.log.filter((line) => line.includes('"mcp_') && line.includes(`"agent":"${id}"`));
        throw new Error(`${error.message}; the gateway said of it:\n${said.slice(-40).join('\n')}`);
    });
}

const card = (id, satisfies = () => true) => until(id, ({ status }, body) => status === 200 && satisfies(body));

// Only who may see addresses sees sessions on the listener of callers.
async function session(id) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'agents/get', params: { id } });
    const answer = await fetch(`${gateway.admin}rpc`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    return (await answer.json()).result.session;
}

// What the SDK's client lists: over HTTP of the same server, over stdio of another one like it.
async function listed(client, { transport: Transport, type, args, ...row }) {
    const transport =
        type === undefined
            ? new Transport({ command: process.execPath, args, stderr: 'ignore' })
            : new Transport(new URL(address(row)));
    await client.connect(transport);
    const { tools } = await client.listTools();
    await client.close();
    return tools;
}

describe('MCP servers of each era', patience, () => {
    for (const row of rows) {
        const { id, sdk, speaks, args } = row;

        test(`the skills of ${id} are the tools that the SDK's client lists`, patience, async () => {
            const got = await card(id);
            const mine = { ...row, args: [...args, toolsFile(row), path.join(folder, 'nobody')] };
            const tools = await within(listed(sdk.client(), mine), 'tools', 20_000);
            assert.deepEqual(skills(got), ['first']);
            assert.deepEqual(skills(got), tools.map(({ name }) => name));
            assert.deepEqual(got.skills.map(({ inputSchema }) => inputSchema), tools.map(({ inputSchema }) => inputSchema));
        });

        test(`agents/get tells what ${id} speaks`, patience, async () => {
            await card(id);
            const { era, protocolVersion, state, transport } = await session(id);
            assert.deepEqual({ era, protocolVersion }, speaks);
            assert.equal(state, 'ready');
            assert.equal(transport, row.type ?? 'stdio');
            assert.equal((await card(id)).protocolVersion, speaks.protocolVersion);
        });

        test(`the card of ${id} follows its tools within a second, without a gap`, patience, async () => {
            await card(id);
            for (const name of ['second', 'third']) {
                await appendFile(toolsFile(row), `${name}\n`);
                const begun = Date.now();
                await until(id, ({ status }, body) => {
                    assert.equal(status, 200);
                    return skills(body).includes(name);
                });
                assert.ok(Date.now() - begun < 1_000, `it took ${Date.now() - begun} ms`);
            }
            assert.deepEqual(skills(await card(id)), ['first', 'second', 'third']);
        });

        test(`${id} is there again after its end, with what it lists by then, and is listened to`, patience, async () => {
            await card(id);
            if (row.server === undefined) {
                killTold(pidFile(row));
                await appendFile(toolsFile(row), 'later\n');
            } else {
                await row.server.kill();
                await appendFile(toolsFile(row), 'later\n');
                await row.server.start();
            }
            await card(id, (body) => skills(body).includes('later'));
            await appendFile(toolsFile(row), 'last\n');
            await card(id, (body) => skills(body).includes('last'));
            const { era, protocolVersion } = await session(id);
            assert.deepEqual({ era, protocolVersion }, speaks);
        });
    }

    test('a server that comes back in the other era is spoken to in that one, both ways', patience, async () => {
        await card('changing');
        for (const [kind, speaks] of [['modern-http', modern], ['legacy-http', legacy]]) {
            changing.server.become(v2.program, kind, toolsFile(changing));
            await changing.server.kill();
            await changing.server.start();
            await appendFile(toolsFile(changing), `${kind}\n`);
            await card('changing', (body) => skills(body).includes(kind));
            const { era, protocolVersion } = await session('changing');
            assert.deepEqual({ era, protocolVersion }, speaks);
        }
    });

    test('a tool that clients have to reject for its header fields is no skill, and operators see why', patience, async () => {
        const got = await card('annotated');
        const tools = await within(listed(v2.client(), annotated), 'tools', 20_000);
        assert.deepEqual(skills(got), ['none', 'plain', 'nested', 'name-only']);
        assert.deepEqual(skills(got), tools.map(({ name }) => name));
        const { left_out } = await session('annotated');
        assert.equal(left_out.count, 17);
        assert.equal(left_out.first[0], 'tools/list: empty: p: x-mcp-header is empty');
        assert.ok(gateway.log.some((line) => line.includes('"mcp_items_omitted"') && line.includes('"count":17')));
    });

    test('a published server that knows nothing later than 2024-11-05 has a card', patience, async () => {
        const got = await card('commands');
        const tools = await within(listed(v1.client(), { transport: StdioV1, args: commands }), 'tools', 20_000);
        assert.deepEqual(skills(got), tools.map(({ name }) => name));
        const { era, protocolVersion } = await session('commands');
        assert.deepEqual({ era, protocolVersion }, oldest);
    });
});
