// MCP over HTTP without an SDK: one request, and each message of its answer as it comes.
import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

// Resolves with {status, headers, problem} when the answer has ended; hears of each message of it, JSON or event. `problem`: the body
// was no message of MCP, or broke off.
export function exchange(url, { method = 'POST', headers = {}, body }, hear = () => {}) {
    const fields = { Accept: 'application/json, text/event-stream', ...(body && { 'Content-Type': 'application/json' }), ...headers };
    return new Promise((resolve, reject) => {
        const asked = request(url, { method, agent, headers: fields }, (answer) => {
            const events = answer.headers['content-type']?.startsWith('text/event-stream');
            const done = (problem) => resolve({ status: answer.statusCode, headers: answer.headers, problem });
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (piece) => {
                text += piece;
                if (events) {
                    const whole = text.split('\n\n');
                    text = whole.pop();
                    whole.map((event) => event.match(/^data: ?(.+)$/m)).forEach((data) => data && hear(JSON.parse(data[1])));
                }
            });
            answer.on('end', () => {
                if (!events && answer.headers['content-type']?.startsWith('application/json') && text) {
                    hear(JSON.parse(text));
                }
                done(answer.complete ? undefined : 'cut');
            });
            answer.on('error', (error) => done(error.code));
        });
        asked.on('error', reject);
        asked.end(body && JSON.stringify(body));
    });
}

const version = '2025-11-25';

// A session of the legacy era. `hear` gets the messages of each answer with the message that they are for.
export async function openSession(url, { name = 'test', capabilities = { elicitation: {} }, fields = {} } = {}) {
    let result;
    const params = { protocolVersion: version, capabilities, clientInfo: { name, version: '1' } };
    const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
    const { status, headers } = await exchange(url, { headers: fields, body }, (message) => {
        result = message.result;
    });
    if (status !== 200 || result === undefined) {
        throw new Error(`initialize: ${status} ${headers['cardea-error'] ?? ''}`);
    }
    const own = { ...fields, 'Mcp-Session-Id': headers['mcp-session-id'], 'MCP-Protocol-Version': version };
    const session = {
        id: headers['mcp-session-id'],
        send: (message, hear) => exchange(url, { headers: own, body: { jsonrpc: '2.0', ...message } }, hear),
        end: () => exchange(url, { method: 'DELETE', headers: own }),
    };
    await session.send({ method: 'notifications/initialized' });
    return session;
}
