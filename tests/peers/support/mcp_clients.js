// MCP clients that none of us wrote, in the words that the matrix uses: connect(url) gives {tools, call, close}.
import { createRequire } from 'node:module';
import path from 'node:path';

import { createMCPClient } from '@ai-sdk/mcp';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const info = { name: 'matrix', version: '1' };
const remote = path.join(path.dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist/proxy.js');

// mcp-remote as a program in front of that address.
export function remoteCommand(url) {
    return { command: process.execPath, args: [remote, url.href, '--transport', 'http-only', '--allow-http'] };
}

const v1 = () => new ClientV1(info, { capabilities: {} });
const v2 = (mode) => new ClientV2(info, { versionNegotiation: { mode } });

async function connected(client, transport) {
    await client.connect(transport);
    return {
        tools: async () => (await client.listTools()).tools,
        call: (name, given) => client.callTool({ name, arguments: given }),
        close: () => client.close(),
    };
}

export const clients = {
    'sdk 1.32': (url) => connected(v1(), new HttpV1(url)),
    'client 2.4, legacy': (url) => connected(v2('legacy'), new HttpV2(url)),
    'client 2.4, auto': (url) => connected(v2('auto'), new HttpV2(url)),
    'client 2.4, pinned': (url) => connected(v2({ pin: '2026-07-28' }), new HttpV2(url)),
    'ai-sdk': async (url) => {
        const client = await createMCPClient({ transport: { type: 'http', url: url.href } });
        return {
            tools: async () => (await client.listTools()).tools,
            call: (name, given) => client.callTool({ name, arguments: given }),
            close: () => client.close(),
        };
    },
    // A program for clients that know nothing else: its own client is behind the SDK's.
    'mcp-remote': (url) => connected(v1(), new StdioV1({ ...remoteCommand(url), stderr: 'ignore' })),
};

// The same without a gateway. `how`: the server as the configuration has it.
export function connectDirectly(how, era) {
    const modern = era === 'modern';
    if (how.url === undefined) {
        const program = { ...how, stderr: 'ignore' };
        return modern ? connected(v2('auto'), new StdioV2(program)) : connected(v1(), new StdioV1(program));
    }
    if (how.type === 'sse') {
        return connected(v1(), new SseV1(new URL(how.url)));
    }
    return modern ? connected(v2('auto'), new HttpV2(new URL(how.url))) : connected(v1(), new HttpV1(new URL(how.url)));
}
