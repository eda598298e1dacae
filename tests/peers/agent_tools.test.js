// MCP clients that none of us wrote call agents of the A2A SDKs, of both generations, as tools.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startSampleAgent03 } from './support/agent_03.js';
import { startSampleAgent1 } from './support/agent_1.js';
import { clients } from './support/mcp_clients.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const greeting = 'Hello World! Nice to meet you!';

let agents;
let gateway;

before(async () => {
    agents = { old: await startSampleAgent03(), new: await startSampleAgent1() };
    const shown = (id, further) => ({ url: agents[id].url, tool_wait: '1s', ...further });
    gateway = await startConfiguredGateway({
        agents: { old: shown('old'), new: shown('new'), skills: shown('new', { as_tools: 'skills' }) },
    });
}, patience);

after(async () => {
    await Promise.all(Object.values(agents ?? {}).map((each) => each.stop()));
    await gateway?.stop();
}, patience);

async function using(name, id, work) {
    const client = await within(clients[name](new URL(`${gateway.base}agents/${id}/mcp`)), 'connection');
    try {
        return await work(client);
    } finally {
        await client.close();
    }
}

const texts = (result) => result.content.filter(({ type }) => type === 'text').map(({ text }) => text);

for (const name of Object.keys(clients)) {
    describe(name, patience, () => {
        for (const id of ['old', 'new']) {
            test(`an agent of the ${id === 'old' ? '0.3' : '1.0'} SDK answers a call of its tool`, patience, async () => {
                await using(name, id, async (client) => {
                    const tools = await within(client.tools(), 'tools');
                    if (Array.isArray(tools)) {
                        assert.deepEqual(
                            tools.map((each) => each.name),
                            ['send_message', 'get_task', 'cancel_task']
                        );
                    }
                    const got = await within(client.call('send_message', { message: 'hello' }), 'answer');
                    assert.ok(texts(got).includes(greeting), JSON.stringify(got));
                    assert.equal(got.structuredContent.state, 'completed');
                    const { taskId } = got.structuredContent;
                    const again = await within(client.call('get_task', { taskId }), 'task');
                    assert.ok(texts(again).includes(greeting));
                    const unknown = await within(client.call('get_task', { taskId: 'nobody' }), 'refusal');
                    assert.equal(unknown.isError, true);
                });
            });

            test(`a long task of the ${id === 'old' ? '0.3' : '1.0'} SDK goes on after tool_wait, and is cancelled`, patience, async () => {
                await using(name, id, async (client) => {
                    const got = await within(client.call('send_message', { message: 'long work' }), 'answer');
                    assert.equal(got.structuredContent.state, 'working', JSON.stringify(got));
                    const { taskId } = got.structuredContent;
                    const ended = await within(client.call('cancel_task', { taskId }), 'end');
                    assert.equal(ended.structuredContent.state, 'canceled', JSON.stringify(ended));
                });
            });
        }

        test('a skill of the agent is a tool of its own', patience, async () => {
            await using(name, 'skills', async (client) => {
                const got = await within(client.call('sample_agent', { message: 'hello' }), 'answer');
                assert.ok(texts(got).includes(greeting));
            });
        });
    });
}
