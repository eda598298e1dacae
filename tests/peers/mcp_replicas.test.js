// Three gateways with one key of session ids behind a load balancer that knows nothing of sessions: what one of them has begun the others
// go on with, keys are changed under load, and a gateway that dies takes with it only what it was doing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ListRootsRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { openSession } from './support/mcp_messages.js';
import { HttpServer, startEverything } from './support/mcp_programs.js';
import { startGatewayFrom } from './support/programs.js';
import { startRoundRobin } from './support/round_robin.js';
import { Happenings, within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const info = { name: 'test', version: '1' };
const marking = new HttpServer(file('support/mcp_marking_server.js'), 'http');
const modern = new HttpServer(file('support/mcp_modern_server.js'), 'http');

let folder;
let growing;
let everything;
let balancer;
const gateways = [];
const inFolder = (name) => path.join(folder, name);

// The first key seals, all of them open. `more`: further servers.
function configure(keys, more = {}) {
    const server = (url) => ({ type: 'streamable-http', url, start: 'lazy' });
    const mcpServers = {
        everything: server(everything.url),
        marking: server(`${marking.origin}mcp`),
        modern: server(`${modern.origin}mcp`),
        growing: server(`${growing.origin}mcp`),
        program: { command: process.execPath, args: [file('support/mcp_marking_server.js'), 'stdio'], start: 'lazy' },
        ...more,
    };
    const mcp = { session_keys: keys.map(inFolder), bundles: { default: { agents: ['marking', 'program'] } } };
    return writeFile(inFolder('cardea.json'), JSON.stringify({ mcpServers, mcp, reload: { watch: false } }));
}

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-replicas-'));
    await writeFile(inFolder('tools'), 'first\n');
    for (const key of ['old', 'new']) {
        await writeFile(inFolder(key), randomBytes(32).toString('hex'), { mode: 0o600 });
    }
    growing = new HttpServer(file('support/mcp_server_v2.js'), 'legacy-http', inFolder('tools'));
    everything = await startEverything('streamableHttp');
    await Promise.all([marking, modern, growing].map((server) => server.start()));
    await configure(['old']);
    gateways.push(...(await Promise.all([1, 2, 3].map(() => startGatewayFrom(inFolder('cardea.json'))))));
    balancer = await startRoundRobin(gateways.map(({ base }) => base));
}, patience);

after(async () => {
    await balancer?.stop();
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([everything, marking, modern, growing].map((server) => server?.kill()));
    await rm(folder, { recursive: true });
}, patience);

const url = (id, base = balancer.base) => new URL(`${base}agents/${id}/mcp`);
const said = ({ content }) => content.map(({ text }) => text).join();

async function connectV1(id, prepare = () => {}) {
    const client = new ClientV1(info, { capabilities: { sampling: {}, roots: { listChanged: true } } });
    prepare(client);
    const transport = new HttpV1(url(id));
    await client.connect(transport);
    return { client, transport };
}

