// An MCP server of the modern era over HTTP whose tools say with `x-mcp-header` which parameters go into header fields, most of
// them in a way that clients must not take. argv[2] is the port.
import { json } from 'node:stream/consumers';

import { listen } from './growing_tools.js';

const [, , port] = process.argv;
const named = (name, type = 'string') => ({ type, 'x-mcp-header': name });
const good = named('Region');
const schemas = {
    none: {},
    plain: { properties: { p: good, q: named('Count', 'integer'), r: named('Sure', 'boolean') } },
    nested: { properties: { p: { type: 'object', properties: { q: good } } } },
    'name-only': { properties: { 'x-mcp-header': { type: 'object' } } },
    empty: { properties: { p: named('') } },
    space: { properties: { p: named('My Region') } },
    colon: { properties: { p: named('Region:Primary') } },
    'beyond-ascii': { properties: { p: named('Région') } },
    control: { properties: { p: named('Region\t1') } },
    number: { properties: { p: named('P', 'number') } },
    object: { properties: { p: named('P', 'object') } },
    array: { properties: { p: named('P', 'array') } },
    null: { properties: { p: named('P', 'null') } },
    'no-type': { properties: { p: { 'x-mcp-header': 'P' } } },
    'no-string': { properties: { p: named(5) } },
    twice: { properties: { p: good, q: good } },
    'twice-by-case': { properties: { p: named('MyField'), q: named('myfield') } },
    items: { properties: { p: { type: 'array', items: good } } },
    'any-of': { properties: { p: { anyOf: [good] } } },
    then: { if: {}, then: { properties: { p: good } } },
    'in-defs': { properties: { p: { $ref: '#/$defs/p' } }, $defs: { p: good } },
};
const tools = Object.entries(schemas).map(([name, schema]) => ({ name, inputSchema: { type: 'object', ...schema } }));
const fresh = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' };
const results = {
    'server/discover': { ...fresh, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { ...fresh, tools },
};

listen(port, async (request, response) => {
    if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
    }
    const { id, method } = await json(request);
    const result = results[method];
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    response.writeHead(result ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
