// A base URL without a slash at its end: the SDKs drop the agent's id, and what they then say leads to the reason.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { A2AClient, DefaultAgentCardResolver as Resolver03 } from 'a2a-sdk-03/client';
import { DefaultAgentCardResolver as Resolver1 } from 'a2a-sdk-1/client';

import { startDemoAgent, startGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 30_000 };
const explanation = /the base URL has no slash at its end, as http:\S+\/agents\/<id>\/ has\.$/;

let agent;
let gateway;

before(async () => {
    agent = await startDemoAgent('0.3');
    gateway = await startGateway({ words: agent.url });
}, patience);

after(async () => {
    await gateway?.stop();
    await agent?.stop();
}, patience);

describe('a base URL without a slash at its end', patience, () => {
    for (const [name, Resolver] of [['0.3', Resolver03], ['1.0', Resolver1]]) {
        test(`the ${name} SDK names an address that explains itself`, patience, async () => {
            const failure = await within(
                new Resolver().resolve(`${gateway.base}agents/words`).catch((error) => error),
                'refusal',
            );
            assert.match(failure.message, /^Failed to fetch Agent Card from http:\S+: 404/);
            const [address] = failure.message.match(/http:\S+(?=: 404)/);
            assert.equal(address, `${gateway.base}agents/.well-known/agent-card.json`);
            const answer = await within(fetch(address), 'explanation');
            assert.equal(answer.headers.get('Cardea-Error'), 'not_found');
            assert.match((await answer.json()).error.message, explanation);
        });

        test(`the ${name} SDK finds the card with the slash`, patience, async () => {
            const card = await within(new Resolver().resolve(`${gateway.base}agents/words/`), 'card');
            assert.equal(card.name, 'Words');
        });
    }

    test('an SDK that shows the reason of a status shows it', patience, async () => {
        const address = new URL('.well-known/agent-card.json', `${gateway.base}agents/words`);
        await assert.rejects(
            within(A2AClient.fromCardUrl(address.href), 'refusal'),
            /404 Not Found: the base URL of an agent needs a slash at its end$/,
        );
    });
});
