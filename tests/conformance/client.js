// What the suite runs as a client: the TypeScript SDK's, of the era that the scenario is for. It lists all that the server has and
// uses it. argv[2] is `direct` or `gateway`, the suite adds the server's address.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { startConfiguredGateway } from '../peers/support/programs.js';

const [, , how, server] = process.argv;
const mode = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28' ? 'auto' : 'legacy';
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const samples = { string: 'a string', number: 5, integer: 3, boolean: true, object: {}, array: [] };
const filled = ({ properties = {}, required = [] } = {}) =>
    Object.fromEntries(required.map((name) => [name, samples[properties[name]?.type] ?? samples.string]));

function makeClient() {
    const capabilities = { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: { listChanged: true } };
    const client = new Client({ name: 'conformance-client', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: 'accept', content: filled(params.requestedSchema) }));
    const content = { type: 'text', text: 'sampled' };
    client.setRequestHandler('sampling/createMessage', async () => ({ model: 'none', role: 'assistant', content }));
    client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///root', name: 'root' }] }));
    return client;
}

async function useTools(client) {
    const { tools } = await client.listTools();
    // A tool may want back what the client has understood of another one.
    const [first] = tools;
    const given = ({ inputSchema }) => {
        const schema = 'schema' in (inputSchema.properties ?? {}) && { schema: first.inputSchema };
        return { ...filled(inputSchema), ...schema };
    };
    const calls = toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: given(tool) }));
    for (const call of calls) {
        await client.callTool(call).catch(({ message }) => process.stderr.write(`${call.name}: ${message}\n`));
    }
}

async function use(client) {
    const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
    if (tools) {
        await useTools(client);
    }
    if (resources) {
        const listed = await client.listResources();
        await Promise.all(listed.resources.map(({ uri }) => client.readResource({ uri })));
    }
    if (prompts) {
        const listed = await client.listPrompts();
        await Promise.all(listed.prompts.map(({ name }) => client.getPrompt({ name })));
    }
}

// Nothing of the gateway's own reaches the suite's server: `lazy`, and nobody asks for the card.
const mcpServers = { suite: { type: 'streamable-http', url: server, start: 'lazy' } };
const gateway = how === 'gateway' ? await startConfiguredGateway({ mcpServers }) : undefined;
try {
    const client = makeClient();
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway ? `${gateway.base}agents/suite/mcp` : server)));
    await use(client);
    await client.close();
} finally {
    await gateway?.stop();
}
