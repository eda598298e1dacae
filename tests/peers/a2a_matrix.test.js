// Clients of both generations over both bindings in front of agents of both generations that have one binding each: every
// client carries the whole conversation on with every agent, and each cell says what the client's own agent would have said.
import assert from 'node:assert/strict';
import { createConnection, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { client03, client03Rest } from './support/client_03.js';
import { client1, client1Rest } from './support/client_1.js';
import { converse } from './support/conversation.js';
import { listen, startConfiguredGateway } from './support/programs.js';
import { Recorder, withoutIdsAndTimes } from './support/recorder.js';
import { startWebhook } from './support/upstream.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const callers = [client03, client03Rest, client1, client1Rest];
const starters = {
    'old-jsonrpc': () => startSampleAgent03(false, 'JSONRPC'),
    'old-rest': () => startSampleAgent03(false, 'HTTP+JSON'),
    'new-jsonrpc': () => startSampleAgent1(false, 'JSONRPC'),
    'new-rest': () => startSampleAgent1(false, 'HTTP+JSON'),
};
// The agent that a client of this generation and binding speaks to without a gateway.
const own = new Map([
    [client03, 'old-jsonrpc'],
    [client03Rest, 'old-rest'],
    [client1, 'new-jsonrpc'],
    [client1Rest, 'new-rest'],
]);
// Members and values that the client's own dialect does not have.
const foreign = new Map([
    [client03, /"(statusUpdate|artifactUpdate|returnImmediately)":|"(ROLE|TASK_STATE)_/],
    [client03Rest, /"(kind|returnImmediately)":/],
    [client1, /"(kind|final)":/],
    [client1Rest, /"(kind|final)":/],
]);
const isOld = (id) => id.startsWith('old');

// What passes from the agent is cut into pieces of 1 to 40 bytes: the same ones in each run.
async function startSlicer(target) {
    let state = 1;
    const next = (most) => {
        state = (state * 48271) % 2147483647;
        return 1 + (state % most);
    };
    const { port, hostname } = new URL(target);
    const server = createServer((caller) => {
        const agent = createConnection({ port, host: hostname });
        agent.setNoDelay(true);
        caller.setNoDelay(true);
        caller.pipe(agent);
        agent.on('data', (data) => {
            for (let at = 0; at < data.length;) {
                const length = next(40);
                caller.write(data.subarray(at, at + length));
                at += length;
            }
        });
        agent.on('end', () => caller.end());
        for (const side of [caller, agent]) {
            side.on('error', () => {
                caller.destroy();
                agent.destroy();
            });
        }
    });
    const sockets = new Set();
    server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
    });
    server.closeAllConnections = () => sockets.forEach((socket) => socket.destroy());
    return listen(server);
}

let agents;
let extended;
let slicers;
let gateway;
let webhook;

before(async () => {
    agents = {};
    slicers = {};
    for (const [id, starter] of Object.entries(starters)) {
        agents[id] = { ...(await starter()), lists: !isOld(id) };
        slicers[`sliced-${id}`] = await startSlicer(agents[id].url);
    }
    extended = { 'old-extended': await startSampleAgent03(true), 'new-extended': await startSampleAgent1(true) };
    webhook = await startWebhook();
    const urls = Object.entries({ ...agents, ...slicers, ...extended }).map(([id, { url }]) => [id, { url }]);
    gateway = await startConfiguredGateway({ agents: Object.fromEntries(urls) });
}, patience);

after(async () => {
    await gateway?.stop();
    const started = [...Object.values(slicers ?? {}), ...Object.values(agents ?? {}), ...Object.values(extended ?? {}), webhook];
    await Promise.all(started.map((each) => each?.stop()));
}, patience);

const baseOf = (id) => `${gateway.base}agents/${id}/`;

async function connect(speak, id) {
    const recorder = new Recorder(gateway.base);
    return { recorder, client: await within(speak.connect(baseOf(id), recorder.fetch), 'card') };
}

// The SDK's client of 0.3 over HTTP+JSON and its own server do not agree on the body that creates a push configuration.
const agree = (speak, id) => !(speak === client03Rest && id === 'old-rest');

