// The SDKs' sample agents behind the gateway, the SDKs' clients in front of it, and nothing around it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { converse } from './support/conversation.js';
import { startConfiguredGateway } from './support/programs.js';
import { Recorder, withoutIdsAndTimes } from './support/recorder.js';
import { extension, startWebhook } from './support/upstream.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const pairs = [
    { agent: 'old', speak: client03 },
    { agent: 'old', speak: client1Legacy },
    { agent: 'new', speak: client1 },
];
const starters = { old: startSampleAgent03, new: startSampleAgent1 };

// Behind the gateway, and the same again to be asked directly.
let behind;
let direct;
let gateway;
let webhook;

before(async () => {
    behind = { old: await startSampleAgent03(), new: await startSampleAgent1() };
    direct = { old: await startSampleAgent03(), new: await startSampleAgent1() };
    webhook = await startWebhook();
    // What passes is compared with what is said directly: nothing may be translated.
    const passing = ({ url }) => ({ url, bridge: false });
    gateway = await startConfiguredGateway({ agents: { old: passing(behind.old), new: passing(behind.new) } });
}, patience);

after(async () => {
    const agents = [...Object.values(behind ?? {}), ...Object.values(direct ?? {}), webhook];
    await Promise.all(agents.map((each) => each?.stop()));
    await gateway?.stop();
}, patience);

const baseOf = (id) => `${gateway.base}agents/${id}/`;

async function throughGateway(speak, id) {
    const recorder = new Recorder(gateway.base);
    return { recorder, client: await within(speak.connect(baseOf(id), recorder.fetch), 'card') };
}

// Every address in a card that traffic would follow.
function trafficUrls(card) {
    const listed = [...(card.additionalInterfaces ?? []), ...(card.supportedInterfaces ?? [])];
    return [card.url, ...listed.map(({ url }) => url)].filter((url) => url !== undefined && url !== '');
}

for (const { agent: id, speak } of pairs) {
    describe(`${speak.name}, ${id === 'old' ? '0.3' : '1.0'} SDK agent`, patience, () => {
        test('every traffic address in the card is the gateway, and the agent stays hidden', patience, async () => {
            const { client } = await throughGateway(speak, id);
            const card = await speak.card(client);
            assert.equal(card.name, 'Sample Agent');
            assert.equal(card.skills[0].id, 'sample_agent');
            assert.ok(trafficUrls(card).length > 0);
            for (const url of trafficUrls(card).filter((each) => each !== new URL(gateway.base).host)) {
                assert.match(url, new RegExp(`^${gateway.base}agents/${id}(/|$)`));
            }
            assert.ok(!JSON.stringify(card).includes(new URL(behind[id].url).host));
        });

        test('a conversation through the gateway is the conversation without it', patience, async () => {
            const { recorder, client } = await throughGateway(speak, id);
            const transcript = await converse(speak, client, behind[id], webhook);

            const directRecorder = new Recorder(direct[id].url);
            const directClient = await within(speak.connect(direct[id].url, directRecorder.fetch), 'card');
            const expected = await converse(speak, directClient, direct[id], webhook);

            assert.deepEqual(withoutIdsAndTimes(transcript), withoutIdsAndTimes(expected));
            const exchanged = withoutIdsAndTimes(await recorder.rpc());
            const exchangedDirectly = withoutIdsAndTimes(await directRecorder.rpc());
            assert.ok(exchanged.length > 15);
            assert.deepEqual(exchanged, exchangedDirectly);
        });

        test('the first events of a stream arrive before the agent has made the last', patience, async () => {
            const { client } = await throughGateway(speak, id);
            const stream = speak.stream(client, 'long story');
            const first = (await within(stream.next(), 'first event')).value;
            assert.equal(speak.event(first), 'task');
            const second = (await within(stream.next(), 'second event')).value;
            assert.equal(speak.event(second), 'status-update');
            // The agent waits for this.
            behind[id].gate.go(second.taskId ?? second.payload.value.taskId);
            assert.equal(speak.event((await within(stream.next(), 'third event')).value), 'artifact-update');
            assert.equal(speak.event((await within(stream.next(), 'last event')).value), 'status-update');
            assert.equal((await within(stream.next(), 'end of the stream')).done, true);
        });

        test('a caller that leaves a stream leaves the agent too', patience, async () => {
            const { client } = await throughGateway(speak, id);
            const leaving = new AbortController();
            const before = behind[id].left.all.length;
            const stream = speak.stream(client, 'long and forgotten', { signal: leaving.signal });
            await within(stream.next(), 'first event');
            leaving.abort();
            await assert.rejects(all(stream, 'end of the left stream'), { name: 'AbortError' });
            const left = await behind[id].left.wanted((each) => behind[id].left.all.indexOf(each) >= before, 'caller leaving');
            assert.equal(left.method, 'POST');
            behind[id].gate.cancelAll();
        });

        test('a caller that leaves a call leaves the agent too', patience, async () => {
            const { client } = await throughGateway(speak, id);
            const leaving = new AbortController();
            const calls = behind[id].calls.all.length;
            const before = behind[id].left.all.length;
            const answer = speak.send(client, 'long and forgotten', { signal: leaving.signal });
            answer.catch(() => {});
            await behind[id].calls.wanted((each) => behind[id].calls.all.indexOf(each) >= calls, 'call');
            leaving.abort();
            await assert.rejects(within(answer, 'end of the left call'), { name: 'AbortError' });
            await behind[id].left.wanted((each) => behind[id].left.all.indexOf(each) >= before, 'caller leaving');
            behind[id].gate.cancelAll();
        });

        test('what a caller says about tracing and extensions reaches the agent', patience, async () => {
            const { recorder, client } = await throughGateway(speak, id);
            const traceparent = `00-${'4bf92f3577b34da6a3ce929d0e0e4736'}-00f067aa0ba902b7-01`;
            const serviceParameters = { traceparent, tracestate: `for=${id}`, [speak.extensionHeader]: extension };
            await within(speak.send(client, `hello with a trace`, { serviceParameters }), 'answer');
            const call = behind[id].calls.all.findLast(({ method }) => method === 'POST');
            assert.equal(call.headers.tracestate, `for=${id}`);
            assert.equal(call.headers.traceparent.split('-')[1], traceparent.split('-')[1]);
            assert.equal(call.headers[speak.extensionHeader.toLowerCase()], extension);
            if (speak === client1) {
                const [exchange] = await recorder.rpc();
                assert.equal(exchange.headers['a2a-extensions'], extension);
                assert.equal(call.headers['a2a-version'], '1.0');
            }
        });
    });
}

describe('nothing around the gateway', patience, () => {
    test('no agent behind the gateway was contacted by anyone else', () => {
        for (const [id, agent] of Object.entries(behind)) {
            assert.ok(agent.calls.all.length > 0, `${id} was called`);
            assert.deepEqual(agent.directContacts, []);
        }
    });

    test('a direct contact would have been noticed', patience, async () => {
        for (const [id, start] of Object.entries(starters)) {
            const agent = await start();
            try {
                await within(fetch(`${agent.url}.well-known/agent-card.json`), 'card');
                assert.equal(agent.directContacts.length, 1, id);
            } finally {
                await agent.stop();
            }
        }
    });
});
