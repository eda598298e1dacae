// Callers with tokens of an OpenID provider that the gateway finds by its discovery document, and how clients find it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';

import { discoverOAuthProtectedResourceMetadata, extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import Provider from 'oidc-provider';

import { listen, startConfiguredGateway, startDemoAgent } from './support/programs.js';

const patience = { timeout: 60_000 };
const client = { id: 'ci', secret: 'secret-of-ci' };
let idp;
let demo;
let gateway;

async function startProvider() {
    const server = http.createServer();
    const { url, stop } = await listen(server);
    const issuer = url.slice(0, -1);
    const provider = new Provider(issuer, {
        clients: [
            {
                client_id: client.id,
                client_secret: client.secret,
                grant_types: ['client_credentials'],
                redirect_uris: [],
                response_types: [],
            },
        ],
        features: {
            clientCredentials: { enabled: true },
            devInteractions: { enabled: false },
            resourceIndicators: {
                enabled: true,
                defaultResource: () => 'urn:cardea',
                getResourceServerInfo: (_, resource) => ({
                    audience: resource === 'urn:cardea' ? 'cardea' : resource,
                    scope: 'dice:call',
                    accessTokenFormat: 'jwt',
                    accessTokenTTL: 300,
                    jwt: { sign: { alg: 'RS256' } },
                }),
            },
        },
        scopes: ['dice:call'],
    });
    server.on('request', provider.callback());
    return { issuer, stop };
}

async function tokenOf(issuer, parameters = {}) {
    const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'dice:call', ...parameters }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()).access_token;
}

function card(token) {
    return fetch(`${gateway.base}agents/dice/.well-known/agent-card.json`, {
        headers: token ? { Authorization: `Bearer ${token}` } : {},
    });
}

before(async () => {
    idp = await startProvider();
    demo = await startDemoAgent('0.3');
    gateway = await startConfiguredGateway({
        access: {
            providers: [{ type: 'oidc', name: 'idp', issuer: idp.issuer, audience: 'cardea' }],
            rules: [{ discover: { principals: client.id, scopes: 'dice:call' }, call: 'authenticated' }],
        },
        agents: { dice: { url: demo.url } },
    });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all([demo, idp].filter(Boolean).map((each) => each.stop()));
}, patience);

describe('an OpenID provider', patience, () => {
    test('its tokens are accepted with the keys that its discovery document names', async () => {
        const token = await tokenOf(idp.issuer);
        assert.equal((await card(token)).status, 200);
    });

    test('its tokens for another audience, without the scope, or changed are not', async () => {
        const token = await tokenOf(idp.issuer);
        const [header, claims, signature] = token.split('.');
        const changed = JSON.parse(Buffer.from(claims, 'base64url'));
        changed.sub = 'root';
        const other = `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
        assert.equal((await card(other)).status, 401);
        assert.equal((await card(await tokenOf(idp.issuer, { resource: 'urn:other' }))).status, 401);
        assert.equal((await card(await tokenOf(idp.issuer, { scope: '' }))).status, 404);
    });

    test("an MCP client's SDK finds it from the refusal and from the address of an agent", async () => {
        const refused = await card();
        assert.equal(refused.status, 401);
        const { resourceMetadataUrl } = extractWWWAuthenticateParams(refused);
        const agent = new URL('agents/dice', gateway.base);
        for (const options of [{ resourceMetadataUrl }, {}]) {
            const metadata = await discoverOAuthProtectedResourceMetadata(agent, options);
            assert.equal(metadata.resource, agent.href);
            assert.deepEqual(metadata.authorization_servers, [idp.issuer]);
        }
    });
});
