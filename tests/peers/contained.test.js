// An operator contains an agent: clients of all SDKs get an error that a person can read, and go on with what they had after the release.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { client03, client03Rest } from './support/client_03.js';
import { client1, client1Rest } from './support/client_1.js';
import { clients } from './support/mcp_clients.js';
import { manage } from './support/management.js';
import { HttpServer, startEverything } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const notice = 'Closed until the audit is over.';
const callers = [client03, client03Rest, client1, client1Rest];
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

let agents;
let everything;
let gateway;
const modern = new HttpServer(file('support/mcp_modern_server.js'), 'http');

before(async () => {
    agents = { old: await startSampleAgent03(), new: await startSampleAgent1() };
    everything = await startEverything('streamableHttp');
    await modern.start();
    const server = (url) => ({ type: 'streamable-http', url });
    gateway = await startConfiguredGateway({
        agents: { old: { url: agents.old.url }, new: { url: agents.new.url } },
        mcpServers: {
            everything: server(everything.url),
            modern: server(`${modern.origin}mcp`),
            program: { command: process.execPath, args: [file('support/mcp_marking_server.js'), 'stdio'] },
        },
    });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all([agents?.old, agents?.new].map((each) => each?.stop()));
    await Promise.all([everything, modern].map((each) => each?.kill()));
}, patience);

async function whileContained(id, act) {
    const { contained } = await manage(gateway, 'agents/contain', { id, reason: 'test', notice, until: '1h' });
    assert.equal(contained.reason, 'test');
    try {
        await act();
    } finally {
        const released = await manage(gateway, 'agents/release', { id });
        assert.equal(released.contained, null);
    }
}

// Its program may not have ended yet, which is a 503 that a client may answer with another try.
async function connectAgain(connect, url) {
    for (;;) {
        try {
            return await connect(url);
        } catch (error) {
            if (!String(error.message).includes('503')) {
                throw error;
            }
        }
    }
}

const readable = (error) => {
    const said = [error.message, error.cause?.message, JSON.stringify(error.data ?? error.envelope ?? '')].join(' ');
    assert.ok(said.includes(notice) || said.includes('403'), `says what happened: ${said}`);
    return true;
};

for (const speak of callers) {
    for (const id of ['old', 'new']) {
        test(`${speak.name}, ${id} agent: a readable error, then the client goes on`, patience, async () => {
            const client = await within(speak.connect(`${gateway.base}agents/${id}/`, fetch), 'card');
            await within(speak.send(client, 'first'), 'first answer');
            await whileContained(id, async () => {
                await assert.rejects(within(speak.send(client, 'second'), 'refusal'), readable);
                await assert.rejects(within(all(speak.stream(client, 'story'), 'stream'), 'refusal'), readable);
            });
            await within(speak.send(client, 'third'), 'answer after the release');
        });
    }

    test(`${speak.name}: a stream under way ends with an error`, patience, async () => {
        const client = await within(speak.connect(`${gateway.base}agents/new/`, fetch), 'card');
        const stream = speak.stream(client, 'long story');
        await within(stream.next(), 'first event');
        await whileContained('new', async () => {
            await assert.rejects(within(all(stream, 'rest of the stream'), 'end of the stream'), (error) => {
                assert.ok(!/terminated|socket|network|ECONN/i.test(error.message), error.message);
                return true;
            });
        });
    });
}

for (const [name, connect] of Object.entries(clients)) {
    for (const id of ['everything', 'modern']) {
        // The one speaks only the modern era, the other does not begin a session before it needs one.
        if ((id === 'modern' && name === 'mcp-remote') || (id === 'everything' && name.endsWith('pinned')) || name === 'ai-sdk') {
            continue;
        }
        test(`${name}, ${id}: the session goes on after the release`, patience, async () => {
            const client = await within(connect(new URL(`${gateway.base}agents/${id}/mcp`)), 'session');
            const [first] = await within(client.tools(), 'tools');
            await whileContained(id, async () => {
                await assert.rejects(within(client.tools(), 'refusal'), readable);
                await assert.rejects(within(client.call(first.name, {}), 'refusal'), readable);
            });
            const again = await within(client.tools(), 'tools after the release');
            assert.equal(again[0].name, first.name);
            await client.close();
        });
    }

    if (name.endsWith('pinned')) {
        continue;
    }
    test(`${name}, a program: refused while it is contained, and a new session serves after that`, patience, async () => {
        const url = new URL(`${gateway.base}agents/program/mcp`);
        const client = await within(connect(url), 'session');
        await within(client.tools(), 'tools');
        await whileContained('program', async () => {
            await assert.rejects(within(client.tools(), 'refusal'));
            await assert.rejects(within(connect(url), 'refusal'));
        });
        await client.close().catch(() => {});
        const next = await within(connectAgain(connect, url), 'new session', 20_000);
        assert.ok((await within(next.tools(), 'tools after the release')).length > 0);
        await next.close();
    });
}

describe('while nothing is contained', () => {
    test('principals/list is empty', async () => {
        assert.deepEqual((await manage(gateway, 'principals/list', {})).principals, []);
    });
});