for (const speak of callers) {
    for (const id of Object.keys(starters)) {
        describe(`${speak.name}, agent ${id}`, patience, () => {
            test('the whole conversation', patience, async () => {
                const { client } = await connect(speak, id);
                const transcript = await converse(speak, client, { ...agents[id], push: agree(speak, id) }, webhook);
                assert.ok(transcript.length >= 12);

                const direct = await starters[own.get(speak)]();
                try {
                    const recorder = new Recorder(direct.url);
                    const asked = await within(speak.connect(direct.url, recorder.fetch), 'card');
                    const expected = await converse(speak, asked, { ...direct, push: agree(speak, own.get(speak)) }, webhook);
                    const comparable = new Set(['send', 'get', 'stream', 'cancel', 'resubscribe']);
                    // How much of the history a task shows is up to its agent, unless it is asked for so much.
                    const open = new Set(['cancel', 'resubscribe']);
                    const meant = ([label, value]) => [label, shape(value, open.has(label) ? ['metadata', 'history'] : ['metadata'])];
                    const shapes = (of) => of.filter(([label]) => comparable.has(label)).map(meant);
                    assert.deepEqual(shapes(transcript), shapes(expected));
                } finally {
                    await direct.stop();
                }
            });

            test('nothing of another generation is in what the client gets', patience, async () => {
                const { recorder, client } = await connect(speak, id);
                await within(speak.send(client, 'hello'), 'answer');
                await all(speak.stream(client, 'how are you'), 'end of the stream');
                const bodies = (await recorder.rpc()).map(({ body }) => body);
                assert.ok(bodies.length >= 2);
                for (const body of bodies) {
                    assert.doesNotMatch(body, foreign.get(speak));
                }
            });

            test('a stream that comes in pieces of any size has the same events', patience, async () => {
                const { client } = await connect(speak, `sliced-${id}`);
                for (let turn = 0; turn < 5; ++turn) {
                    const events = await all(speak.stream(client, `pieces ${turn}`), 'end of the stream');
                    assert.deepEqual(events.map(speak.event), ['task', 'status-update', 'artifact-update', 'status-update']);
                    assert.ok(JSON.stringify(events).includes(`You said: 'pieces ${turn}'`));
                }
            });

            test('of a hundred streams at once each has its own events', patience, async () => {
                const { client } = await connect(speak, id);
                const streams = Array.from({ length: 100 }, (_, turn) => all(speak.stream(client, `stream no. ${turn}.`), 'end of the stream'));
                const ended = await Promise.all(streams);
                ended.forEach((events, turn) => {
                    assert.deepEqual(events.map(speak.event), ['task', 'status-update', 'artifact-update', 'status-update']);
                    const said = JSON.stringify(events).match(/You said: '([^']*)'/g);
                    assert.deepEqual(said, [`You said: 'stream no. ${turn}.'`]);
                });
            });
        });
    }

    for (const id of ['old-extended', 'new-extended']) {
        test(`${speak.name} gets the extended card of agent ${id}`, patience, async () => {
            const { client } = await connect(speak, id);
            const card = await within(speak.card(client), 'extended card');
            assert.equal(card.description, 'For callers that are known.');
            assert.ok(!JSON.stringify(card).includes(new URL(extended[id].url).host));
        });
    }
}

// Names of members at every place, without values: what two agents of different generations must agree on once translated.
function shape(value, without) {
    if (Array.isArray(value)) {
        return value.map((each) => shape(each, without));
    }
    if (value !== null && typeof value === 'object') {
        const meant = Object.entries(withoutIdsAndTimes(value)).filter(([name, member]) => !without.includes(name) && member !== undefined);
        return Object.fromEntries(meant.map(([name, member]) => [name, shape(member, without)]));
    }
    return typeof value;
}

test('no agent was contacted by anyone but the gateway', patience, () => {
    for (const [id, agent] of Object.entries(agents)) {
        assert.ok(agent.calls.all.length > 0, `${id} was called`);
        assert.deepEqual(agent.directContacts, []);
    }
});
