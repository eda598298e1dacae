// What all agents of these tests share: they take steps when the test says so, and they notice who contacts them.
import { createServer } from 'node:http';

import { Server, ServerCredentials } from '@grpc/grpc-js';
import express from 'express';

import { listen } from './programs.js';
import { Happenings, StepGate } from './waiting.js';

// The SDKs' servers tell the console of every refusal and push; that is wanted only when a test is being looked into.
if (!process.env.CARDEA_PEERS_LOG) {
    for (const level of ['info', 'warn', 'error']) {
        console[level] = () => {};
    }
}

// The gateway's own fetches say so in User-Agent; the calls it relays say so in Via.
function cameThroughGateway(request) {
    return /^cardea\//.test(request.get('user-agent') ?? '') || /\bcardea\b/.test(request.get('via') ?? '');
}

// `build(url, gate)` gives the agent's routes: a list of [path, express handler].
// directContacts: requests that did not come through the gateway. calls: all requests. left: callers that did not
// wait for the end of an answer.
export async function startAgent(build) {
    const app = express();
    const agent = { gate: new StepGate(), directContacts: [], calls: new Happenings(), left: new Happenings() };
    app.use((request, response, next) => {
        const seen = { method: request.method, path: request.path, headers: request.headers };
        if (!cameThroughGateway(request)) {
            agent.directContacts.push(seen);
        }
        agent.calls.add(seen);
        response.on('close', () => {
            if (!response.writableFinished) {
                agent.left.add(seen);
            }
        });
        next();
    });
    const { url, stop } = await listen(app);
    for (const [path, handler] of build(url, agent.gate)) {
        app.use(path, handler);
    }
    return {
        ...agent,
        url,
        stop: async () => {
            agent.gate.cancelAll();
            await stop();
        },
    };
}

// The same over gRPC: `build(address, gate)` gives the service and what implements it. The address is a host and a port.
export async function startGrpcAgent(build) {
    const agent = { gate: new StepGate(), directContacts: [], calls: new Happenings(), left: new Happenings() };
    const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
    const port = await new Promise((resolve, reject) => {
        server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
            error ? reject(error) : resolve(bound)
        );
    });
    const address = `127.0.0.1:${port}`;
    const { service, implementation, card } = build(address, agent.gate);
    server.addService(service, implementation);
    return {
        ...agent,
        address,
        card,
        url: `grpc://${address}`,
        stop: async () => {
            agent.gate.cancelAll();
            server.forceShutdown();
        },
    };
}

// Receives push notifications: `received` gets {token, body}.
export async function startWebhook() {
    const received = new Happenings();
    const { url, stop } = await listen(
        createServer(async (request, response) => {
            const chunks = [];
            for await (const chunk of request) {
                chunks.push(chunk);
            }
            response.writeHead(204).end();
            const token = request.headers['x-a2a-notification-token'];
            received.add({ token, body: JSON.parse(Buffer.concat(chunks).toString()) });
        })
    );
    return { url: `${url}hook`, received, stop };
}

// The sample agent's answers, as both SDKs' samples give them.
export function reply(text) {
    const query = text.trim().toLowerCase();
    if (query === '') {
        return 'Hello! Please provide a message for me to respond to.';
    }
    return /hello|hi/.test(query)
        ? 'Hello World! Nice to meet you!'
        : `Hello World! You said: '${text.trim()}'. Thanks for your message!`;
}

export const extension = 'https://example.com/extensions/polite/v1';
