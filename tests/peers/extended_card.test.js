// The extended cards of the SDKs' agents, asked for by the SDKs' clients through the gateway, and called through.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { startConfiguredGateway } from './support/programs.js';
import { Recorder } from './support/recorder.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const pairs = [
    { id: 'old', speak: client03, method: 'agent/getAuthenticatedExtendedCard' },
    { id: 'old', speak: client1Legacy, method: 'agent/getAuthenticatedExtendedCard' },
    { id: 'new', speak: client1, method: 'GetExtendedAgentCard' },
];

let agents;
let gateway;

before(async () => {
    agents = {
        old: await startSampleAgent03(true),
        new: await startSampleAgent1(true),
        'old-plain': await startSampleAgent03(),
        'new-plain': await startSampleAgent1(),
    };
    // What passes is looked at here: nothing may be translated.
    const passing = Object.entries(agents).map(([id, { url }]) => [id, { url, bridge: false }]);
    gateway = await startConfiguredGateway({ agents: Object.fromEntries(passing) });
}, patience);

after(async () => {
    await Promise.all(Object.values(agents ?? {}).map((each) => each.stop()));
    await gateway?.stop();
}, patience);

function check(card, id) {
    const text = JSON.stringify(card);
    assert.equal(card.description, 'For callers that are known.');
    assert.ok(text.includes(`${gateway.base}agents/${id}`));
    assert.ok(!text.includes(new URL(agents[id].url).host));
    for (const { url } of [...(card.additionalInterfaces ?? []), ...(card.supportedInterfaces ?? [])]) {
        assert.ok([`${gateway.base}agents/${id}`, `${gateway.base}agents/${id}/rest`].includes(url), url);
    }
}

describe('extended cards', patience, () => {
    for (const { id, speak, method } of pairs) {
        test(`${speak.name} gets that of the ${id} agent, and calls through its address`, patience, async () => {
            const recorder = new Recorder(gateway.base);
            const client = await within(speak.connect(`${gateway.base}agents/${id}/`, recorder.fetch), 'card');
            const card = await within(speak.card(client), 'extended card');
            check(card, id);
            const [asked] = await recorder.rpc();
            assert.equal(asked.call, method);
            assert.equal(asked.status, 200);
            assert.equal('url' in JSON.parse(asked.body).result, id === 'old');

            const known = await within(speak.connectTo(card, recorder.fetch), 'client of the extended card');
            for (const each of [client, known]) {
                const task = speak.task(await within(speak.send(each, 'hello'), 'answer'));
                assert.equal(speak.state(task), 'completed');
            }
            assert.equal(agents[id].directContacts.length, 0);
        });
    }

    test('what the agent has not is refused in its own words', patience, async () => {
        const ask = async (id, method) => {
            const answer = await within(
                fetch(`${gateway.base}agents/${id}`, {
                    method: 'POST',
                    headers: { 'Content-Type': 'application/json', 'A2A-Version': method.includes('/') ? '0.3' : '1.0' },
                    body: JSON.stringify({ jsonrpc: '2.0', id: 'x', method, params: {} }),
                }),
                'refusal'
            );
            return answer.json();
        };
        const old = await ask('old-plain', 'agent/getAuthenticatedExtendedCard');
        assert.equal(old.error.code, -32007); // 0.3.0 section 8.2; -32004 is 1.0's
        assert.equal(old.id, 'x');
        const now = await ask('new-plain', 'GetExtendedAgentCard');
        assert.equal(now.error.code, -32004);
        assert.equal(now.id, 'x');
    });

    for (const [id, path, version] of [
        ['old', 'rest/v1/card', '0.3'],
        ['new', 'rest/extendedAgentCard', '1.0'],
    ]) {
        test(`a GET of ${path} is answered with that of the ${id} agent`, patience, async () => {
            const answer = await within(
                fetch(`${gateway.base}agents/${id}/${path}`, { headers: { 'A2A-Version': version } }),
                'extended card'
            );
            assert.equal(answer.status, 200);
            assert.equal(answer.headers.get('cache-control'), 'private, no-store');
            assert.equal(answer.headers.get('etag'), null);
            check(await answer.json(), id);
        });
    }
});
