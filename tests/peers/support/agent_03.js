// The A2A 0.3 SDK's sample agent, with its cancellable task and push notifications: server and executor are the SDK's way.
import { AGENT_CARD_PATH } from 'a2a-sdk-03';
import {
    DefaultPushNotificationSender,
    DefaultRequestHandler,
    InMemoryPushNotificationStore,
    InMemoryTaskStore,
} from 'a2a-sdk-03/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-03/server/express';
import { A2AService, grpcService } from 'a2a-sdk-03/server/grpc';

import { extension, reply, startAgent, startGrpcAgent } from './upstream.js';

function card(url, extended = false, binding = 'JSONRPC') {
    return {
        name: 'Sample Agent',
        description: 'A sample agent to test the stream functionality and simulate the flow of tasks statuses.',
        url,
        preferredTransport: binding,
        additionalInterfaces: [{ url, transport: binding }],
        provider: { organization: 'A2A Samples', url: 'https://example.com/a2a-samples' },
        version: '1.0.0',
        protocolVersion: '0.3.0',
        capabilities: {
            streaming: true,
            pushNotifications: true,
            stateTransitionHistory: true,
            extensions: [{ uri: extension, description: 'Says please', required: false }],
        },
        defaultInputModes: ['text'],
        defaultOutputModes: ['text', 'task-status'],
        skills: [
            {
                id: 'sample_agent',
                name: 'Sample Agent',
                description: 'Simulate the general flow of a streaming agent.',
                tags: ['sample'],
                examples: ['hi', 'hello world', 'how are you', 'goodbye'],
                inputModes: ['text'],
                outputModes: ['text', 'task-status'],
            },
        ],
        supportsAuthenticatedExtendedCard: extended,
    };
}

// Says more than the public card, of the agent's addresses too.
function extendedCard(url) {
    const shown = card(url, true);
    const listed = [...shown.additionalInterfaces, { url: new URL('rest', url).href, transport: 'HTTP+JSON' }];
    return { ...shown, description: 'For callers that are known.', additionalInterfaces: listed, extra: 1.5 };
}

// "long …" waits for the gate before its last step; everything else is answered at once.
class SampleExecutor {
    constructor(gate) {
        this.gate = gate;
    }

    cancelTask = async (taskId) => this.gate.cancel(taskId);

    async execute({ userMessage, task, taskId, contextId }, bus) {
        const text = userMessage.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
        const status = (state, final, message) => ({
            kind: 'status-update',
            taskId,
            contextId,
            status: { state, ...(message && { message }), timestamp: new Date().toISOString() },
            final,
        });
        if (!task) {
            bus.publish({
                kind: 'task',
                id: taskId,
                contextId,
                status: { state: 'submitted', timestamp: new Date().toISOString() },
                history: [userMessage],
                metadata: userMessage.metadata,
            });
        }
        const working = {
            kind: 'message',
            role: 'agent',
            messageId: crypto.randomUUID(),
            parts: [{ kind: 'text', text: 'Processing your question' }],
            taskId,
            contextId,
        };
        bus.publish(status('working', false, working));
        if (text.startsWith('long') && (await this.gate.wait(taskId)) === 'cancel') {
            bus.publish(status('canceled', true));
            return;
        }
        const artifact = { artifactId: crypto.randomUUID(), name: 'Result', parts: [{ kind: 'text', text: reply(text) }] };
        bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, lastChunk: true });
        bus.publish(status('completed', true));
    }
}

// By gRPC alone.
export function startGrpcAgent03() {
    return startGrpcAgent((address, gate) => {
        const store = new InMemoryPushNotificationStore();
        const shown = card(address, false, 'GRPC');
        const requestHandler = new DefaultRequestHandler(
            shown,
            new InMemoryTaskStore(),
            new SampleExecutor(gate),
            undefined,
            store,
            new DefaultPushNotificationSender(store)
        );
        const implementation = grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication });
        return { service: A2AService, implementation, card: shown };
    });
}

// extended: whether there is an extended card. binding: the only one that it serves and its card names; without
// it JSON-RPC is named and both are served.
export function startSampleAgent03(extended = false, binding) {
    return startAgent((url, gate) => {
        const store = new InMemoryPushNotificationStore();
        const requestHandler = new DefaultRequestHandler(
            card(url, extended, binding ?? 'JSONRPC'),
            new InMemoryTaskStore(),
            new SampleExecutor(gate),
            undefined,
            store,
            new DefaultPushNotificationSender(store),
            extended ? async () => extendedCard(url) : undefined
        );
        const rest = ['/', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication })];
        const rpc = ['/', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication })];
        const bindings = { JSONRPC: [rpc], 'HTTP+JSON': [rest] };
        const served = bindings[binding] ?? [rest, rpc];
        return [[`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler })], ...served];
    });
}
