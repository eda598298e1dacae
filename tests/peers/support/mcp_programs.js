// MCP servers as programs over HTTP, that a test ends and starts again where they were.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

import { within } from './waiting.js';

// For a server that takes its port from the environment and cannot choose one.
export async function freePort() {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address();
    probe.close();
    await once(probe, 'close');
    return port;
}

// A server that says `listening <port>`. Port 0: one that it chooses; later starts take the same one.
export class HttpServer {
    #args;
    #port = 0;
    #child;

    constructor(...args) {
        this.#args = args;
    }

    // What it is from its next start on.
    become(...args) {
        this.#args = args;
    }

    get origin() {
        return `http://127.0.0.1:${this.#port}/`;
    }

    async start() {
        const args = [...this.#args, String(this.#port)];
        this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
        const lines = readline.createInterface({ input: this.#child.stdout });
        const [line] = await within(once(lines, 'line'), `server ${args.join(' ')}`, 20_000);
        this.#port = Number(line.match(/^listening (\d+)$/)[1]);
    }

    async kill() {
        if (this.#child?.exitCode === null && this.#child.signalCode === null) {
            this.#child.kill('SIGKILL');
            await once(this.#child, 'exit');
        }
    }
}

export const everything = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url));

// server-everything over HTTP; mode: `streamableHttp` or `sse`.
export async function startEverything(mode) {
    const port = await freePort();
    const child = spawn(process.execPath, [everything, mode], { env: { ...process.env, PORT: String(port) }, stdio: 'ignore' });
    const kill = async () => {
        if (child.exitCode === null && child.signalCode === null) {
            child.kill('SIGKILL');
            await once(child, 'exit');
        }
    };
    const up = async () => {
        while (!(await fetch(`http://127.0.0.1:${port}/none`).then(() => true, () => false))) {
            if (child.exitCode !== null) {
                throw new Error(`server-everything ended with ${child.exitCode}`);
            }
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    };
    await within(up(), 'server-everything', 20_000).catch(async (late) => {
        await kill();
        throw late;
    });
    return { url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`, kill };
}
