// Servers that none of us wrote keep all their tools with `pin: enforce`, however often they start; of one that adds or swaps tools nothing
// new reaches a client.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { clients } from './support/mcp_clients.js';
import { manage } from './support/management.js';
import { HttpServer } from './support/mcp_programs.js';
import { startGatewayFrom } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 240_000 };
const starts = Number(process.env.CARDEA_PIN_STARTS ?? 4);
const require = createRequire(import.meta.url);
const inPackage = (name, below) => path.join(path.dirname(require.resolve(`${name}/package.json`)), below);
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

let folder;
let growing;
let gateway;

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-pins-'));
    await writeFile(path.join(folder, 'tools'), 'first\n');
    growing = new HttpServer(file('support/mcp_server_v2.js'), 'legacy-http', path.join(folder, 'tools'));
    await growing.start();
    const program = (name, below, ...args) => ({ command: process.execPath, args: [inPackage(name, below), ...args] });
    const mcpServers = {
        everything: program('@modelcontextprotocol/server-everything', 'dist/index.js'),
        filesystem: program('@modelcontextprotocol/server-filesystem', 'dist/index.js', folder),
        memory: program('@modelcontextprotocol/server-memory', 'dist/index.js'),
        growing: { type: 'streamable-http', url: `${growing.origin}mcp` },
    };
    const config = path.join(folder, 'cardea.json');
    await writeFile(config, JSON.stringify({ mcpServers, defaults: { pin: 'enforce' } }));
    gateway = await startGatewayFrom(config);
}, patience);

after(async () => {
    await gateway?.stop();
    await growing.kill();
    await rm(folder, { recursive: true });
}, patience);

const pinsOf = async (id) => (await manage(gateway, 'agents/pins', { id })).agents[0];

async function until(what, holds) {
    const wait = async () => {
        for (;;) {
            const value = await holds();
            if (value) {
                return value;
            }
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    };
    return within(wait(), what, 30_000);
}

for (const id of ['everything', 'filesystem', 'memory']) {
    test(`${id}: nothing is held after ${starts} starts, and each client has all tools`, patience, async () => {
        const first = await until('pins', async () => {
            const pins = await pinsOf(id);
            return pins?.approved.length > 0 && pins;
        });
        for (let i = 0; i < starts; ++i) {
            await manage(gateway, 'agents/restart', { id });
            await until('a session', async () => (await manage(gateway, 'agents/get', { id })).session?.state === 'ready');
            assert.deepEqual((await pinsOf(id)).held, []);
        }
        const names = first.approved.filter(({ kind }) => kind === 'tool').map(({ name }) => name);
        for (const name of ['sdk 1.32', 'client 2.4, auto']) {
            const client = await within(clients[name](new URL(`${gateway.base}agents/${id}/mcp`)), 'session');
            const seen = (await within(client.tools(), 'tools')).map((tool) => tool.name);
            assert.deepEqual(seen.filter((tool) => !names.includes(tool)), [], name);
            await client.close();
        }
        assert.deepEqual((await pinsOf(id)).held.filter(({ why }) => why === 'changed'), []);
    });
}

test('a tool that a server adds reaches nobody before it is approved', patience, async () => {
    await until('pins', async () => (await pinsOf('growing'))?.approved.some(({ name }) => name === 'first'));
    const client = await within(clients['sdk 1.32'](new URL(`${gateway.base}agents/growing/mcp`)), 'session');
    assert.deepEqual((await client.tools()).map(({ name }) => name), ['first']);
    await appendFile(path.join(folder, 'tools'), 'second\n');
    const held = await until('what is held', async () => (await pinsOf('growing')).held.find(({ name }) => name === 'second'));
    assert.deepEqual((await client.tools()).map(({ name }) => name), ['first']);
    await assert.rejects(client.call('second', {}), /-32602|Unknown|unknown|parameters/);
    await manage(gateway, 'agents/approve', { id: 'growing', items: [{ kind: 'tool', name: 'second', sha256: held.sha256 }] });
    await until('the approved tool', async () => (await client.tools()).some(({ name }) => name === 'second'));
    await within(client.call('second', {}), 'a call of it');
    await client.close();
});
