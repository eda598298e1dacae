// An MCP server of the legacy era whose one tool says its argument `mark` in progress, in a log message, in a question to the client if
// `asks` is set, and in the answer. Each session asks with the same ids. argv[2] is `stdio`, or `http` with the port in argv[3].
import { json } from 'node:stream/consumers';
import readline from 'node:readline';

import { listen } from './growing_tools.js';

const [, , kind, port] = process.argv;
const schema = { type: 'object', properties: { mark: { type: 'string' } } };
const plain = {
    initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'marking', version: '1.0.0' },
    },
    'tools/list': { tools: [{ name: 'mark', inputSchema: schema }] },
};

class Session {
    #asked = new Map();

    // say: sends a message where what belongs to this one goes. The last one is its answer.
    take(message, say) {
        const { id, method, params } = message;
        if (method === undefined) {
            this.#asked.get(id)?.(message.result?.content?.mark ?? 'refused');
            this.#asked.delete(id);
        } else if (method === 'tools/call') {
            this.#call(id, params, say);
        } else if (id !== undefined) {
            say({ jsonrpc: '2.0', id, result: plain[method] ?? {} });
        }
    }

    #call(id, { arguments: { mark, asks }, _meta }, say) {
        const tell = (method, params) => say({ jsonrpc: '2.0', method: `notifications/${method}`, params });
        const answer = (given) => say({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: given }] } });
        tell('progress', { progressToken: _meta.progressToken, progress: 1, message: mark });
        tell('message', { level: 'info', data: mark });
        if (asks) {
            let free = 1;
            while (this.#asked.has(free)) {
                free += 1;
            }
            this.#asked.set(free, answer);
            say({ jsonrpc: '2.0', id: free, method: 'elicitation/create', params: { message: mark, requestedSchema: schema } });
        } else {
            answer(mark);
        }
    }
}

function serveProgram() {
    const session = new Session();
    readline.createInterface({ input: process.stdin }).on('line', (line) => {
        session.take(JSON.parse(line), (message) => process.stdout.write(`${JSON.stringify(message)}\n`));
    });
}

function serveHttp() {
    const sessions = new Map();
    const serve = async (request, response) => {
        const given = request.headers['mcp-session-id'];
        if (request.method !== 'POST') {
            response.writeHead(request.method === 'DELETE' && sessions.delete(given) ? 200 : 405).end();
            return;
        }
        const message = await json(request);
        const id = message.method === 'initialize' ? `session-${sessions.size}-${Math.random()}` : given;
        if (message.method === 'initialize') {
            sessions.set(id, new Session());
        }
        if (!sessions.has(id)) {
            response.writeHead(404).end();
        } else if (message.id === undefined || message.method === undefined) {
            sessions.get(id).take(message, () => {});
            response.writeHead(202).end();
        } else {
            response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Mcp-Session-Id': id });
            sessions.get(id).take(message, (said) => {
                response.write(`data: ${JSON.stringify(said)}\n\n`);
                if (said.method === undefined) {
                    response.end();
                }
            });
        }
    };
    listen(port, serve);
}

if (kind === 'http') {
    serveHttp();
} else {
    serveProgram();
}
