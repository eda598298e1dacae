// The A2A 0.3 SDK's client in the words that the conversations use.
import {
    ClientFactory,
    ClientFactoryOptions,
    DefaultAgentCardResolver,
    JsonRpcTransportFactory,
    RestTransportFactory,
} from 'a2a-sdk-03/client';
import { GrpcTransportFactory } from 'a2a-sdk-03/client/grpc';

function message(text, more = {}) {
    return { kind: 'message', messageId: 'message-1', role: 'user', parts: [{ kind: 'text', text }], ...more };
}

function factory(fetchImpl, Transport) {
    const options = {
        ...ClientFactoryOptions.default,
        transports: [new Transport({ fetchImpl })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    };
    return new ClientFactory(options);
}

const clientOf = (name, Transport) => ({
    name,
    extensionHeader: 'X-A2A-Extensions',

    // base ends with a slash.
    connect: async (base, fetchImpl) => factory(fetchImpl, Transport).createFromUrl(base),

    connectTo: (card, fetchImpl) => factory(fetchImpl, Transport).createFromAgentCard(card),

    card: (client) => client.getAgentCard(),
    send: (client, text, options) => client.sendMessage({ message: message(text) }, options),
    sendAtOnce: (client, text) => client.sendMessage({ message: message(text), configuration: { blocking: false } }),
    sendToTask: (client, taskId) => client.sendMessage({ message: message('more', { taskId }) }),
    stream: (client, text, options) => client.sendMessageStream({ message: message(text) }, options),
    get: (client, id) => client.getTask({ id, historyLength: 10 }),
    cancel: (client, id) => client.cancelTask({ id }),
    resubscribe: (client, id) => client.resubscribeTask({ id }),

    setPush: (client, taskId, { id, url, token }) =>
        client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id, url, token } }),
    getPush: (client, taskId, id) => client.getTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: id }),
    listPush: (client, taskId) => client.listTaskPushNotificationConfig({ id: taskId }),
    deletePush: (client, taskId, id) =>
        client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: id }),

    task: (result) => result,
    state: (task) => task.status.state,
    event: (event) => event.kind,
    pushConfig: (config) => config.pushNotificationConfig,
    pushConfigs: (configs) => configs.map((config) => config.pushNotificationConfig),
    text: (task) => task.artifacts.flatMap(({ parts }) => parts.map(({ text }) => text)).join(''),
});

export const client03 = clientOf('0.3 SDK client', JsonRpcTransportFactory);
export const client03Rest = clientOf('0.3 SDK client over HTTP+JSON', RestTransportFactory);
export const client03Grpc = clientOf('0.3 SDK client over gRPC', GrpcTransportFactory);
