// Many clients with the same ids and progress tokens at once: what a server says to one of them reaches that one only, whether sessions
// are the clients' own, shared or translated.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { exchange, openSession } from './support/mcp_messages.js';
import { HttpServer } from './support/mcp_programs.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 120_000 };
const program = fileURLToPath(new URL('support/mcp_marking_server.js', import.meta.url));
const clients = 50;
const overHttp = new HttpServer(program, 'http');

let gateway;

before(async () => {
    await overHttp.start();
    const stdio = { command: process.execPath, args: [program, 'stdio'], max_sessions: 64 };
    const http = { type: 'streamable-http', url: `${overHttp.origin}mcp` };
    const mcpServers = { http, program: stdio, shared: { ...stdio, sessions: 'shared' }, legacy: { ...http, era: 'legacy' } };
    gateway = await startConfiguredGateway({ mcpServers, limits: { program_starts: 16 } });
    const ready = async () => {
        while (!['shared', 'legacy'].every((id) => gateway.log.some((line) => line.includes(`"agent":"${id}"`) && line.includes('"ready"')))) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(ready(), 'control sessions', 20_000);
}, patience);

after(async () => {
    await gateway?.stop();
    await overHttp.kill();
}, patience);

const url = (id) => `${gateway.base}agents/${id}/mcp`;

// What a client hears, by kind, and what of it was not for it.
class Ears {
    heard = { progress: 0, logs: 0, questions: 0, answers: 0 };
    wrong = [];

    // Counts the message if it has what it must have.
    right(kind, correct, message) {
        this.heard[kind] += 1;
        if (!correct) {
            this.wrong.push(JSON.stringify(message));
        }
    }
}

// `rounds` of `width` calls at once; in each fourth round they ask.
async function callAll(name, rounds, width, one) {
    const ears = new Ears();
    for (let round = 0; round < rounds; round += 1) {
        const call = (slot) => one({ slot, mark: `${name}/${round}/${slot}`, asks: round % 4 === 0 }, ears);
        await Promise.all(Array.from({ length: width }, (_, slot) => call(slot + 1)));
    }
    return ears;
}

// In a session the ids and tokens of all clients are the same in every round. `refused`: nobody is asked.
const inSession = (session, refused) => ({ slot, mark, asks }, ears) => {
    const [name] = mark.split('/');
    const answer = asks && refused ? 'refused' : mark;
    const hear = (message) => {
        if (message.method === 'notifications/progress') {
            ears.right('progress', message.params.progressToken === `t${slot}` && message.params.message === mark, message);
        } else if (message.method === 'notifications/message') {
            // A program's log messages and questions are the session's: nothing says of which call they are.
            ears.right('logs', message.params.data.startsWith(`${name}/`), message);
        } else if (message.method === 'elicitation/create') {
            ears.right('questions', message.params.message.startsWith(`${name}/`), message);
            session.send({ id: message.id, result: { action: 'accept', content: { mark: message.params.message } } });
        } else {
            ears.right('answers', message.id === slot && message.result?.content[0].text === answer, message);
        }
    };
    const params = { name: 'mark', arguments: { mark, asks }, _meta: { progressToken: `t${slot}` } };
    return session.send({ id: slot, method: 'tools/call', params }, hear);
};

async function everybody(one) {
    const all = await Promise.all(Array.from({ length: clients }, (_, number) => one(`client${number}`)));
    const heard = {};
    for (const ears of all) {
        Object.entries(ears.heard).forEach(([kind, count]) => { heard[kind] = (heard[kind] ?? 0) + count; });
    }
    assert.deepEqual(all.flatMap(({ wrong }) => wrong).slice(0, 5), []);
    return heard;
}

async function withSessions(id, refused = false) {
    return everybody(async (name) => {
        const session = await openSession(url(id), { name });
        const ears = await callAll(name, 50, 4, inSession(session, refused));
        await session.end();
        return ears;
    });
}

// A call of the modern era, and once more with the answers to what it asks.
async function callModern({ slot, mark, asks }, ears, more = {}) {
    const _meta = {
        progressToken: `t${slot}`,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/logLevel': 'info',
    };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'mark' };
    const body = { jsonrpc: '2.0', id: slot, method: 'tools/call', params: { name: 'mark', arguments: { mark, asks }, _meta, ...more } };
    let required;
    await exchange(url('legacy'), { headers, body }, (message) => {
        if (message.method === 'notifications/progress') {
            ears.right('progress', message.params.progressToken === `t${slot}` && message.params.message === mark, message);
        } else if (message.method === 'notifications/message') {
            ears.right('logs', message.params.data === mark, message);
        } else if (message.result?.resultType === 'input_required') {
            required = message.result;
        } else {
            ears.right('answers', message.id === slot && message.result?.content[0].text === mark, message);
        }
    });
    if (required !== undefined) {
        const asked = Object.entries(required.inputRequests);
        asked.forEach(([, question]) => ears.right('questions', question.params.message === mark, question));
        const answers = asked.map(([key, { params }]) => [key, { action: 'accept', content: { mark: params.message } }]);
        await callModern({ slot, mark, asks }, ears, { inputResponses: Object.fromEntries(answers), requestState: required.requestState });
    }
}

const allOf = { progress: 10_000, logs: 10_000, questions: 2600, answers: 10_000 };

describe('fifty clients with the same ids and tokens', () => {
    test('10,000 calls in own sessions of a server over HTTP reach nobody else', patience, async () => {
        assert.deepEqual(await withSessions('http'), allOf);
    });

    test('10,000 calls in own sessions with programs reach nobody else', patience, async () => {
        assert.deepEqual(await withSessions('program'), allOf);
    });

    test('10,000 calls in shared sessions reach nobody else, and what the server logs and asks reaches nobody', patience, async () => {
        const heard = await withSessions('shared', true);
        assert.deepEqual(heard, { progress: 10_000, logs: 0, questions: 0, answers: 10_000 });
    });

    test('1,000 calls of the modern era that are translated reach nobody else', patience, async () => {
        const heard = await everybody((name) => callAll(name, 20, 1, callModern));
        assert.deepEqual(heard, { progress: 1000, logs: 1000, questions: 250, answers: 1000 });
    });
});
