// Three replicas on one PostgreSQL behind HAProxy, which gives each request to the next one: SDKs use sessions that live in the process of
// one of them as with one gateway, tasks are their principal's on all, and a replica that dies takes with it only its own sessions.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { client03 } from './support/client_03.js';
import { client1 } from './support/client_1.js';
import { startHaproxy, startPostgres } from './support/databases.js';
import { everything, freePort, startEverything } from './support/mcp_programs.js';
import { startDemoAgent, startReplicaFrom } from './support/programs.js';
import { Happenings, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const names = ['one', 'two', 'three'];
const tokens = { alice: 'token-of-alice-0123456789', bob: 'token-of-bob-0123456789' };

let folder;
let postgres;
let haproxy;
let overHttp;
let overSse;
let demo;
let base;
const replicas = {};

function configuration(name, port) {
    const program = { command: process.execPath, args: [everything, 'stdio'], start: 'lazy' };
    return {
        store: postgres.url,
        replica: { name, url: `http://127.0.0.1:${port}` },
        public_url: base.slice(0, -1),
        access: {
            providers: Object.entries(tokens).map(([who, token]) => ({ type: 'static_token', name: who, token })),
            rules: [{ discover: 'authenticated', call: 'authenticated' }],
        },
        agents: { old: { url: demo.old.url }, new: { url: demo.new.url } },
        mcpServers: {
            program,
            http: { type: 'streamable-http', url: overHttp.url, start: 'lazy' },
            sse: { type: 'sse', url: overSse.url, start: 'lazy' },
            shared: { ...program, sessions: 'shared', start: 'eager' },
            fresh: { ...program, sessionless: 'fresh' },
        },
        mcp: { bundles: { default: { agents: ['program', 'http'] } } },
        reload: { watch: false },
    };
}

async function startReplica(name) {
    const { port } = replicas[name];
    const where = path.join(folder, `${name}.json`);
    await writeFile(where, JSON.stringify(configuration(name, port)));
    Object.assign(replicas[name], await startReplicaFrom(where, `127.0.0.1:${port}`));
}

// Until each of the replicas knows so many.
async function allKnow(count, of = names) {
    const known = async ({ admin }) => {
        const page = await (await fetch(`${admin}metrics`)).text();
        return page.match(/^cardea_replicas (\d+)$/m)?.[1];
    };
    const agreed = async () => {
        while (!(await Promise.all(of.map((name) => known(replicas[name])))).every((each) => Number(each) === count)) {
            await pause(50);
        }
    };
    await within(agreed(), `${count} replicas`, 30_000);
}

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-replicas-'));
    const port = await freePort();
    base = `http://127.0.0.1:${port}/`;
    [postgres, overHttp, overSse, demo] = await Promise.all([
        startPostgres(),
        startEverything('streamableHttp'),
        startEverything('sse'),
        Promise.all(['0.3', '1.0'].map(startDemoAgent)).then(([old, recent]) => ({ old, new: recent })),
    ]);
    for (const name of names) {
        replicas[name] = { port: await freePort() };
    }
    await Promise.all(names.map(startReplica));
    const servers = names.map((name) => [name, `127.0.0.1:${replicas[name].port}`]);
    haproxy = await startHaproxy(port, Object.fromEntries(servers));
    await allKnow(3);
    const shows = (name) => fetch(`${replicas[name].base}agents/shared/.well-known/agent-card.json`, { headers: authorized('alice') });
    const shown = async () => {
        while (!(await Promise.all(names.map(shows))).every(({ status }) => status === 200)) {
            await pause(50);
        }
    };
    await within(shown(), 'sessions with the shared server', 30_000);
}, patience);

after(async () => {
    await haproxy?.stop();
    await Promise.all(names.map((name) => replicas[name]?.stop?.().catch(() => {})));
    await Promise.all([demo?.old.stop(), demo?.new.stop(), overHttp?.kill(), overSse?.kill()]);
    await postgres?.stop();
    await rm(folder, { recursive: true });
}, patience);

