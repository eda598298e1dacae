// Clients of both generations over gRPC in front of agents of both generations over every binding, and the clients of the JSON bindings
// in front of agents by gRPC: each carries the whole conversation on.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startGrpcAgent03, startSampleAgent03 } from './support/agent_03.js';
import { startGrpcAgent1, startSampleAgent1 } from './support/agent_1.js';
import { client03, client03Grpc, client03Rest } from './support/client_03.js';
import { client1, client1Grpc, client1Rest } from './support/client_1.js';
import { converse } from './support/conversation.js';
import { startConfiguredGateway } from './support/programs.js';
import { Recorder } from './support/recorder.js';
import { startWebhook } from './support/upstream.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const starters = {
    'old-jsonrpc': () => startSampleAgent03(false, 'JSONRPC'),
    'old-rest': () => startSampleAgent03(false, 'HTTP+JSON'),
    'old-grpc': startGrpcAgent03,
    'new-jsonrpc': () => startSampleAgent1(false, 'JSONRPC'),
    'new-rest': () => startSampleAgent1(false, 'HTTP+JSON'),
    'new-grpc': startGrpcAgent1,
};
const byGrpc = [client03Grpc, client1Grpc];
const callers = [client03, client03Rest, client03Grpc, client1, client1Rest, client1Grpc];
const pairs = Object.keys(starters).flatMap((id) =>
    callers.filter((speak) => id.endsWith('grpc') || byGrpc.includes(speak)).map((speak) => [speak, id])
);

let agents;
let gateways;
let webhook;

// Callers of 0.3 have no tenant: each agent is the default one of a gateway.
before(async () => {
    agents = {};
    gateways = {};
    for (const [id, starter] of Object.entries(starters)) {
        agents[id] = { ...(await starter()), lists: !id.startsWith('old') };
        const { url, card } = agents[id];
        gateways[id] = await startConfiguredGateway({ grpc: { default_agent: id }, agents: { [id]: card ? { url, card } : { url } } });
    }
    webhook = await startWebhook();
}, patience);

after(async () => {
    await Promise.all([...Object.values(gateways ?? {}), ...Object.values(agents ?? {}), webhook].map((each) => each?.stop()));
}, patience);

async function connect(speak, id) {
    const { base } = gateways[id];
    return within(speak.connect(`${base}agents/${id}/`, new Recorder(base).fetch), 'card');
}

// The 0.3 SDK's clients over HTTP+JSON and gRPC and its own servers do not agree on the body that creates a push configuration.
const agree = (speak, id) => !(speak === client03Rest && id === 'old-rest');

for (const [speak, id] of pairs) {
    describe(`${speak.name}, agent ${id}`, patience, () => {
        test('the whole conversation', patience, async () => {
            const client = await connect(speak, id);
            const transcript = await converse(speak, client, { ...agents[id], push: agree(speak, id) }, webhook);
            assert.ok(transcript.length >= 12);
        });

        // The SDKs' servers of JSON take 100 kB.
        test('3 MiB there and back', { ...patience, skip: !id.endsWith('grpc') }, async () => {
            const client = await connect(speak, id);
            const text = 'hi '.padEnd(3 * 1024 * 1024, 'x');
            const done = speak.task(await within(speak.send(client, text), 'answer'));
            assert.equal(speak.state(done), 'completed');
        });

        test('100 streams at once', patience, async () => {
            const client = await connect(speak, id);
            const streams = Array.from({ length: 100 }, () => all(speak.stream(client, 'how are you'), 'end of the stream'));
            for (const events of await Promise.all(streams)) {
                assert.deepEqual(events.map(speak.event), ['task', 'status-update', 'artifact-update', 'status-update']);
            }
        });
    });
}
