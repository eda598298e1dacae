// Servers of others as agents that are called over HTTP/2, in the clear and over TLS: Node, nginx, nghttpd.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} });
const result = { jsonrpc: '2.0', id: 1, result: {} };
const calls = 120; // nginx ends a connection after 50

const folder = mkdtempSync(path.join(tmpdir(), 'cardea-http2-'));
const file = (name) => path.join(folder, name);
const programs = [];
let gateway;
let node;
const seen = { sessions: 0, versions: new Set() };

async function freePort() {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

async function reachable(port) {
    for (;;) {
        const socket = net.connect(port, '127.0.0.1');
        const stands = await once(socket, 'connect').then(() => true, () => false);
        socket.destroy();
        if (stands) {
            return;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

function answer(stream, headers) {
    seen.versions.add(headers[':scheme']);
    stream.on('error', () => {});
    stream.resume().on('end', async () => {
        if (headers.accept === 'text/event-stream') {
            stream.respond({ ':status': 200, 'content-type': 'text/event-stream' });
            for (let i = 0; i < 3; ++i) {
                stream.write(`data: {"n":${i}}\n\n`);
            }
            stream.end();
            return;
        }
        stream.respond({ ':status': 200, 'content-type': 'application/json' });
        stream.end(JSON.stringify(result));
    });
}

async function startNode() {
    const plain = http2.createServer();
    const secure = http2.createSecureServer({ key: readFileSync(file('key.pem')), cert: readFileSync(file('cert.pem')) });
    for (const server of [plain, secure]) {
        server.on('stream', answer).on('session', () => ++seen.sessions);
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
    }
    return { plain, secure };
}

async function startNginx() {
    const [plain, secure] = [await freePort(), await freePort()];
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${file(name)};`);
    writeFileSync(
        file('nginx.conf'),
        `daemon off; pid ${file('nginx.pid')}; error_log ${file('nginx.log')};
events { worker_connections 64; }
http { access_log off; keepalive_requests 50; ${paths.join(' ')}
  server { listen 127.0.0.1:${plain} http2; listen 127.0.0.1:${secure} ssl http2;
    ssl_certificate ${file('cert.pem')}; ssl_certificate_key ${file('key.pem')};
    location / { default_type application/json; return 200 '${JSON.stringify(result)}'; } } }`,
    );
    programs.push(spawn('/usr/sbin/nginx', ['-c', file('nginx.conf')], { stdio: 'ignore' }));
    await reachable(secure);
    return { plain, secure };
}

async function startNghttpd() {
    const [plain, secure] = [await freePort(), await freePort()];
    mkdirSync(file('root'));
    writeFileSync(file('root/rpc'), JSON.stringify(result));
    const shared = ['-a', '127.0.0.1', '-d', file('root')];
    programs.push(spawn('nghttpd', ['--no-tls', ...shared, String(plain)], { stdio: 'ignore' }));
    programs.push(spawn('nghttpd', [...shared, String(secure), file('key.pem'), file('cert.pem')], { stdio: 'ignore' }));
    await reachable(plain);
    await reachable(secure);
    return { plain, secure };
}

before(async () => {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const made = ['-keyout', file('key.pem'), '-out', file('cert.pem')];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...made, ...subject], { stdio: 'ignore' });
    node = await startNode();
    const ports = {
        node: { plain: node.plain.address().port, secure: node.secure.address().port },
        nginx: await within(startNginx(), 'nginx'),
        nghttpd: await within(startNghttpd(), 'nghttpd'),
    };
    const agents = {};
    for (const [id, { plain, secure }] of Object.entries(ports)) {
        agents[id] = { url: `http://127.0.0.1:${plain}/rpc`, http: 2 };
        agents[`${id}-tls`] = { url: `https://localhost:${secure}/rpc`, http: 2, tls: { ca_file: file('cert.pem') } };
    }
    gateway = await startConfiguredGateway({ agents });
}, patience);

after(async () => {
    await gateway?.stop();
    for (const program of programs) {
        program.kill('SIGTERM');
    }
    node?.plain.close();
    node?.secure.close();
    rmSync(folder, { recursive: true });
}, patience);

function send(id, accept = 'application/json') {
    const headers = { 'Content-Type': 'application/json', Accept: accept };
    return fetch(`${gateway.base}agents/${id}`, { method: 'POST', headers, body: call });
}

describe('agents over HTTP/2', patience, () => {
    for (const name of ['node', 'nginx', 'nghttpd']) {
        for (const id of [name, `${name}-tls`]) {
            test(`${id} answers every call, one after the other and beside each other`, patience, async () => {
                for (let i = 0; i < calls; ++i) {
                    const got = await send(id);
                    assert.equal(got.status, 200);
                    assert.deepEqual(await got.json(), result);
                }
                const beside = await Promise.all(Array.from({ length: 40 }, () => send(id)));
                assert.deepEqual(new Set(beside.map((got) => got.status)), new Set([200]));
                await Promise.all(beside.map((got) => got.text()));
            });
        }
    }

    test('a stream of events comes whole', patience, async () => {
        const got = await send('node', 'text/event-stream');
        assert.equal(await got.text(), 'data: {"n":0}\n\ndata: {"n":1}\n\ndata: {"n":2}\n\n');
    });

    test('calls share few connections', () => {
        assert.deepEqual(seen.versions, new Set(['http', 'https']));
        assert.ok(seen.sessions <= 2 * 8 + 2, `${seen.sessions} sessions`);
    });
});