const authorized = (who) => ({ Authorization: `Bearer ${tokens[who]}` });
const at = (id, from = base) => new URL(id === 'bundle' ? `${from}mcp` : `${from}agents/${id}/mcp`);
const said = ({ content }) => content.map(({ text }) => text).join();

// `heard`: what comes unasked. `options`: of the transport.
async function connect(id, { from, heard = new Happenings(), ...options } = {}) {
    const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
    const client = new ClientV1({ name: 'test', version: '1' }, { capabilities });
    const content = { type: 'text', text: 'sampled' };
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({ model: 'm', role: 'assistant', content }));
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' }));
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
    client.setNotificationHandler(LoggingMessageNotificationSchema, () => heard.add('log'));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.add(params.uri));
    const transport = new HttpV1(at(id, from), { requestInit: { headers: authorized('alice') }, ...options });
    await client.connect(transport);
    const call = (name, given = {}, more = {}) => client.callTool({ name, arguments: given }, undefined, more);
    return { client, transport, heard, call };
}

// Of all replicas, by what became of the requests.
async function forwarded(outcome = 'answered') {
    const counts = names.map(async (name) => {
        const page = await (await fetch(`${replicas[name].admin}metrics`)).text();
        return Number(page.match(new RegExp(`^cardea_forwarded_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm'))?.[1] ?? 0);
    });
    return (await Promise.all(counts)).reduce((all, each) => all + each);
}

for (const [id, prefix] of [['program', ''], ['sse', ''], ['http', ''], ['bundle', 'program__'], ['shared', '']]) {
    describe(`a session with ${id}`, () => {
        test('has its tools and answers, and hears of progress', patience, async () => {
            const earlier = await forwarded();
            const { client, transport, call } = await connect(id);
            assert.ok((await client.listTools()).tools.length > 5);
            for (let i = 0; i < 9; i += 1) {
                assert.match(said(await call(`${prefix}echo`, { message: `call ${i}` })), new RegExp(`call ${i}$`));
            }
            const steps = [];
            const onprogress = ({ progress }) => steps.push(progress);
            await call(`${prefix}trigger-long-running-operation`, { duration: 0.2, steps: 4 }, { onprogress });
            assert.deepEqual(steps, [1, 2, 3, 4]);
            const leave = new AbortController();
            const long = call(`${prefix}trigger-long-running-operation`, { duration: 30, steps: 300 }, {
                signal: leave.signal,
                onprogress: () => leave.abort(),
            });
            await assert.rejects(long);
            assert.match(said(await call(`${prefix}echo`, { message: 'still there' })), /still there$/);
            await transport.terminateSession();
            await client.close();
            assert.equal((await forwarded()) - earlier > 5, id !== 'http');
        });

        if (id === 'shared') {
            return;  // nobody is asked, and what is logged is nobody's
        }

        test('is asked for samples and roots', patience, async () => {
            const { client, call } = await connect(id);
            assert.match(said(await call(`${prefix}trigger-sampling-request`, { prompt: 'p', maxTokens: 5 })), /sampled/);
            assert.match(said(await call(`${prefix}get-roots-list`)), /file:\/\/\/r/);
            assert.match(said(await call(`${prefix}trigger-elicitation-request`)), /declined/i);
            await client.close();
        });

        test('hears what the server says unasked', patience, async () => {
            const { client, heard, call } = await connect(id);
            const { resources } = await client.listResources();
            await client.setLoggingLevel('debug');
            await client.subscribeResource({ uri: resources[0].uri });
            await call(`${prefix}toggle-simulated-logging`);
            await call(`${prefix}toggle-subscriber-updates`);
            await heard.wanted((each) => each === 'log', 'a log message');
            await heard.wanted((each) => each === resources[0].uri, 'an update');
            await client.close();
        });
    });
}

// The first SDK comes back for the rest of a stream that breaks off behind an event with an id.
test('a client whose stream breaks off gets the rest of it from another replica', patience, async () => {
    let cuts = 0;
    const methods = [];
    const cutting = async (url, init) => {
        methods.push(init.method);
        const answer = await fetch(url, init);
        const streams = answer.headers.get('content-type')?.startsWith('text/event-stream') && init.method === 'POST';
        if (!streams || !init.body.includes('long-running') || cuts > 0) {
            return answer;
        }
        cuts += 1;
        const reader = answer.body.getReader();
        const cut = new ReadableStream({
            async pull(to) {
                const { value } = await reader.read();
                to.enqueue(value);
                await reader.cancel();
                to.error(new Error('the connection broke'));
            },
        });
        return new Response(cut, { status: answer.status, headers: answer.headers });
    };
    const { client, call } = await connect('program', { fetch: cutting });
    const done = await call('trigger-long-running-operation', { duration: 3, steps: 6 });
    assert.match(said(done), /completed/i);
    assert.equal(cuts, 1);
    assert.ok(methods.includes('GET'));
    await client.close();
});

test('a client of the modern era that is asked comes back to another replica', patience, async () => {
    const capabilities = { elicitation: { form: {} }, roots: {}, sampling: {} };
    const client = new ClientV2({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
    client.setRequestHandler('sampling/createMessage', async () => ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }));
    client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }));
    const options = { requestInit: { headers: authorized('alice') } };
    const earlier = await forwarded();
    await client.connect(new HttpV2(at('fresh'), options));
    for (let i = 0; i < 3; i += 1) {
        assert.match(said(await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } })), /sampled/);
    }
    assert.ok((await forwarded()) > earlier);
    await client.close();
});

test('a session is its principal\'s alone on each replica, and ends on all', patience, async () => {
    const { client, transport } = await connect('program');
    const post = (name, who) => fetch(at('program', replicas[name].base), {
        method: 'POST',
        headers: { ...authorized(who), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': transport.sessionId },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }).then(({ status }) => status);
    assert.deepEqual(await Promise.all(names.map((name) => post(name, 'alice'))), [200, 200, 200]);
    assert.deepEqual(await Promise.all(names.map((name) => post(name, 'bob'))), [404, 404, 404]);
    await transport.terminateSession();
    assert.deepEqual(await Promise.all(names.map((name) => post(name, 'alice'))), [404, 404, 404]);
    await client.close();
});

for (const [speak, id] of [[client03, 'old'], [client1, 'new']]) {
    test(`${speak.name}: a task of one principal is not found by another one on any replica`, patience, async () => {
        const as = (who) => (url, init) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...authorized(who) } });
        const alice = await speak.connect(`${base}agents/${id}/`, as('alice'));
        const task = speak.task(await speak.send(alice, 'roll a d6'));
        await pause(350);  // by then all replicas know whose it is
        for (const name of names) {
            const to = (who) => (url, init) => as(who)(new URL(new URL(url).pathname, replicas[name].base), init);
            for (let i = 0; i < 3; i += 1) {
                const known = await speak.get(await speak.connect(`${base}agents/${id}/`, to('alice')), task.id);
                assert.equal(known.id, task.id);
                const foreign = await speak.connect(`${base}agents/${id}/`, to('bob'));
                await assert.rejects(speak.get(foreign, task.id), ({ code, message }) => code === -32001 || /-32001|not found/i.test(message));
            }
        }
    });
}

test('the sessions of a replica that is killed are gone with it, and their clients begin anew', patience, async () => {
    const owned = await Promise.all(names.map((name) => connect('program', { from: replicas[name].base })));
    const sessions = owned.map(({ transport }) => transport.sessionId);
    const status = async (id) => {
        const answer = await fetch(at('program'), {
            method: 'POST',
            headers: { ...authorized('alice'), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': id },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        });
        return answer.status;
    };
    const through = await connect('program', { sessionId: undefined });
    assert.deepEqual(await Promise.all(sessions.map(status)), [200, 200, 200]);
    await replicas.one.kill();
    for (let i = 0; i < 10; i += 1) {
        assert.deepEqual(await Promise.all(sessions.map(status)), [404, 200, 200]);
    }
    const { client, call } = await connect('program');
    assert.match(said(await call('echo', { message: 'anew' })), /anew$/);
    await client.close();
    await startReplica('one');
    assert.equal(await status(sessions[0]), 404);
    await through.client.close();
    await Promise.all(owned.slice(1).map(({ transport }) => transport.terminateSession()));
});
