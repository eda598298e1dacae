// MCP servers that none of us wrote, reached over HTTP: their cards say what the MCP SDK's own client lists.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { freePort } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const everything = fileURLToPath(new URL('node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));
const kinds = {
    streamable: { mode: 'streamableHttp', path: 'mcp', type: 'streamable-http', transport: StreamableHTTPClientTransport },
    sse: { mode: 'sse', path: 'sse', type: 'sse', transport: SSEClientTransport },
};

const servers = {};
let gateway;

async function startServer({ mode }, port) {
    const child = spawn(process.execPath, [everything, mode], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
    const answers = async () => {
        while (child.exitCode === null) {
            if (await fetch(`http://127.0.0.1:${port}/none`).then(() => true, () => false)) {
                return;
            }
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
        throw new Error(`the server over ${mode} ended with ${child.exitCode}`);
    };
    await within(answers(), `server over ${mode}`, 20_000);
    return child;
}

before(async () => {
    const agents = {};
    for (const [id, kind] of Object.entries(kinds)) {
        const port = await freePort();
        servers[id] = { port, child: await startServer(kind, port), url: `http://127.0.0.1:${port}/${kind.path}` };
        agents[id] = { type: kind.type, url: servers[id].url, restart: { backoff: '100ms' } };
    }
    gateway = await startConfiguredGateway({ mcpServers: agents });
}, patience);

after(async () => {
    await gateway?.stop();
    Object.values(servers).forEach(({ child }) => child.kill());
}, patience);

const ask = (id) => fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`);

async function until(id, satisfies) {
    const found = async () => {
        for (;;) {
            const answer = await ask(id);
            if (satisfies(answer)) {
                return answer.json();
            }
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    return within(found(), `card of ${id}`, 20_000);
}

async function listed(id) {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new kinds[id].transport(new URL(servers[id].url)));
    const { tools } = await client.listTools();
    await client.close();
    return tools;
}

describe('MCP servers over HTTP', patience, () => {
    for (const [id, kind] of Object.entries(kinds)) {
        test(`the skills of a server over ${kind.type} are the tools that the SDK's client lists`, patience, async () => {
            const card = await until(id, ({ status }) => status === 200);
            const tools = await within(listed(id), 'tools', 20_000);
            assert.ok(tools.length > 5);
            assert.deepEqual(card.skills.map((skill) => skill.id), tools.map(({ name }) => name));
            assert.equal(card.protocol, 'mcp');
            assert.equal(card.url, `${gateway.base}agents/${id}`);
        });
    }

    test('a server whose stream ends with it has no card until it is back', patience, async () => {
        const { child, port } = servers.sse;
        await until('sse', ({ status }) => status === 200);
        child.kill('SIGKILL');
        await once(child, 'exit');
        await until('sse', ({ status }) => status === 503);
        servers.sse.child = await startServer(kinds.sse, port);
        await until('sse', ({ status }) => status === 200);
    });

    test('a session that a new server does not know is begun again', patience, async () => {
        const { child, port } = servers.streamable;
        await until('streamable', ({ status }) => status === 200);
        const ready = () => gateway.log.filter((line) => line.includes('"agent":"streamable","state":"ready"')).length;
        const before = ready();
        child.kill('SIGKILL');
        await once(child, 'exit');
        servers.streamable.child = await startServer(kinds.streamable, port);
        await until('streamable', ({ status }) => status === 200 && ready() > before);
        assert.ok(gateway.log.some((line) => /"reason":"(session_lost|unreachable)"/.test(line)));
    });
});
