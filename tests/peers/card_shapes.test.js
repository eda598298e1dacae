// Each shape of a card, resolved and called through by the SDK of its generation.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { startConfiguredGateway, startDemoAgent } from './support/programs.js';
import { Recorder } from './support/recorder.js';
import { within } from './support/waiting.js';

const patience = { timeout: 30_000 };
const rows = [
    { agent: 'old', shape: 'v0.3', speak: client03 },
    { agent: 'old', shape: 'hybrid', speak: client03 },
    { agent: 'old', shape: 'auto', speak: client03 },
    { agent: 'old', shape: 'v1', speak: client1Legacy },
    { agent: 'old', shape: 'hybrid', speak: client1Legacy },
    { agent: 'old', shape: 'auto', speak: client1Legacy },
    { agent: 'new', shape: 'v1', speak: client1 },
    { agent: 'new', shape: 'hybrid', speak: client1 },
    { agent: 'new', shape: 'auto', speak: client1 },
];
const members = {
    'v0.3': { has: ['url', 'preferredTransport', 'protocolVersion'], lacks: ['supportedInterfaces'] },
    v1: { has: ['supportedInterfaces'], lacks: ['url', 'preferredTransport', 'protocolVersion'] },
    hybrid: { has: ['url', 'preferredTransport', 'supportedInterfaces'], lacks: [] },
    auto: { has: ['url', 'preferredTransport', 'supportedInterfaces', 'protocol'], lacks: [] },
};

let agents;
let gateway;

before(async () => {
    agents = { old: await startDemoAgent('0.3'), new: await startDemoAgent('1.0') };
    const entries = rows.map(({ agent, shape }) => [`${agent}-${shape}`, { url: agents[agent].url, shape }]);
    gateway = await startConfiguredGateway({ agents: Object.fromEntries(entries) });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(agents ?? {}).map((agent) => agent.stop()));
}, patience);

describe('shapes of cards', patience, () => {
    for (const { agent, shape, speak } of rows) {
        test(`${speak.name} calls the ${agent} agent through a card of shape ${shape}`, patience, async () => {
            const base = `${gateway.base}agents/${agent}-${shape}/`;
            const client = await within(speak.connect(base, new Recorder(gateway.base).fetch), 'card');
            const task = speak.task(await within(speak.send(client, agent === 'old' ? 'one two' : '2d6'), 'answer'));
            assert.equal(speak.state(task), 'completed');
            assert.match(speak.text(task), agent === 'old' ? /^2 words/ : /^2d6: /);
        });
    }

    for (const [shape, { has, lacks }] of Object.entries(members)) {
        test(`a card of shape ${shape} has the members of its generation`, patience, async () => {
            const answer = await within(fetch(`${gateway.base}agents/old-${shape}/.well-known/agent-card.json`), 'card');
            const card = await answer.json();
            for (const member of has) {
                assert.ok(member in card, member);
            }
            for (const member of lacks) {
                assert.ok(!(member in card), member);
            }
        });
    }
});
