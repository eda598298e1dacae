// A program by the second line of the TypeScript SDK whose tool `ask` asks its caller for a name first.
import { acceptedContent, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

serveStdio(() => {
    const server = new McpServer({ name: 'asking', version: '1' });
    server.registerTool('ask', { inputSchema: fromJsonSchema({ type: 'object' }) }, async (_, { mcpReq }) => {
        const accepted = acceptedContent(mcpReq.inputResponses, 'who');
        if (accepted !== undefined) {
            return { content: [{ type: 'text', text: `Hello, ${accepted.name}` }] };
        }
        const who = inputRequired.elicit({ message: 'Who is there?', requestedSchema: named });
        return inputRequired({ inputRequests: { who }, requestState: 'one' });
    });
    return server;
});
