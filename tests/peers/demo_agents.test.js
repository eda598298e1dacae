// The demo agents of examples/ behind the gateway, with the clients that speak their dialect.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { client03 } from './support/client_03.js';
import { client1, client1Legacy } from './support/client_1.js';
import { startDemoAgent, startGateway } from './support/programs.js';
import { Recorder } from './support/recorder.js';
import { all, within } from './support/waiting.js';

const patience = { timeout: 30_000 };
const pairs = [
    { id: 'words', speak: client03, says: 'to be or not to be', answer: /^6 words, 18 bytes, most frequent: "be" \(2\)$/ },
    { id: 'words', speak: client1Legacy, says: 'one', answer: /^1 words, 3 bytes/ },
    { id: 'dice', speak: client1, says: '4d6', answer: /^4d6: [1-6]( \+ [1-6]){3} = \d+$/ },
];
const manyWords = 'word '.repeat(100);
const long = { words: manyWords, dice: '100d6' };

let agents;
let gateway;

before(async () => {
    agents = { words: await startDemoAgent('0.3'), dice: await startDemoAgent('1.0') };
    gateway = await startGateway({ words: agents.words.url, dice: agents.dice.url });
}, patience);

after(async () => {
    await gateway?.stop();
    await Promise.all(Object.values(agents ?? {}).map((agent) => agent.stop()));
}, patience);

async function connect(speak, id) {
    const recorder = new Recorder(gateway.base);
    return within(speak.connect(`${gateway.base}agents/${id}/`, recorder.fetch), 'card');
}

for (const { id, speak, says, answer } of pairs) {
    describe(`${speak.name}, demo agent ${id}`, patience, () => {
        test('answers a call with a task that has its result', patience, async () => {
            const client = await connect(speak, id);
            const task = speak.task(await within(speak.send(client, says), 'answer'));
            assert.equal(speak.state(task), 'completed');
            assert.match(speak.text(task), answer);
            const got = await within(speak.get(client, task.id), 'task');
            assert.match(speak.text(got), answer);
        });

        test('streams the task, a status for each step, the result and the end', patience, async () => {
            const client = await connect(speak, id);
            const events = await all(speak.stream(client, says), 'end of the stream');
            const kinds = events.map(speak.event);
            assert.equal(kinds[0], 'task');
            assert.deepEqual(kinds.slice(-2), ['artifact-update', 'status-update']);
            const steps = id === 'words' ? says.split(' ').length : 4;
            assert.deepEqual(kinds.slice(1, -2), Array(steps).fill('status-update'));
        });

        test('a task is followed, cancelled, and then cannot be cancelled again', patience, async () => {
            const client = await connect(speak, id);
            const task = speak.task(await within(speak.sendAtOnce(client, long[id]), 'task at once'));
            assert.equal(speak.state(task), 'submitted');
            const stream = speak.resubscribe(client, task.id);
            assert.equal(speak.event((await within(stream.next(), 'first event')).value), 'task');
            const canceled = await within(speak.cancel(client, task.id), 'cancellation');
            assert.equal(speak.state(canceled), 'canceled');
            const rest = await all(stream, 'end of the stream');
            assert.equal(speak.event(rest.at(-1)), 'status-update');
            await assert.rejects(within(speak.cancel(client, task.id), 'refusal'), /cancel/i);
        });

        test('refuses what it does not know', patience, async () => {
            const client = await connect(speak, id);
            await assert.rejects(within(speak.get(client, 'nothing'), 'refusal'), /not found|no such task/i);
            await assert.rejects(within(speak.resubscribe(client, 'nothing').next(), 'refusal'), /not found|no such task/i);
            await assert.rejects(within(speak.sendToTask(client, 'nothing'), 'refusal'), /not found|no such task/i);
        });
    });
}

test('the 1.0 demo agent lists its tasks', patience, async () => {
    const client = await connect(client1, 'dice');
    const task = client1.task(await within(client1.send(client, '1d6'), 'answer'));
    const { tasks, totalSize } = await within(client1.list(client), 'list');
    assert.equal(tasks[0].id, task.id);
    assert.equal(client1.text(tasks[0]), client1.text(task));
    assert.ok(totalSize >= 1);
});
