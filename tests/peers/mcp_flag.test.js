// MCP servers that the command line names: no file, no shell.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startGatewayOfServers } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const entry = (name) => fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const single = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const double = (text) => `"${text.replaceAll(/["$`\\]/g, '\\$&')}"`;

let folder;
let gateway;

before(async () => {
    folder = path.join(await mkdtemp(path.join(tmpdir(), 'cardea-flag-')), `it's $HOME; a "name" & *`);
    await mkdir(folder);
    gateway = await startGatewayOfServers({
        everything: `${single(process.execPath)} ${single(entry('server-everything'))} stdio`,
        files: `${double(process.execPath)} ${double(entry('server-filesystem'))} ${double(folder)}`,
        'files.too': `${single(process.execPath)} ${single(entry('server-filesystem'))} ${single(folder)}`,
        absent: 'no-such-program --at all',
    });
}, patience);

after(async () => {
    await gateway?.stop();
    await rm(path.dirname(folder), { recursive: true });
}, patience);

// What the card's route answers, once that satisfies.
async function answer(id, satisfies) {
    const found = async () => {
        for (;;) {
            const got = await fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`);
            const body = await got.json();
            if (satisfies(got)) {
                return body;
            }
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    return within(found(), `answer of ${id}`, 20_000);
}

const card = (id) => answer(id, ({ status }) => status === 200);

test('a server of --mcp has a card with its tools', patience, async () => {
    const got = await card('everything');
    assert.equal(got.name, 'everything');
    assert.equal(got.protocol, 'mcp');
    assert.ok(got.skills.some((skill) => skill.id === 'echo'));
});

for (const id of ['files', 'files.too']) {
    test(`an argument with everything that a shell would act on reaches the program of ${id} as it is`, patience, async () => {
        // The server ends at once if the directory is not there.
        assert.ok((await card(id)).skills.some((skill) => skill.id === 'read_file'));
    });
}

test('a program that is not there is a session that is not configured well, and the log says why', patience, async () => {
    await answer('absent', ({ status, headers }) => status === 503 && headers.get('cardea-error') === 'session_misconfigured');
    const told = gateway.log.map((line) => JSON.parse(line)).filter(({ agent }) => agent === 'absent');
    assert.ok(told.some(({ event, detail }) => event === 'mcp_session' && /No such file/.test(detail)),
        JSON.stringify(told));
});
