// What docs/mcp.md gives to paste works: the configurations of clients are read from the page and used against a gateway, those of Cardea
// are accepted by it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { gatewayBinary, startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const page = fileURLToPath(new URL('../../docs/mcp.md', import.meta.url));
const program = fileURLToPath(new URL('support/mcp_marking_server.js', import.meta.url));
const written = 'http://127.0.0.1:4000/';
const { version, bin } = createRequire(import.meta.url)('mcp-remote/package.json');
const text = await readFile(page, 'utf8');
const blocks = (of, language) => [...of.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, block]) => block);
const [section] = text.match(/^## Clients\n[^]*?(?=^## )/m);
const configurations = blocks(section, 'json').map((block) => JSON.parse(block));

let gateway;
let guarded;
let folder;

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-pasted-'));
    const mcpServers = { search: { command: process.execPath, args: [program, 'stdio'], start: 'lazy' } };
    gateway = await startConfiguredGateway({ mcpServers });
    process.env.CARDEA_PASTED_TOKEN = 'the-token-of-the-client';
    const provider = { type: 'static_token', name: 'pasted', principal: 'client', token: '${CARDEA_PASTED_TOKEN}' };
    const access = { providers: [provider], rules: [{ discover: 'authenticated', call: 'authenticated' }] };
    guarded = await startConfiguredGateway({ mcpServers, access });
}, patience);

after(async () => {
    await gateway?.stop();
    await guarded?.stop();
    await rm(folder, { recursive: true });
}, patience);

// As a client does it, but for the gateway's address, and without asking the registry for the package.
function transportOf({ type, url, headers, command, args }, base) {
    if (command !== undefined) {
        const [yes, name, ...rest] = args;
        assert.deepEqual([command, yes, name], ['npx', '-y', `mcp-remote@${version}`]);
        const installed = fileURLToPath(new URL(`node_modules/mcp-remote/${bin['mcp-remote']}`, import.meta.url));
        const given = rest.map((each) => each.replace(written, base));
        return new StdioClientTransport({ command: process.execPath, args: [installed, ...given], stderr: 'ignore' });
    }
    assert.equal(type, 'http');
    assert.ok(url.startsWith(written));
    return new StreamableHTTPClientTransport(new URL(url.replace(written, base)), { requestInit: { headers } });
}

describe('docs/mcp.md', () => {
    test('has configurations to paste', () => {
        assert.equal(configurations.length, 4);
    });

    for (const [number, configuration] of configurations.entries()) {
        const [[name, server]] = Object.entries(configuration.mcpServers ?? configuration.servers);

        const kind = `${server.type ?? server.command}${server.headers ? ' with a credential' : ''}`;

        test(`configuration ${number + 1} (${kind}) works`, patience, async () => {
            assert.equal(name, 'search');
            const client = new Client({ name: 'test', version: '1' });
            await within(client.connect(transportOf(server, server.headers ? guarded.base : gateway.base)), 'connection', 20_000);
            const { tools } = await client.listTools();
            assert.deepEqual(tools.map((tool) => tool.name), ['mark']);
            await client.close();
        });
    }

    test('the credential is needed where the gateway asks for one', patience, async () => {
        const client = new Client({ name: 'test', version: '1' });
        await assert.rejects(client.connect(transportOf(configurations[0].mcpServers.search, guarded.base)), /unauthenticated/);
    });

    for (const [number, block] of blocks(text, 'yaml').entries()) {
        test(`configuration ${number + 1} of Cardea is accepted`, patience, async () => {
            const file = path.join(folder, `${number}.yml`);
            await writeFile(file, block);
            const env = { ...process.env };
            for (const [, name] of block.matchAll(/\$\{(\w+)\}/g)) {
                env[name] = 'of the reader';
            }
            await promisify(execFile)(gatewayBinary, ['validate', '-c', file], { env }).catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
        });
    }
});
