// A PostgreSQL and an HAProxy of a test's own, below /tmp and on free ports.
import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { freePort } from './mcp_programs.js';
import { startService } from './programs.js';

const run = promisify(execFile);
const programs = '/usr/lib/postgresql/15/bin/';

// PostgreSQL does not run as root.
async function otherUser() {
    if (process.getuid() !== 0) {
        return { words: [] };
    }
    const { stdout } = await run('id', ['-u', 'postgres']);
    const id = Number(stdout);
    return { id, words: ['setpriv', `--reuid=${id}`, '--regid=postgres', '--clear-groups', '--pdeathsig', 'KILL', '--'] };
}

// `url`: of its database. stop() ends it at once.
export async function startPostgres() {
    const folder = await mkdtemp(path.join(tmpdir(), 'cardea-postgres-'));
    const { id, words } = await otherUser();
    if (id !== undefined) {
        await chown(folder, id, id);
    }
    const data = path.join(folder, 'data');
    const [command, ...args] = [...words, `${programs}initdb`, `--pgdata=${data}`, '--username=cardea', '--auth=trust', '--no-sync', '--no-instructions'];
    await run(command, args);
    const port = await freePort();
    const settings = ['-p', port, '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off', '-c', 'log_min_messages=warning'];
    const [server, ...flags] = [...words, `${programs}postgres`, '-D', data, ...settings.map(String)];
    const started = await startService(server, flags, 'stderr', (line) => line.includes('ready to accept connections') || undefined);
    const stop = async () => {
        await started.kill();
        await rm(folder, { recursive: true, force: true });
    };
    return { url: `postgresql://cardea@127.0.0.1:${port}/postgres`, stop };
}

// Requests go to the servers, {name: 'host:port'}, in turns: nothing of a request decides.
export async function startHaproxy(port, servers) {
    const folder = await mkdtemp(path.join(tmpdir(), 'cardea-haproxy-'));
    const file = path.join(folder, 'haproxy.cfg');
    const lines = Object.entries(servers).map(([name, address]) => `    server ${name} ${address} check inter 200ms`);
    await writeFile(file, `
global
    log stderr format raw local0
defaults
    mode http
    log global
    timeout connect 5s
    timeout client 120s
    timeout server 120s
    timeout tunnel 120s
    option redispatch 1
    retries 3
frontend callers
    bind 127.0.0.1:${port}
    default_backend replicas
backend replicas
    balance roundrobin
    http-reuse never
${lines.join('\n')}
`);
    const started = await startService('haproxy', ['-V', '-db', '-f', file], 'stdout', (line) => line.startsWith('Using ') || undefined);
    const stop = async () => {
        await started.kill();
        await rm(folder, { recursive: true });
    };
    return { stop, log: started.log };
}
