// Signatures of cards: what the 1.0 SDK signs the gateway verifies, what the gateway signs the SDK verifies.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from 'a2a-sdk-1';

import { client1 } from './support/client_1.js';
import { listen, startConfiguredGateway, startDemoAgent } from './support/programs.js';
import { Recorder } from './support/recorder.js';
import { within } from './support/waiting.js';

// The SDK tells the console of each signature that it passes over.
if (!process.env.CARDEA_PEERS_LOG) {
    console.debug = () => {};
}

const patience = { timeout: 30_000 };
const kid = 'agent-key';

// As much of a card as signatures have ever disagreed about.
const card = {
    name: 'Größe \u{1F600} \u2028',
    description: 'Signed by its agent',
    version: '1.0.0',
    provider: { organization: 'Example', url: 'https://example.com' },
    capabilities: {
        streaming: false,
        pushNotifications: true,
        extensions: [{ uri: 'urn:x', description: '', required: false, params: { level: 1.5, none: null, deep: { a: [] } } }],
    },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer', description: '', bearerFormat: 'JWT' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 'S', description: 'd', tags: ['t'], examples: [], securityRequirements: [] }],
    supportedInterfaces: [{ url: 'http://agent.example:9000/', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
};

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const kinds = {
    ES256: ec,
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    EdDSA: generateKeyPairSync('ed25519'),
};

function sign({ privateKey }, alg, what = card) {
    return generateAgentCardSignature(privateKey, { alg, kid: `${kid}-${alg}`, typ: 'JOSE' })(what);
}

// As an agent of the SDK does it, which holds its card as a message.
async function signMessage(pair, alg, what) {
    return AgentCard.toJSON(await sign(pair, alg, AgentCard.fromJSON(what)));
}

const served = {};  // by path
let agent;
let demo;
let folder;
let gateway;
let signer;

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-signatures-'));
    const trusted = path.join(folder, 'trusted.json');
    const own = path.join(folder, 'own.pem');
    const keys = Object.entries(kinds).map(([alg, { publicKey }]) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid: `${kid}-${alg}`,
        alg,
    }));
    await writeFile(trusted, JSON.stringify({ keys }));
    execFileSync('openssl', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', own]);
    for (const [alg, pair] of Object.entries(kinds)) {
        served[`/${alg}`] = await sign(pair, alg);
    }
    const { securitySchemes, ...open } = card;
    served['/message'] = await signMessage(ec, 'ES256', open);
    served['/uncovered'] = await signMessage(ec, 'ES256', card);
    served['/stranger'] = await sign(stranger, 'ES256');
    served['/unsigned'] = card;
    const changed = JSON.stringify(served['/ES256']).replace('Signed by', 'signed by');
    served['/changed'] = JSON.parse(changed);
    agent = await listen(
        createServer((request, response) => {
            const found = served[request.url];
            response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
            response.end(JSON.stringify(found ?? {}));
        })
    );
    demo = await startDemoAgent('1.0');
    const agents = Object.fromEntries(
        Object.keys(served).map((at) => [at.slice(1), { url: agent.url, card_url: `${agent.url.slice(0, -1)}${at}` }])
    );
    const verify = { signatures: 'verify', trusted_keys: trusted };
    gateway = await startConfiguredGateway({ cards: verify, agents });
    signer = await startConfiguredGateway({
        cards: { signatures: 'sign', signing_key: own },
        agents: {
            dice: { url: demo.url },
            // What it asks for reaches it, so its card says so.
            rich: { url: agent.url, card_url: `${agent.url}unsigned`, caller_credentials: 'passthrough' },
            fixed: { url: demo.url, shape: 'v1', card },
        },
    });
}, patience);

after(async () => {
    await Promise.all([gateway, signer, agent, demo].map((each) => each?.stop()));
    await rm(folder, { recursive: true });
}, patience);

const cardOf = (from, id, headers = {}) =>
    within(fetch(`${from.base}agents/${id}/.well-known/agent-card.json`, { headers }), 'card');

