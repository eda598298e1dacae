// Extended cards that the gateway makes: SDKs' clients of both generations get their own, and no shared cache in front of the
// gateway ever shows that of one principal to another.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { startFront } from './support/front.js';
import { startConfiguredGateway, startDemoAgent } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const tokens = { gold: 'gold-token-0123456789', plain: 'plain-token-0123456789' };
const skill = (id) => ({ id, name: id, description: id, tags: ['t'] });
const fromOverlay = ['dice', 'gold-dice', 'silver-dice'].map(skill);
let demo;
let gateway;
const fronts = {};

before(async () => {
    demo = { old: await startDemoAgent('0.3'), new: await startDemoAgent('1.0') };
    const managed = (url) => ({
        url,
        extended_card: 'managed',
        skills: [
            { id: 'gold-*', visibility: 'extended', required_scopes: ['gold'] },
            { id: 'silver-*', visibility: 'extended', required_scopes: ['silver'] },
        ],
        overlays: [
            { when: 'authenticated', card: { skills: fromOverlay } },
            { when: { claims: { plan: 'gold' } }, card: { documentationUrl: 'https://docs.example/gold' } },
        ],
    });
    gateway = await startConfiguredGateway({
        access: {
            providers: [
                { type: 'static_token', name: 'gold', token: tokens.gold, scopes: ['gold'], claims: { plan: 'gold' } },
                { type: 'static_token', name: 'plain', token: tokens.plain },
            ],
            rules: [{ discover: 'anyone', call: 'authenticated' }],
        },
        agents: {
            old: managed(demo.old.url),
            new: managed(demo.new.url),
        },
    });
    fronts.careful = await startFront(gateway.base, false);
    fronts.careless = await startFront(gateway.base, true);
}, patience);

after(async () => {
    await Promise.all(Object.values(fronts).map((each) => each.stop()));
    await gateway?.stop();
    await Promise.all(Object.values(demo ?? {}).map((each) => each.stop()));
}, patience);

const as = (who) => (who ? { Authorization: `Bearer ${tokens[who]}` } : {});

function fetchAs(who) {
    return (url, init = {}) => fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...as(who) } });
}

const own = { gold: ['dice', 'gold-dice'], plain: ['dice'] };
const ids = (card) => card.skills.map(({ id }) => id);

describe('managed extended cards', patience, () => {
    for (const { speak, id } of [
        { speak: client03, id: 'old' },
        { speak: client1, id: 'new' },
        { speak: client1Legacy, id: 'old' },
    ]) {
        for (const who of ['gold', 'plain']) {
            test(`${speak.name} gets the extended card of ${who}, and calls the ${id} agent with it`, patience, async () => {
                const client = await within(speak.connect(`${gateway.base}agents/${id}/`, fetchAs(who)), 'card');
                const card = await within(speak.card(client), 'extended card');
                assert.deepEqual(ids(card), own[who]);
                assert.equal(card.documentationUrl === 'https://docs.example/gold', who === 'gold');
                const known = await within(speak.connectTo(card, fetchAs(who)), 'client of the extended card');
                const task = speak.task(await within(speak.send(known, 'roll a d6'), 'answer'));
                assert.equal(speak.state(task), 'completed');
            });
        }
    }

    const routes = [
        { path: '/agent/authenticatedExtendedCard' },
        { path: '/rest/v1/card' },
        { path: '/rest/extendedAgentCard' },
        { method: 'agent/authenticatedExtendedCard' },
        { method: 'agent/getAuthenticatedExtendedCard' },
        { method: 'GetExtendedAgentCard' },
    ];
    async function ask(base, id, { path = '', method }, who) {
        const init = method
            ? {
                  method: 'POST',
                  headers: { 'Content-Type': 'application/json', ...as(who) },
                  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
              }
            : { headers: as(who) };
        const answer = await within(fetch(`${base}agents/${id}${path}`, init), 'answer');
        const body = await answer.json();
        return { status: answer.status, cache: answer.headers.get('x-cache'), card: method ? body.result : body, answer };
    }

    // What the careless cache was told last it may tell everybody: a refusal, at worst.
    const orders = {
        careful: ['gold', 'plain', undefined, 'gold', 'plain', undefined],
        careless: ['gold', 'plain', 'gold', 'plain', undefined],
    };
    for (const kind of ['careful', 'careless']) {
        test(`a ${kind} shared cache keeps no extended card`, patience, async () => {
            for (const id of ['old', 'new']) {
                for (const route of routes) {
                    for (const who of orders[kind]) {
                        const got = await ask(fronts[kind].base, id, route, who);
                        if (who === undefined) {
                            assert.equal(got.status, 401);
                            continue;
                        }
                        assert.equal(got.status, 200, `${id} ${JSON.stringify(route)} ${who}`);
                        assert.deepEqual(ids(got.card), own[who]);
                        assert.notEqual(got.cache, 'HIT');
                        assert.equal(got.answer.headers.get('cache-control'), 'private, no-store');
                    }
                }
            }
        });
    }

    test('the same cache does keep public cards, so that the test can fail', patience, async () => {
        const card = async () => {
            const answer = await fetch(`${fronts.careful.base}agents/old/.well-known/agent-card.json`);
            assert.equal(answer.status, 200);
            assert.ok(!(await answer.text()).includes('gold-dice'));
            return answer.headers.get('x-cache');
        };
        await card();
        assert.equal(await card(), 'HIT');
    });
});
