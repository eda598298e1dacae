// Clients of A2A by the SDKs of both generations call tools of server-everything, and answer what another server asks.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { Role, taskStateToJSON } from 'a2a-sdk-1';

import { client03, client03Rest } from './support/client_03.js';
import { client1, client1Rest } from './support/client_1.js';
import { startConfiguredGateway } from './support/programs.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const asking = fileURLToPath(new URL('support/mcp_asking_server.js', import.meta.url));

// The two generations in the words of these tests: what is sent, and what came back in one form.
const old = {
    message: (parts, taskId) => ({
        message: {
            kind: 'message',
            messageId: crypto.randomUUID(),
            role: 'user',
            taskId,
            parts: parts.map((part) => (typeof part === 'string' ? { kind: 'text', text: part } : { kind: 'data', data: part })),
        },
    }),
    atOnce: (params) => ({ ...params, configuration: { blocking: false } }),
    id: (id) => ({ id }),
    state: (status) => status.state,
    parts: (parts) =>
        parts.map((part) => part.text ?? part.data ?? part.file.uri ?? [part.file.mimeType, part.file.bytes.length > 0]),
    task: (result) => result,
    events: (events) => events.map((event) => [event.kind, event.status?.state ?? 'none']),
};
const recent = {
    message: (parts, taskId = '') => ({
        tenant: '',
        message: {
            messageId: crypto.randomUUID(),
            contextId: '',
            taskId,
            role: Role.ROLE_USER,
            parts: parts.map((part) => ({
                content: typeof part === 'string' ? { $case: 'text', value: part } : { $case: 'data', value: part },
                metadata: undefined,
                filename: '',
                mediaType: '',
            })),
            metadata: undefined,
            extensions: [],
            referenceTaskIds: [],
        },
        configuration: undefined,
        metadata: undefined,
    }),
    atOnce: (params) => ({
        ...params,
        configuration: {
            acceptedOutputModes: [],
            taskPushNotificationConfig: undefined,
            historyLength: undefined,
            returnImmediately: true,
        },
    }),
    id: (id) => ({ tenant: '', id, metadata: undefined }),
    state: (status) => taskStateToJSON(status.state).slice('TASK_STATE_'.length).toLowerCase().replace('_', '-'),
    parts: (parts) =>
        parts.map(({ content, mediaType }) => (content.$case === 'raw' ? [mediaType, content.value.length > 0] : content.value)),
    task: (result) => result,
    events: (events) =>
        events.map(({ payload }) => {
            const kinds = { task: 'task', statusUpdate: 'status-update', artifactUpdate: 'artifact-update', message: 'message' };
            return [kinds[payload.$case], payload.value.status === undefined ? 'none' : recent.state(payload.value.status)];
        }),
};

const skill = (name, args = {}) => [{ skill: name, arguments: args }];
let gateway;

before(async () => {
    gateway = await startConfiguredGateway({
        mcpServers: {
            every: { command: process.execPath, args: [everything, 'stdio'] },
            asking: { command: process.execPath, args: [asking] },
        },
    });
    for (const id of ['every', 'asking']) {
        const card = `${gateway.base}agents/${id}/.well-known/agent-card.json`;
        while ((await fetch(card)).status !== 200) {
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    }
}, patience);

after(() => gateway?.stop(), patience);

for (const [speak, words] of [
    [client03, old],
    [client03Rest, old],
    [client1, recent],
    [client1Rest, recent],
]) {
    describe(speak.name, patience, () => {
        const connect = (id) => within(speak.connect(`${gateway.base}agents/${id}/`, fetch), 'card');
        const ask = async (client, parts, taskId) => words.task(await client.sendMessage(words.message(parts, taskId)));

        test('the card says that the agent streams', patience, async () => {
            const card = await speak.card(await connect('every'));
            assert.equal(card.capabilities.streaming, true);
            assert.equal(card.capabilities.pushNotifications, false);
        });

        test('text, structured content, an image, links and an error are what the tool sent', patience, async () => {
            const client = await connect('every');
            const said = await ask(client, skill('echo', { message: 'hi' }));
            assert.equal(words.state(said.status), 'completed');
            assert.deepEqual(words.parts(said.artifacts[0].parts), ['Echo: hi']);
            const weather = await ask(client, skill('get-structured-content', { location: 'Chicago' }));
            assert.equal(words.parts(weather.artifacts[0].parts)[1].temperature, 36);
            const image = await ask(client, skill('get-tiny-image'));
            assert.deepEqual(words.parts(image.artifacts[0].parts)[1], ['image/png', true]);
            const links = await ask(client, skill('get-resource-links', { count: 2 }));
            assert.match(words.parts(links.artifacts[0].parts)[1], /^demo:/);
            const failed = await ask(client, skill('get-sum', { a: 'x' }));
            assert.equal(words.state(failed.status), 'failed');
            assert.match(words.parts(failed.status.message.parts)[0], /expected number/);
        });

        test('a message without a skill is answered with the skills, and an unknown one is refused', patience, async () => {
            const client = await connect('every');
            const message = await ask(client, ['hello']);
            assert.match(words.parts(message.parts)[0], /- echo: /);
            await assert.rejects(ask(client, skill('nothing')), /nvalid|no skill/);
        });

        test('a stream has the task, its progress, its artifact and its end', patience, async () => {
            const client = await connect('every');
            const params = words.message(skill('trigger-long-running-operation', { duration: 1, steps: 4 }));
            const events = words.events(await all(client.sendMessageStream(params)));
            assert.deepEqual(events[0], ['task', 'working']);
            assert.equal(events.filter(([kind, state]) => kind === 'status-update' && state === 'working').length, 4);
            assert.deepEqual(events.slice(-2), [
                ['artifact-update', 'none'],
                ['status-update', 'completed'],
            ]);
        });

        test('a task that goes on is followed and cancelled', patience, async () => {
            const client = await connect('every');
            const params = words.atOnce(words.message(skill('trigger-long-running-operation', { duration: 30, steps: 3 })));
            const task = words.task(await client.sendMessage(params));
            assert.equal(words.state(task.status), 'working');
            const following = all(client.resubscribeTask(words.id(task.id)));
            assert.equal(words.state((await client.getTask(words.id(task.id))).status), 'working');
            assert.equal(words.state((await client.cancelTask(words.id(task.id))).status), 'canceled');
            assert.deepEqual(words.events(await within(following, 'end of the subscription')).at(-1), ['status-update', 'canceled']);
            await assert.rejects(client.cancelTask(words.id(task.id)), /cancel/i);
        });

        test('a question is answered by the next message of the task', patience, async () => {
            const client = await connect('asking');
            const task = await ask(client, skill('ask'));
            assert.equal(words.state(task.status), 'input-required');
            const question = words.parts(task.status.message.parts);
            assert.equal(question[0], 'Who is there?');
            assert.deepEqual(Object.keys(question[1].requestedSchema.properties), ['name']);
            const done = await ask(client, ['Ada'], task.id);
            assert.equal(done.id, task.id);
            assert.deepEqual(words.parts(done.artifacts[0].parts), ['Hello, Ada']);
            const again = await ask(client, skill('ask'));
            const formal = await ask(client, [{ action: 'accept', content: { name: 'Bo' } }], again.id);
            assert.deepEqual(words.parts(formal.artifacts[0].parts), ['Hello, Bo']);
        });
    });
}
