// Clients of the SDKs that answer what a server asks, with the same each time.
import assert from 'node:assert/strict';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const info = { name: 'test', version: '1' };
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const sampled = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } };
const declined = { action: 'decline' };
const roots = { roots: [{ uri: 'file:///r', name: 'r' }] };

function answeringV2(mode) {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('sampling/createMessage', async () => sampled);
    client.setRequestHandler('elicitation/create', async () => declined);
    client.setRequestHandler('roots/list', async () => roots);
    return client;
}

async function connected(client, transport) {
    await client.connect(transport);
    const call = (name, given, options) => {
        const request = { name, arguments: given };
        return client instanceof ClientV2 ? client.callTool(request, options) : client.callTool(request, undefined, options);
    };
    return { client, call, close: () => client.close() };
}

// The first SDK over any transport of its own.
export function connectAnsweringV1(transport) {
    const client = new ClientV1(info, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, async () => sampled);
    client.setRequestHandler(ElicitRequestSchema, async () => declined);
    client.setRequestHandler(ListRootsRequestSchema, async () => roots);
    return connected(client, transport);
}

// connect(url) gives {client, call, close}.
export const answering = {
    'sdk 1.32': (url) => connectAnsweringV1(new HttpV1(url)),
    'client 2.4, legacy': (url) => connected(answeringV2('legacy'), new HttpV2(url)),
    'client 2.4, pinned': (url) => connected(answeringV2({ pin: '2026-07-28' }), new HttpV2(url)),
};

// What tools of server-everything that ask the client answer; ends the connection.
export async function answersOf({ call, close }, prefix = '') {
    const text = ({ content }) => content.map((each) => each.text);
    try {
        return {
            sampling: text(await call(`${prefix}trigger-sampling-request`, { prompt: 'p', maxTokens: 5 })),
            elicitation: text(await call(`${prefix}trigger-elicitation-request`, {})),
            roots: text(await call(`${prefix}get-roots-list`, {})),
        };
    } finally {
        await close();
    }
}

// A long call hears of progress, another is cancelled at its first step, and the connection goes on.
export async function checkProgressAndCancel({ call, close }, prefix = '') {
    try {
        const steps = [];
        const long = (duration, count, options) => call(`${prefix}trigger-long-running-operation`, { duration, steps: count }, options);
        await long(0.2, 4, { onprogress: ({ progress }) => steps.push(progress) });
        // The SDK forgets who hears of progress as soon as the answer is there, and tells of progress a turn later: a last step that
        // comes in one read with the answer gets lost in the client.
        assert.deepEqual(steps, [1, 2, 3, 4].slice(0, Math.max(3, steps.length)));
        const leave = new AbortController();
        await assert.rejects(long(60, 600, { signal: leave.signal, onprogress: () => leave.abort() }));
        assert.match((await call(`${prefix}echo`, { message: 'still there' })).content[0].text, /still there$/);
    } finally {
        await close();
    }
}

const listening = {
    'sdk 1.32': (options) => [new ClientV1(info, options), HttpV1],
    'client 2.4, legacy': (options) => [new ClientV2(info, { ...options, versionNegotiation: { mode: 'legacy' } }), HttpV2],
    'client 2.4, pinned': (options) => [new ClientV2(info, { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } }), HttpV2],
};

// A client of each kind that tells of changed tools: onChanged(name of the kind, names of the tools).
export function connectListening(url, onChanged) {
    return Promise.all(Object.entries(listening).map(async ([name, make]) => {
        const tools = { onChanged: (problem, list) => onChanged(name, list?.map((tool) => tool.name)) };
        const [client, Transport] = make({ listChanged: { tools } });
        await client.connect(new Transport(url));
        return { name, client };
    }));
}