describe('three gateways with one key', () => {
    test('a client of the legacy era lists, calls, hears of progress, is asked and cancels', patience, async () => {
        const { client } = await connectV1('everything', (of) => {
            const content = { type: 'text', text: 'sampled' };
            of.setRequestHandler(CreateMessageRequestSchema, async () => ({ model: 'm', role: 'assistant', content }));
            of.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
        });
        assert.ok((await client.listTools()).tools.length > 5);
        for (let i = 0; i < 6; i += 1) {
            assert.match(said(await client.callTool({ name: 'echo', arguments: { message: `call ${i}` } })), new RegExp(`call ${i}$`));
        }
        const steps = [];
        const long = (duration, count, more) =>
            client.callTool({ name: 'trigger-long-running-operation', arguments: { duration, steps: count } }, undefined, more);
        await long(0.2, 4, { onprogress: ({ progress }) => steps.push(progress) });
        assert.deepEqual(steps, [1, 2, 3, 4]);
        assert.match(said(await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } })), /sampled/);
        assert.match(said(await client.callTool({ name: 'get-roots-list', arguments: {} })), /file:\/\/\/r/);
        const leave = new AbortController();
        await assert.rejects(long(30, 300, { signal: leave.signal, onprogress: () => leave.abort() }));
        assert.match(said(await client.callTool({ name: 'echo', arguments: { message: 'still there' } })), /still there$/);
        await client.close();
    });

    test('its stream tells of changed lists, wherever it ends', patience, async () => {
        const told = new Happenings();
        const { client } = await connectV1('growing', (of) => {
            of.setNotificationHandler(ToolListChangedNotificationSchema, () => told.add('changed'));
        });
        assert.equal((await client.listTools()).tools.length, 1);
        // What changes before the stream is open, nobody hears of.
        let added = 0;
        const grow = setInterval(() => appendFile(inFolder('tools'), `tool${(added += 1)}\n`), 100);
        await told.wanted(() => true, 'news of the tools').finally(() => clearInterval(grow));
        const names = (await client.listTools()).tools.map(({ name }) => name);
        assert.deepEqual(names.slice(0, 2), ['first', 'tool1']);
        await client.close();
    });

    test('a client of the modern era calls, is asked and hears of progress', patience, async () => {
        const capabilities = { elicitation: { form: {} }, roots: {} };
        const client = new ClientV2(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
        client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { confirm: true } }));
        client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///r', name: 'r' }] }));
        await client.connect(new HttpV2(url('modern')));
        assert.equal((await client.listTools()).tools.length, 6);
        assert.equal(said(await client.callTool({ name: 'where', arguments: { region: 'Köln' } })), 'Köln');
        assert.equal(said(await client.callTool({ name: 'confirm', arguments: {} })), 'true file:///r state é');
        const steps = [];
        await client.callTool({ name: 'steps', arguments: {} }, { onprogress: ({ progress }) => steps.push(progress) });
        assert.deepEqual(steps, [1, 2, 3]);
        await client.close();
    });

    test('a session with a program is found at its own gateway only', patience, async () => {
        const session = await openSession(url('program', gateways[0].base));
        const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
        const statusAt = async ({ base }) => {
            const fields = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': session.id };
            const answer = await fetch(url('program', base), { method: 'POST', headers: fields, body: JSON.stringify(ping) });
            return [answer.status, (await answer.json()).error?.code];
        };
        assert.deepEqual(await Promise.all(gateways.map(statusAt)), [[200, undefined], [404, -32001], [404, -32001]]);
        await session.end();
    });
});

// Calls over and over, each fourth of which asks the client if it `mayAsk`; what went wrong is in `failures`.
class Caller {
    failures = [];
    done = 0;
    #session;
    #stopped = false;
    #at;
    #tool;
    #mayAsk;

    constructor(at = url('marking'), { tool = 'mark', mayAsk = true } = {}) {
        this.#at = at;
        this.#tool = tool;
        this.#mayAsk = mayAsk;
    }

    async begin() {
        this.#session = await openSession(this.#at);
        this.running = this.#run();
    }

    async stop() {
        this.#stopped = true;
        await within(this.running, 'the end of the calls');
    }

    async #run() {
        while (!this.#stopped) {
            const mark = `mark ${this.done + this.failures.length}`;
            const outcome = await this.#call(mark).catch((error) => error.code ?? error.message);
            if (outcome === mark) {
                this.done += 1;
            } else {
                this.failures.push(outcome);
            }
        }
    }

    async #call(mark) {
        let text;
        const answers = [];
        const asks = this.#mayAsk && this.done % 4 === 0;
        const params = { name: this.#tool, arguments: { mark, asks }, _meta: { progressToken: 't' } };
        const { status, headers, problem } = await this.#session.send({ id: 1, method: 'tools/call', params }, (message) => {
            if (message.method === 'elicitation/create') {
                answers.push(this.#accept(message));
            }
            text = message.result?.content?.[0].text ?? message.error?.message ?? text;
        });
        const unsent = (await Promise.all(answers)).find((error) => error);
        return status === 200 && !problem && !unsent ? text : `${status} ${headers['cardea-error']} ${problem ?? unsent}`;
    }

    // Resolves with the error of the last try, if none went through. An answer that was under way at a gateway that died is sent again, as
    // the call may be at another one; more than once, because a process that ends resets its connections before it stops listening.
    async #accept({ id, params }, tries = 5) {
        const sent = this.#session.send({ id, result: { action: 'accept', content: { mark: params.message } } });
        const error = await sent.then(() => undefined, (reason) => reason);
        return error && tries > 1 ? this.#accept({ id, params }, tries - 1) : error;
    }
}

