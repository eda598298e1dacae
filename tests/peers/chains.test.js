// Three agents of the SDK call each other for ever, in one context: the gateway ends it at `chains.in_flight`, and others do not notice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, Role } from 'a2a-sdk-1';
import { ClientFactory } from 'a2a-sdk-1/client';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-1/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from 'a2a-sdk-1/server/express';

import { startConfiguredGateway } from './support/programs.js';
import { startAgent } from './support/upstream.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const ids = ['one', 'two', 'three'];
const inFlight = 12;
const agents = [];
let gateway;

const message = (text, contextId, role = Role.ROLE_USER) => ({
    messageId: crypto.randomUUID(),
    contextId,
    taskId: '',
    role,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
});

async function ask(id, text, contextId) {
    const client = await new ClientFactory().createFromUrl(`${gateway.base}agents/${id}/`);
    const answer = await client.sendMessage({ tenant: '', message: message(text, contextId), configuration: undefined, metadata: undefined });
    return answer.parts[0].content.value;
}

function card(url) {
    return {
        name: 'Caller',
        description: 'Calls the next agent.',
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: A2A_PROTOCOL_VERSION }],
        provider: undefined,
        version: '1',
        capabilities: { streaming: false, pushNotifications: false, extensions: [], extendedAgentCard: false },
        securitySchemes: {},
        securityRequirements: [],
        defaultInputModes: ['text'],
        defaultOutputModes: ['text'],
        skills: [],
        documentationUrl: '',
        signatures: [],
    };
}

// Answers with its own depth and with what the next agent says, or why that cannot be asked.
function startCaller(next) {
    return startAgent((url) => {
        const executor = {
            cancelTask: async () => {},
            async execute({ userMessage, contextId }, bus) {
                const text = userMessage.parts[0].content.value;
                let said = text;
                if (text === 'loop') {
                    said = await ask(next, text, contextId).then((below) => `${below} <- ${next}`, (error) => `ended: ${error.message}`);
                }
                bus.publish(AgentEvent.message(message(said, contextId, Role.ROLE_AGENT)));
                bus.finished();
            },
        };
        const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), executor);
        return [
            [`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler })],
            ['/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication })],
        ];
    });
}

before(async () => {
    for (let i = 0; i < ids.length; ++i) {
        agents.push(await startCaller(ids[(i + 1) % ids.length]));
    }
    const urls = ids.map((id, i) => [id, { url: agents[i].url }]);
    gateway = await startConfiguredGateway({ agents: Object.fromEntries(urls), chains: { in_flight: inFlight } });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(agents.map((each) => each.stop()));
}, patience);

test('a circle of agents ends at the limit of its chain, and another context is served meanwhile', patience, async () => {
    const circle = ask('one', 'loop', 'circle');
    const others = [];
    for (let i = 0; i < 20; ++i) {
        others.push(await within(ask('two', 'hello', `other-${i}`), 'answer of another chain'));
    }
    assert.ok(others.every((each) => each === 'hello'));
    const said = await within(circle, 'end of the circle', 30_000);
    assert.match(said, /^ended: .*chain/s);
    assert.equal(said.split(' <- ').length, inFlight);
    // Nothing of it is in flight any more.
    assert.equal(await within(ask('one', 'hello', 'circle'), 'answer in the same context'), 'hello');
});
