// The A2A 1.0 SDK's client in the words that the conversations use; `client1Legacy` speaks 0.3 to agents that do.
import { Role, TaskState, taskStateToJSON } from 'a2a-sdk-1';
import {
    ClientFactory,
    ClientFactoryOptions,
    DefaultAgentCardResolver,
    JsonRpcTransportFactory,
    RestTransportFactory,
} from 'a2a-sdk-1/client';
import { GrpcTransportFactory } from 'a2a-sdk-1/client/grpc';

const words = {
    TASK_STATE_SUBMITTED: 'submitted',
    TASK_STATE_WORKING: 'working',
    TASK_STATE_COMPLETED: 'completed',
    TASK_STATE_CANCELED: 'canceled',
};
const eventNames = { task: 'task', statusUpdate: 'status-update', artifactUpdate: 'artifact-update', message: 'message' };

function request(text, { taskId = '', returnImmediately = false } = {}) {
    return {
        tenant: '',
        message: {
            messageId: 'message-1',
            contextId: '',
            taskId,
            role: Role.ROLE_USER,
            parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
            metadata: undefined,
            extensions: [],
            referenceTaskIds: [],
        },
        configuration: {
            acceptedOutputModes: [],
            taskPushNotificationConfig: undefined,
            historyLength: undefined,
            returnImmediately,
        },
        metadata: undefined,
    };
}

function factory(fetchImpl, { Transport = JsonRpcTransportFactory, ...options }) {
    const factoryOptions = {
        ...ClientFactoryOptions.default,
        transports: [new Transport({ fetchImpl, ...options })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl, ...options }),
    };
    return new ClientFactory(factoryOptions);
}

function clientOf(name, extensionHeader, options) {
    return {
        name,
        extensionHeader,

        // base ends with a slash.
        connect: async (base, fetchImpl) => factory(fetchImpl, options).createFromUrl(base),
        resolve: async (base, fetchImpl) => new DefaultAgentCardResolver({ fetchImpl, ...options }).resolve(base),
        connectTo: async (card, fetchImpl) => factory(fetchImpl, options).createFromAgentCard(card),

        card: (client) => client.getAgentCard(),
        send: (client, text, more) => client.sendMessage(request(text), more),
        sendAtOnce: (client, text) => client.sendMessage(request(text, { returnImmediately: true })),
        sendToTask: (client, taskId) => client.sendMessage(request('more', { taskId })),
        stream: (client, text, more) => client.sendMessageStream(request(text), more),
        get: (client, id) => client.getTask({ tenant: '', id, historyLength: 10 }),
        cancel: (client, id) => client.cancelTask({ tenant: '', id, metadata: undefined }),
        resubscribe: (client, id) => client.resubscribeTask({ tenant: '', id }),

        setPush: (client, taskId, { id, url, token }) =>
            client.createTaskPushNotificationConfig({ tenant: '', id, taskId, url, token, authentication: undefined }),
        getPush: (client, taskId, id) => client.getTaskPushNotificationConfig({ tenant: '', taskId, id }),
        listPush: (client, taskId) =>
            client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 10, pageToken: '' }),
        deletePush: (client, taskId, id) => client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id }),

        task: (result) => result,
        state: (task) => words[taskStateToJSON(task.status.state)],
        event: (event) => eventNames[event.payload.$case],
        pushConfig: (config) => config,
        pushConfigs: ({ configs }) => configs,
        text: (task) => task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content.value)).join(''),
    };
}

// 0.3 has no way to list tasks.
const withList = (client) => ({
    ...client,
    list: (client) =>
        client.listTasks({
            tenant: '',
            contextId: '',
            status: TaskState.TASK_STATE_UNSPECIFIED,
            pageSize: 50,
            pageToken: '',
            historyLength: undefined,
            statusTimestampAfter: undefined,
            includeArtifacts: true,
        }),
});

export const client1 = withList(clientOf('1.0 SDK client', 'A2A-Extensions', {}));
export const client1Rest = withList(
    clientOf('1.0 SDK client over HTTP+JSON', 'A2A-Extensions', { Transport: RestTransportFactory })
);
export const client1Grpc = withList(clientOf('1.0 SDK client over gRPC', 'A2A-Extensions', { Transport: GrpcTransportFactory }));
export const client1Legacy = clientOf('1.0 SDK client speaking 0.3', 'X-A2A-Extensions', { legacyCompat: { enabled: true } });
