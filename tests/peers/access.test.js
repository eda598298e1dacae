// Callers with tokens: SDKs' clients that sign in when they are refused, tokens of the jose library, keys by HTTP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

import { createAuthenticatingFetchWithRetry as signIn03 } from 'a2a-sdk-03/client';
import { createAuthenticatingFetchWithRetry as signIn1 } from 'a2a-sdk-1/client';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { gatewayBinary, listen, startConfiguredGateway, startDemoAgent } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const keys = {};
let issuer;
let gateway;
let demo;
let fetched = 0;
let apiKey;

async function token(algorithm = 'ES256', claims = {}) {
    return new SignJWT({ scope: 'dice:call', ...claims })
        .setProtectedHeader({ alg: algorithm, kid: algorithm, typ: 'at+jwt' })
        .setIssuer(claims.iss ?? 'https://idp.test')
        .setAudience(claims.aud ?? 'cardea')
        .setSubject('alice')
        .setIssuedAt()
        .setExpirationTime(claims.expires ?? '5m')
        .sign(keys[algorithm].privateKey);
}

before(async () => {
    const set = [];
    for (const algorithm of algorithms) {
        keys[algorithm] = await generateKeyPair(algorithm);
        set.push({ ...(await exportJWK(keys[algorithm].publicKey)), kid: algorithm, alg: algorithm, use: 'sig' });
    }
    issuer = await listen(
        http.createServer((_, answer) => {
            fetched += 1;
            answer.setHeader('Content-Type', 'application/jwk-set+json').end(JSON.stringify({ keys: set }));
        })
    );
    const made = await promisify(execFile)(gatewayBinary, ['key', 'new', '--name', 'ci', '--scope', 'dice:call', '-o', 'json']);
    const { key, entry } = JSON.parse(made.stdout);
    apiKey = key;
    assert.equal(entry.sha256, createHash('sha256').update(key).digest('hex'));
    demo = { old: await startDemoAgent('0.3'), new: await startDemoAgent('1.0') };
    gateway = await startConfiguredGateway({
        access: {
            providers: [
                { type: 'jwt', name: 'idp', issuer: 'https://idp.test', audience: 'cardea', algorithms, jwks_url: issuer.url },
                { type: 'api_key', name: 'keys', keys: [entry] },
            ],
            rules: [{ discover: { scopes: 'dice:call' }, call: { scopes: 'dice:call' } }],
        },
        agents: { old: { url: demo.old.url }, new: { url: demo.new.url } },
    });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all([...Object.values(demo ?? {}), ...(issuer ? [issuer] : [])].map((each) => each.stop()));
}, patience);

// Signs in when it is refused, as the SDKs' documentation has it.
function signingIn(wrap, seen) {
    let known;
    const counted = async (url, init) => {
        const answer = await fetch(url, init);
        seen.push(answer.status);
        return answer;
    };
    return wrap(counted, {
        headers: async () => (known ? { Authorization: `Bearer ${known}` } : {}),
        shouldRetryWithHeaders: async (_, answer) => {
            if (answer.status !== 401) {
                return undefined;
            }
            assert.match(answer.headers.get('www-authenticate'), /^Bearer realm="idp"/);
            known = await token();
            return { Authorization: `Bearer ${known}` };
        },
    });
}

const card = (id, headers) => fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`, { headers });

describe('callers with credentials', patience, () => {
    for (const { speak, wrap, id } of [
        { speak: client03, wrap: signIn03, id: 'old' },
        { speak: client1, wrap: signIn1, id: 'new' },
        { speak: client1Legacy, wrap: signIn1, id: 'old' },
    ]) {
        test(`${speak.name} is refused once, signs in, and then finds the ${id} agent and calls it`, patience, async () => {
            const seen = [];
            const client = await within(speak.connect(`${gateway.base}agents/${id}/`, signingIn(wrap, seen)), 'card');
            const task = speak.task(await within(speak.send(client, 'roll a d6'), 'answer'));
            assert.equal(speak.state(task), 'completed');
            assert.deepEqual(seen, [401, 200, 200]);
        });
    }

    for (const algorithm of algorithms) {
        test(`a token that jose has signed with ${algorithm} is accepted`, patience, async () => {
            assert.equal((await card('old', { Authorization: `Bearer ${await token(algorithm)}` })).status, 200);
        });
    }

    test('tokens for others, of others, expired ones and those without the scope are not', patience, async () => {
        const status = async (claims) => (await card('old', { Authorization: `Bearer ${await token('ES256', claims)}` })).status;
        assert.equal(await status({ aud: 'other' }), 401);
        assert.equal(await status({ iss: 'https://other.test' }), 401);
        assert.equal(await status({ expires: Math.floor(Date.now() / 1000) - 60 }), 401);
        assert.equal(await status({ scope: 'other' }), 404);
    });

    test('a key that `cardea key new` has made lets its owner in', patience, async () => {
        assert.equal((await card('new', { 'X-API-Key': apiKey })).status, 200);
        assert.equal((await card('new', { 'X-API-Key': `${apiKey}x` })).status, 401);
    });

    test('the keys of the issuer were fetched once, and no credential is in the log', patience, async () => {
        assert.equal(fetched, 1);
        // Lines are written ten times a second.
        const named = () => ['alice","provider":"idp', 'ci","provider":"keys'].every((each) => gateway.log.join().includes(each));
        const deadline = Date.now() + 10_000;
        while (!named() && Date.now() < deadline) {
            await setTimeout(20);
        }
        assert.ok(named());
        const log = gateway.log.join('\n');
        assert.ok(!log.includes(apiKey));
        assert.ok(!log.includes('eyJ'));
    });
});
