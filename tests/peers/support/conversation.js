// One conversation with a sample agent that touches every method, the same for all clients. What it learns, in order, is
// its transcript; two conversations are compared by their transcripts.
import assert from 'node:assert/strict';

import { all, within } from './waiting.js';

async function failure(promise) {
    try {
        await within(promise, 'refusal');
    } catch (error) {
        return { name: error.name, message: error.message, cause: error.cause?.message };
    }
    return assert.fail('the call should have been refused');
}

async function talk(speak, client, agent, transcript) {
    const note = (label, value) => transcript.push([label, value]);
    const done = speak.task(await within(speak.send(client, 'hello'), 'answer'));
    note('send', done);
    assert.equal(speak.state(done), 'completed');
    assert.equal(speak.text(done), 'Hello World! Nice to meet you!');

    const got = await within(speak.get(client, done.id), 'task');
    note('get', got);
    assert.equal(got.id, done.id);
    assert.equal(speak.state(got), 'completed');

    const streamed = await all(speak.stream(client, 'how are you'), 'end of the stream');
    note('stream', streamed);
    assert.deepEqual(streamed.map(speak.event), ['task', 'status-update', 'artifact-update', 'status-update']);

    if (speak.list && agent.lists === false) {
        const refusal = await failure(speak.list(client));
        note('list', refusal);
        assert.match(refusal.name + refusal.message, /unsupported|not supported/i);
    } else if (speak.list) {
        const { tasks } = await within(speak.list(client), 'list');
        note('list', tasks.length);
        assert.ok(tasks.some(({ id }) => id === done.id));
    }
    return done;
}

async function register(speak, client, task, hook, transcript) {
    const note = (label, value) => transcript.push([label, value]);
    const set = await within(speak.setPush(client, task.id, hook), 'push configuration');
    note('push set', set);
    assert.equal(speak.pushConfig(set).url, hook.url);
    const got = await within(speak.getPush(client, task.id, hook.id), 'push configuration');
    note('push get', got);
    assert.equal(speak.pushConfig(got).token, hook.token);
    const listed = await within(speak.listPush(client, task.id), 'push configurations');
    note('push list', listed);
    assert.deepEqual(
        speak.pushConfigs(listed).map(({ id }) => id),
        [hook.id]
    );
}

async function follow(speak, client, agent, webhook, transcript) {
    const note = (label, value) => transcript.push([label, value]);
    const task = speak.task(await within(speak.sendAtOnce(client, 'long task'), 'task at once'));
    note('send at once', task);
    const hook = { id: 'hook-1', url: webhook.url, token: `token of ${task.id}` };
    if (agent.push !== false) {
        await register(speak, client, task, hook, transcript);
    }

    const events = [];
    const stream = speak.resubscribe(client, task.id);
    events.push((await within(stream.next(), 'first event of the resubscription')).value);
    agent.gate.go(task.id);
    events.push(...(await all(stream, 'end of the resubscription')));
    note('resubscribe', events);
    assert.deepEqual(events.map(speak.event), ['task', 'artifact-update', 'status-update']);
    if (agent.push === false) {
        return;
    }
    await webhook.received.wanted(({ token, body }) => token === hook.token && /completed/i.test(JSON.stringify(body)), 'push');

    await within(speak.deletePush(client, task.id, hook.id), 'deletion');
    const left = await within(speak.listPush(client, task.id), 'push configurations');
    note('push list when deleted', left);
    assert.deepEqual(speak.pushConfigs(left), []);
}

async function refuse(speak, client, done, transcript) {
    const task = speak.task(await within(speak.sendAtOnce(client, 'long task to cancel'), 'task at once'));
    const canceled = await within(speak.cancel(client, task.id), 'cancellation');
    transcript.push(['cancel', canceled]);
    assert.equal(speak.state(canceled), 'canceled');

    const nobody = '00000000-0000-4000-8000-000000000000';
    const refusals = {
        'cancel what has ended': () => speak.cancel(client, done.id),
        'get what is not': () => speak.get(client, nobody),
        'cancel what is not': () => speak.cancel(client, nobody),
        'resubscribe to what is not': () => speak.resubscribe(client, nobody).next(),
        'a message for a task that is not': () => speak.sendToTask(client, nobody),
        'a message for a task that has ended': () => speak.sendToTask(client, done.id),
        'the configuration of a task that is not': () => speak.getPush(client, nobody, 'hook-1'),
    };
    for (const [label, call] of Object.entries(refusals)) {
        transcript.push([label, await failure(call())]);
    }
    const known = new Map(transcript);
    assert.match(known.get('cancel what has ended').name + known.get('cancel what has ended').message, /cancel/i);
    assert.match(known.get('get what is not').name + known.get('get what is not').message, /not found/i);
}

// agent: for its gate only; `lists` is false if it has no way to list tasks, `push` if it
// does not understand how this client configures push notifications. Resolves with the transcript of the SDK's own
// results.
export async function converse(speak, client, agent, webhook) {
    const transcript = [];
    const done = await talk(speak, client, agent, transcript);
    await follow(speak, client, agent, webhook, transcript);
    await refuse(speak, client, done, transcript);
    return transcript;
}