const keySetOf = async (from) => (await within(fetch(`${from.base}.well-known/jwks.json`), 'key set')).json();

// The log is written a moment after what it tells of.
async function logged(from, event, id) {
    for (;;) {
        const found = from.log.map((line) => JSON.parse(line)).find((each) => each.event === event && each.agent === id);
        if (found) {
            return found;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

// The key that the signature names, from where the gateway serves its keys.
function verifier(from) {
    return verifyAgentCardSignature(async (wanted, jku) => {
        assert.equal(jku, `${from.base}.well-known/jwks.json`);
        const { keys } = await (await fetch(jku)).json();
        return keys.find((each) => each.kid === wanted);
    });
}

describe('signatures of agents', patience, () => {
    for (const id of [...Object.keys(kinds), 'message']) {
        test(`a card that the SDK signed is accepted: ${id}`, patience, async () => {
            const answer = await cardOf(gateway, id);
            assert.equal(answer.status, 200);
            const got = await answer.json();
            assert.equal(got.name, card.name);
            assert.equal(got.signatures, undefined);
            assert.equal(got.supportedInterfaces[0].url, `${gateway.base}agents/${id}`);
        });
    }

    test('a signature of the SDK that leaves the security schemes out does not count, and the log says so', patience, async () => {
        assert.equal((await cardOf(gateway, 'uncovered')).status, 502);
        const line = await within(logged(gateway, 'card_fetch_failed', 'uncovered'), 'line of the log');
        assert.match(line.detail, /does not cover securitySchemes/);
    });

    for (const id of ['stranger', 'unsigned', 'changed']) {
        test(`a card that nobody trusted signed is refused: ${id}`, patience, async () => {
            const answer = await cardOf(gateway, id);
            assert.equal(answer.status, 502);
            assert.equal(answer.headers.get('cardea-error'), 'card_signature');
            assert.equal((await answer.json()).error.code, 'card_signature');
        });
    }
});

describe('signatures of the gateway', patience, () => {
    for (const id of ['dice', 'rich', 'fixed']) {
        test(`the SDK verifies the card of ${id}`, patience, async () => {
            await verifier(signer)(await (await cardOf(signer, id)).json());
        });

        test(`one changed byte of the card of ${id} does not verify`, patience, async () => {
            const text = await (await cardOf(signer, id)).text();
            const { name } = JSON.parse(text);
            const changed = JSON.parse(text.replace(name, `${name}.`));
            await assert.rejects(verifier(signer)(changed), /No valid signatures/);
        });
    }

    test('a client of the SDK verifies the card and calls through it', patience, async () => {
        const client = await within(client1.connect(`${signer.base}agents/dice/`, new Recorder(signer.base).fetch), 'card');
        await within(client.getAgentCard(undefined, verifier(signer)), 'verified card');
        const task = client1.task(await within(client1.send(client, '2d6'), 'answer'));
        assert.equal(client1.state(task), 'completed');
    });

    test('what a requirement of security lists survives the signing', patience, async () => {
        const got = await (await cardOf(signer, 'rich')).json();
        assert.deepEqual(got.securityRequirements, [{ schemes: { bearer: { list: [] } } }]);
    });

    test('cards of 0.3 are served without a signature', patience, async () => {
        const got = await (await cardOf(signer, 'rich', { 'A2A-Version': '0.3' })).json();
        assert.equal(got.signatures, undefined);
        assert.ok(got.url);
    });

    test('the key set holds the public key and no other member of it', patience, async () => {
        const { keys } = await keySetOf(signer);
        assert.deepEqual(Object.keys(keys[0]).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
        assert.equal(keys.length, 1);
    });

    test('a gateway that signs nothing has no key set', patience, async () => {
        const answer = await within(fetch(`${gateway.base}.well-known/jwks.json`), 'key set');
        assert.equal(answer.status, 404);
    });
});