const many = (count, make) => Array.from({ length: count }, make);

// What a program keeps, such as what it has asked, is at one gateway only: each gateway begins a session of its own with it.
const callersOf = {
    'an agent': () => many(12, () => new Caller()),
    'a bundle': () => [
        ...many(8, () => new Caller(new URL('mcp', balancer.base), { tool: 'marking__mark' })),
        ...many(4, () => new Caller(new URL('mcp', balancer.base), { tool: 'program__mark', mayAsk: false })),
    ],
};

async function underLoad(act, callers = callersOf['an agent']()) {
    await Promise.all(callers.map((caller) => caller.begin()));
    const done = () => callers.reduce((all, caller) => all + caller.done, 0);
    // Until so many more calls are done, or can be done no more.
    const go = async (more) => {
        const wanted = done() + more;
        while (done() < wanted && callers.every(({ failures }) => failures.length < 20)) {
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
    };
    try {
        await within(go(100), 'calls');
        await act();
        await within(go(300), 'calls');
    } finally {
        await Promise.all(callers.map((caller) => caller.stop()));
    }
    return callers.flatMap(({ failures }) => failures);
}

async function reloadAll() {
    for (const { admin } of gateways) {
        assert.equal((await fetch(`${admin}reload`, { method: 'POST' })).status, 200);
    }
}

describe('under load', () => {
    test('another key takes the place of the first, and no session is lost', patience, async () => {
        const failures = await underLoad(async () => {
            for (const keys of [['old', 'new'], ['new', 'old']]) {
                await configure(keys);
                await reloadAll();
            }
        }, Object.values(callersOf).flatMap((make) => make()));
        assert.deepEqual(failures, []);
        const later = await openSession(url('marking'));
        await configure(['new']);
        await reloadAll();
        const { status } = await later.send({ id: 1, method: 'ping' });
        assert.equal(status, 200);
    });

    test('a session that a dropped key has sealed is not found', patience, async () => {
        const session = await openSession(url('marking'));
        await configure(['old']);
        await reloadAll();
        assert.equal((await session.send({ id: 1, method: 'ping' })).status, 404);
    });

    test('reloads that change other agents fail no call, in sessions over HTTP or with programs', patience, async () => {
        const programs = Array.from({ length: 4 }, () => new Caller(url('program', gateways[0].base)));
        const callers = [...programs, ...Array.from({ length: 8 }, () => new Caller())];
        const failures = await underLoad(async () => {
            for (let round = 0; round < 20; round += 1) {
                const changed = { type: 'streamable-http', url: `${marking.origin}mcp?round=${round}`, start: 'lazy' };
                await configure(['old'], round % 3 === 2 ? {} : { changed });
                await reloadAll();
            }
        }, callers);
        assert.deepEqual(failures, []);
        assert.ok(callers.every(({ done }) => done > 0));
    });

    for (const [whose, callers] of Object.entries(callersOf)) {
        test(`a gateway that is killed takes with it only the calls that it had, and no session of ${whose}`, patience, async () => {
            let had;
            const victim = gateways.shift();
            const target = balancer.targets.find(({ base }) => base.href === victim.base);
            const failures = await underLoad(async () => {
                had = target.active;
                await victim.kill();
            }, callers());
            const { cut } = target;
            const others = balancer.targets.filter((each) => each !== target);
            assert.deepEqual(others.map((each) => each.cut), [0, 0]);
            assert.ok(failures.length <= cut && cut <= had + 24, `${failures.length} failed, ${cut} cut, ${had} under way`);
        });

        test(`a gateway that comes back serves the sessions of ${whose} that others have begun`, patience, async () => {
            const target = balancer.targets.find(({ gone }) => gone);
            let back;
            const failures = await underLoad(async () => {
                back = await startGatewayFrom(inFolder('cardea.json'));
                gateways.push(back);
                Object.assign(target, { base: new URL(back.base), gone: false, cut: 0 });
            }, callers());
            assert.deepEqual(failures, []);
            assert.equal(target.cut, 0);
            const page = await (await fetch(`${back.admin}metrics`)).text();
            const served = page.match(/^cardea_mcp_requests_total\{agent="marking"[^}]*method="tools\/call"[^}]*\} (\d+)$/m);
            assert.ok(Number(served?.[1]) > 0, 'it has served none');
        });
    }
});
