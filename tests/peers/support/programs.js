// Starts the programs under test, on ports that they choose, and ends them.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import readline from 'node:readline';

import { within } from './waiting.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
export const gatewayBinary = process.env.CARDEA_BIN ?? `${root}build/release/cardea`;
const demoAgentBinary = process.env.DEMO_AGENT_BIN ?? `${root}build/release/demo_agent`;

// Starts another program, such as a database, which ends with this process.
export function startService(command, args, stream, ready) {
    return start('setpriv', ['--pdeathsig', 'KILL', '--', command, ...args], stream, ready);
}

// Starts a program and resolves when `ready` makes something of one of its lines.
async function start(binary, args, stream, ready) {
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = [];
    const exited = new Promise((resolve) => {
        child.on('exit', (code, signal) => resolve({ code, signal }));
        child.on('error', (error) => resolve({ code: error.message }));
    });
    const found = new Promise((resolve) => {
        for (const name of ['stdout', 'stderr']) {
            readline.createInterface({ input: child[name] }).on('line', (line) => {
                log.push(line);
                const made = name === stream ? ready(line) : undefined;
                if (made !== undefined) {
                    resolve(made);
                }
            });
        }
    });
    const failed = exited.then(({ code, signal }) => {
        throw new Error(`${binary} ended with ${code ?? signal} before it was ready:\n${log.join('\n')}`);
    });
    failed.catch(() => {});
    const stop = async () => {
        child.kill('SIGTERM');
        const { code, signal } = await within(exited, `end of ${binary}`, 20_000).catch((late) => {
            child.kill('SIGKILL');
            throw late;
        });
        if (code !== 0) {
            throw new Error(`${binary} ended with ${code ?? signal}:\n${log.slice(-40).join('\n')}`);
        }
    };
    const kill = async () => {
        child.kill('SIGKILL');
        await exited;
    };
    try {
        return { value: await within(Promise.race([found, failed]), `sign that ${binary} is ready`), stop, kill, log };
    } catch (error) {
        child.kill('SIGKILL');
        throw error;
    }
}

// agents: {id: url}. `base` ends with a slash.
export function startGateway(agents) {
    return run(Object.entries(agents).flatMap(([id, url]) => ['--agent', `${id}=${url}`]));
}

// servers: {id: command line or URL}, as an operator writes them behind --mcp.
export function startGatewayOfServers(servers) {
    return run(Object.entries(servers).flatMap(([id, how]) => ['--mcp', `${id}=${how}`]));
}

// configuration: what a file of the gateway may hold.
export async function startConfiguredGateway(configuration) {
    const folder = await mkdtemp(path.join(tmpdir(), 'cardea-peers-'));
    const file = path.join(folder, 'cardea.json');
    await writeFile(file, JSON.stringify(configuration));
    try {
        return await run(['-c', file]);
    } finally {
        await rm(folder, { recursive: true });
    }
}

// file: a configuration, which the test may change. `kill` ends the gateway at once.
export function startGatewayFrom(file, admin) {
    return run(['-c', file], admin);
}

// The same at an address that others know before, with the store that the file names.
export function startReplicaFrom(file, listen) {
    return run(['-c', file], '127.0.0.1:0', ['--listen', listen]);
}

async function run(flags, admin = '127.0.0.1:0', where = ['--store', 'memory', '--listen', '127.0.0.1:0']) {
    const args = ['run', ...where, '--admin', admin, ...flags];
    const { value, stop, kill, log } = await start(gatewayBinary, args, 'stderr', (line) => {
        const entry = line.startsWith('{') ? JSON.parse(line) : {};
        return entry.event === 'listening' ? entry : undefined;
    });
    return { base: `http://${value.traffic}/`, admin: `http://${value.admin}/`, stop, kill, log };
}

// generation: '0.3' or '1.0'. The pace is short: nobody waits for dice here.
export async function startDemoAgent(generation) {
    const args = ['--port', '0', '--generation', generation, '--pace', '20'];
    const { value, stop } = await start(demoAgentBinary, args, 'stdout', (line) => line.match(/ at (http:\S+)$/)?.[1]);
    return { url: value, stop };
}

// An HTTP server of this process, on a free port; `url` ends with a slash.
export async function listen(handler) {
    const server = handler.listen(0, '127.0.0.1');
    await within(once(server, 'listening'), 'free port');
    const stop = async () => {
        server.close();
        server.closeAllConnections();
        await within(once(server, 'close'), 'closed server');
    };
    return { url: `http://127.0.0.1:${server.address().port}/`, stop };
}
