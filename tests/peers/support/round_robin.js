// A load balancer without any memory: each request goes to the next gateway that can be reached.
import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { listen } from './programs.js';

// bases: of the gateways. saw: gets {method, headers, message} of each request before it is sent on. Of each target `active` counts
// the requests that it has not answered to the end, `cut` those that broke off there.
export async function startRoundRobin(bases, saw = () => {}) {
    const targets = bases.map((base) => ({ base: new URL(base), active: 0, cut: 0, gone: false }));
    let turn = 0;
    const next = () => {
        const left = targets.filter(({ gone }) => !gone);
        turn += 1;
        return left[turn % left.length];
    };
    const forward = (asked, body, answer) => {
        const target = next();
        const { hostname, port } = target.base;
        target.active += 1;
        const lost = () => {
            target.cut += 1;
            answer.destroy();
        };
        const up = request({ hostname, port, method: asked.method, path: asked.url, headers: asked.headers, agent: false }, (got) => {
            answer.writeHead(got.statusCode, got.headers);
            got.pipe(answer);
            got.on('error', () => !answer.closed && lost());
        });
        up.on('error', ({ code }) => {
            if (code === 'ECONNREFUSED') {
                target.gone = true;
                forward(asked, body, answer);
            } else if (!answer.closed) {
                lost();
            }
        });
        up.on('close', () => {
            target.active -= 1;
        });
        answer.on('close', () => up.destroy());
        up.end(body);
    };
    const { url, stop } = await listen(createServer(async (asked, answer) => {
        const body = await buffer(asked);
        saw({ method: asked.method, headers: asked.headers, message: body.length > 0 ? JSON.parse(body) : undefined });
        forward(asked, body, answer);
    }));
    return { base: url, targets, stop };
}
