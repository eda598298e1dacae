// The A2A 1.0 SDK's sample agent, with its cancellable task and push notifications: server and executor are the SDK's way.
import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, Role, TaskState } from 'a2a-sdk-1';
import {
    AgentEvent,
    DefaultPushNotificationSender,
    DefaultRequestHandler,
    InMemoryPushNotificationStore,
    InMemoryTaskStore,
} from 'a2a-sdk-1/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-1/server/express';
import { A2AService, grpcService } from 'a2a-sdk-1/server/grpc';

import { extension, reply, startAgent, startGrpcAgent } from './upstream.js';

// The SDK answers over HTTP+JSON only what its card has an interface for.
function card(url, extended = false, binding = 'JSONRPC') {
    const main = { url, protocolBinding: binding, tenant: '', protocolVersion: A2A_PROTOCOL_VERSION };
    const rest = () => ({ ...main, url: new URL('rest', url).href, protocolBinding: 'HTTP+JSON' });
    return {
        name: 'Sample Agent',
        description: 'A sample agent with streaming, cancellation and push notifications.',
        supportedInterfaces: extended && binding !== 'GRPC' ? [main, rest()] : [main],
        provider: { organization: 'A2A Samples', url: 'https://example.com/a2a-samples' },
        version: '1.0.0',
        capabilities: {
            streaming: true,
            pushNotifications: true,
            extensions: [{ uri: extension, description: 'Says please', required: false, params: undefined }],
            extendedAgentCard: extended,
        },
        securitySchemes: {},
        securityRequirements: [],
        defaultInputModes: ['text'],
        defaultOutputModes: ['text', 'task-status'],
        skills: [
            {
                id: 'sample_agent',
                name: 'Sample Agent',
                description: 'Simulate the general flow of a streaming agent.',
                tags: ['sample'],
                examples: ['hi', 'start a long task'],
                inputModes: ['text'],
                outputModes: ['text', 'task-status'],
                securityRequirements: [],
            },
        ],
        documentationUrl: '',
        signatures: [],
    };
}

function textPart(value) {
    return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function extendedCard(url) {
    return { ...card(url, true), description: 'For callers that are known.' };
}

// "long …" waits for the gate before its last step; everything else is answered at once.
class SampleExecutor {
    constructor(gate) {
        this.gate = gate;
    }

    cancelTask = async (taskId) => this.gate.cancel(taskId);

    async execute({ userMessage, task, taskId, contextId, context }, bus) {
        const text = userMessage.parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('');
        const now = () => new Date().toISOString();
        const status = (state, message) =>
            AgentEvent.statusUpdate({ taskId, contextId, status: { state, timestamp: now(), message }, metadata: {} });
        if (context.requestedExtensions?.includes(extension)) {
            context.addActivatedExtension(extension);
        }
        bus.publish(
            AgentEvent.task(
                task ?? {
                    id: taskId,
                    contextId,
                    status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: now(), message: undefined },
                    artifacts: [],
                    history: [userMessage],
                    metadata: userMessage.metadata,
                }
            )
        );
        const working = {
            role: Role.ROLE_AGENT,
            messageId: crypto.randomUUID(),
            parts: [textPart('Processing your question')],
            taskId,
            contextId,
            extensions: [],
            metadata: {},
            referenceTaskIds: [],
        };
        bus.publish(status(TaskState.TASK_STATE_WORKING, working));
        if (text.startsWith('long') && (await this.gate.wait(taskId)) === 'cancel') {
            bus.publish(status(TaskState.TASK_STATE_CANCELED));
            return;
        }
        const artifact = {
            artifactId: crypto.randomUUID(),
            name: 'Result',
            description: '',
            parts: [textPart(reply(text))],
            metadata: {},
            extensions: [],
        };
        bus.publish(
            AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} })
        );
        bus.publish(status(TaskState.TASK_STATE_COMPLETED));
    }
}

// By gRPC alone, with an extended card.
export function startGrpcAgent1() {
    return startGrpcAgent((address, gate) => {
        const store = new InMemoryPushNotificationStore();
        const shown = card(address, true, 'GRPC');
        const requestHandler = new DefaultRequestHandler(
            shown,
            new InMemoryTaskStore(),
            new SampleExecutor(gate),
            undefined,
            store,
            new DefaultPushNotificationSender(store),
            async () => ({ ...shown, description: 'For callers that are known.' })
        );
        const implementation = grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication });
        return { service: A2AService, implementation, card: shown };
    });
}

// extended: whether there is an extended card. binding: the only one that it serves and its card names; without
// it JSON-RPC is named, and HTTP+JSON beside it if there is an extended card, and both are served.
export function startSampleAgent1(extended = false, binding) {
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
