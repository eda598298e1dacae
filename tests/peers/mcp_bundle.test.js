// One bundle over servers and agents that none of us wrote: each client gets from it what it gets from each of them, but for prefixes.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { answering, answersOf, checkProgressAndCancel, connectListening } from './support/mcp_answering.js';
import { clients } from './support/mcp_clients.js';
import { startConfiguredGateway } from './support/programs.js';
import { Happenings, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const published = (name) => file(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);
const servers = ['everything', 'files', 'memory', 'growing'];

let folder;
let gateway;
const agents = [];

const at = (id) => new URL(`${gateway.base}agents/${id}/mcp`);
const bundle = () => new URL(`${gateway.base}mcp`);
const isReady = (id) => gateway.log.some((line) => line.includes(`"agent":"${id}"`) && line.includes('"state":"ready"'));

before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'cardea-bundle-')));
    await writeFile(path.join(folder, 'a.txt'), 'first line\nsecond grüße\n');
    await writeFile(path.join(folder, 'tools'), 'first\n');
    agents.push(await startSampleAgent03(), await startSampleAgent1());
    const program = (...args) => ({ command: process.execPath, args, max_sessions: 64, warm: 0, sessionless: 'fresh' });
    gateway = await startConfiguredGateway({
        mcp: { bundles: { default: { agents: [...servers, { id: 'sample.03', as: 'old' }, 'sample1'] } } },
        agents: { 'sample.03': { url: agents[0].url }, sample1: { url: agents[1].url } },
        mcpServers: {
            everything: program(published('everything'), 'stdio'),
            files: program(published('filesystem'), folder),
            memory: { ...program(published('memory')), env: { MEMORY_FILE_PATH: path.join(folder, 'none.json') } },
            growing: program(file('support/mcp_server_v2.js'), 'legacy-stdio', path.join(folder, 'tools'), path.join(folder, 'pids')),
        },
    });
    const ready = async () => {
        while (!servers.every(isReady)) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(ready(), 'sessions of the gateway', 60_000);
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(agents.map((agent) => agent.stop()));
    await rm(folder, { recursive: true });
}, patience);

const calls = {
    everything: ['echo', { message: 'grüße \u{1f600}' }],
    files: ['read_text_file', () => ({ path: path.join(folder, 'a.txt') })],
    memory: ['read_graph', {}],
    growing: ['first', {}],
};

const steady = ({ content, isError }) =>
    JSON.parse(JSON.stringify({ content: content.map(({ type, text }) => ({ type, text })), isError: isError ?? false }));
const shape = ({ title, description, inputSchema }) => JSON.parse(JSON.stringify({ title, description, inputSchema }));

describe('lists and calls', { concurrency: 2 }, () => {
    for (const [name, connect] of Object.entries(clients)) {
        test(`${name} lists and calls as at each member`, patience, async () => {
            const whole = await connect(bundle());
            try {
                const listed = new Map((await whole.tools()).map((tool) => [tool.name, shape(tool)]));
                for (const id of servers) {
                    const one = await connect(at(id));
                    for (const tool of await one.tools()) {
                        assert.deepEqual(listed.get(`${id}__${tool.name}`), shape(tool), `${id}: ${tool.name}`);
                        listed.delete(`${id}__${tool.name}`);
                    }
                    const [tool, given] = calls[id];
                    const with_ = typeof given === 'function' ? given() : given;
                    const wanted = steady(await one.call(tool, with_));
                    await one.close();
                    assert.deepEqual(steady(await whole.call(`${id}__${tool}`, with_)), wanted);
                }
                const rest = ['old', 'sample1'].flatMap((as) => ['send_message', 'get_task', 'cancel_task'].map((tool) => `${as}__${tool}`));
                assert.deepEqual([...listed.keys()].sort(), rest.sort());
            } finally {
                await whole.close();
            }
        });

        test(`${name} calls agents of both generations`, patience, async () => {
            const { call, close } = await connect(bundle());
            try {
                for (const as of ['old', 'sample1']) {
                    const answer = await call(`${as}__send_message`, { message: 'hello' });
                    assert.ok(!answer.isError, JSON.stringify(answer));
                    assert.ok(answer.content.length > 0, JSON.stringify(answer));
                }
            } finally {
                await close();
            }
        });
    }
});

describe('what a call can do', { concurrency: 1 }, () => {
    for (const [name, connect] of Object.entries(answering)) {
        test(`${name} answers what a member asks, as at the member`, patience, async () => {
            const wanted = await answersOf(await connect(at('everything')));
            assert.match(wanted.sampling.join(), /sampled/);
            assert.deepEqual(await answersOf(await connect(bundle()), 'everything__'), wanted);
        });

        test(`${name} hears of progress, cancels, and goes on`, patience, async () => {
            await checkProgressAndCancel(await connect(bundle()), 'everything__');
        });

        test(`${name} reads resources that lists and results name, and gets prompts`, patience, async () => {
            const { client, call, close } = await connect(bundle());
            try {
                const { resources } = await client.listResources();
                const own = resources.filter(({ uri }) => uri.startsWith('everything+'));
                assert.ok(own.length > 0, JSON.stringify(resources));
                const { content } = await call('everything__get-resource-links', { count: 2 });
                const links = content.filter(({ type }) => type === 'resource_link').map(({ uri }) => uri);
                assert.equal(links.length, 2, JSON.stringify(content));
                for (const uri of [own[0].uri, ...links]) {
                    assert.ok(uri.startsWith('everything+'), uri);
                    const { contents } = await client.readResource({ uri });
                    assert.equal(contents[0].uri, uri);
                }
                const { prompts } = await client.listPrompts();
                const prompt = prompts.find((each) => each.name === 'everything__simple-prompt');
                assert.ok(prompt, JSON.stringify(prompts));
                assert.ok((await client.getPrompt({ name: prompt.name })).messages.length > 0);
            } finally {
                await close();
            }
        });

        test(`${name} gets an error for a tool that no member has, and may leave the prefix out`, patience, async () => {
            const { call, close } = await connect(bundle());
            try {
                await assert.rejects(call('everything__none', {}).then((answer) => assert.ok(!answer.isError)));
                assert.match((await call('echo', { message: 'bare' })).content[0].text, /bare$/);
            } finally {
                await close();
            }
        });
    }

    test('a list that changes is told to clients of each era', patience, async () => {
        const told = new Happenings();
        const open = await connectListening(bundle(), (name, names) => told.add({ name, names }));
        for (const { name, client } of open) {
            assert.ok((await client.listTools()).tools.some((tool) => tool.name === 'growing__first'), name);
        }
        await appendFile(path.join(folder, 'tools'), 'second\n');
        for (const { name } of open) {
            await told.wanted((each) => each.name === name && each.names?.includes('growing__second'), `news for ${name}`);
        }
        await Promise.all(open.map(({ client }) => client.close()));
    });
});
