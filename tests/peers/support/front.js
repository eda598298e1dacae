// nginx as a shared cache in front of the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

async function freePort() {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

async function accepts(port) {
    const socket = net.connect(port, '127.0.0.1');
    try {
        await once(socket, 'connect');
        return true;
    } catch {
        return false;
    } finally {
        socket.destroy();
    }
}

// `careless`: it keeps whatever it gets, whatever Cache-Control says, and POST too. `base` ends with a slash; answers say in
// X-Cache whether they are from the cache.
export async function startFront(upstream, careless) {
    const folder = await mkdtemp(path.join(tmpdir(), 'cardea-front-'));
    const port = await freePort();
    for (const each of ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi', 'cache']) {
        await mkdir(path.join(folder, each));
    }
    const keeps = careless
        ? 'proxy_ignore_headers Cache-Control Expires Set-Cookie; proxy_cache_valid any 10m; proxy_cache_methods GET HEAD POST; proxy_cache_key "$request_method $uri $request_body";'
        : 'proxy_cache_key "$uri";';
    const temporary = ['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((each) => `${each === 'body' ? 'client_body' : each}_temp_path ${folder}/${each};`)
        .join('\n');
    await writeFile(
        path.join(folder, 'nginx.conf'),
        `${process.getuid() === 0 ? 'user root root;' : ''}
        worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
        events { worker_connections 256; }
        http {
            access_log off; ${temporary}
            proxy_cache_path ${folder}/cache levels=1 keys_zone=shared:1m inactive=1h;
            server {
                listen 127.0.0.1:${port};
                location / {
                    proxy_pass ${upstream};
                    proxy_set_header Host $proxy_host;
                    proxy_cache shared; ${keeps}
                    add_header X-Cache $upstream_cache_status always;
                }
            }
        }`
    );
    const child = spawn('nginx', ['-p', folder, '-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], {
        stdio: 'inherit',
        env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    });
    const ended = once(child, 'exit');
    const deadline = Date.now() + 10_000;
    while (!(await accepts(port))) {
        if (Date.now() > deadline || child.exitCode !== null) {
            child.kill('SIGKILL');
            throw new Error('nginx does not listen');
        }
        await setTimeout(20);
    }
    const stop = async () => {
        child.kill('SIGTERM');
        await ended;
        await rm(folder, { recursive: true });
    };
    return { base: `http://127.0.0.1:${port}/`, stop };
}
