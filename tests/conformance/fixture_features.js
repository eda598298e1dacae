// What the conformance suite calls by name: tools, resources and prompts, the same for both eras. What a tool asks for is
// `input_required`; the SDK turns that into requests to a client of the legacy era.
import { randomBytes } from 'node:crypto';

import {
    acceptedContent,
    CLIENT_CAPABILITIES_META_KEY,
    createRequestStateCodec,
    fromJsonSchema,
    inputRequired,
    McpServer,
    ResourceTemplate,
} from '@modelcontextprotocol/server';

// One grey pixel, and a file of sound without a sample.
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const sealed = createRequestStateCodec({ key: randomBytes(32) });
const text = (said) => ({ type: 'text', text: said });
const image = { type: 'image', data: pixel, mimeType: 'image/png' };
const embedded = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });
const result = (...content) => ({ content });
const says = (said) => result(text(said));
const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const arguments_ = (...names) => fromJsonSchema(object(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))));
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

const elicit = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });
const askFor = (name, type = 'string') => elicit(`What is the ${name}?`, object({ [name]: { type } }));
const sample = (prompt) => inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 });
const said = (answer) => answer?.content?.text;

// `requests` until `finish` makes a result of the answers; undefined asks again.
const asking = (requests, finish) => async (given, ctx) => {
    const { mcpReq } = ctx ?? given;
    const answers = mcpReq.inputResponses;
    return (answers && finish(answers)) ?? inputRequired({ inputRequests: requests(given) });
};

// The same with a state that the client gives back.
const askingWithState = (requests, finish) => async (_, { mcpReq }) => {
    const finished = mcpReq.inputResponses && mcpReq.requestState() !== undefined && finish(mcpReq.inputResponses);
    return finished || inputRequired({ inputRequests: requests, requestState: await sealed.mint({ asked: true }) });
};

const plainTools = {
    test_simple_text: async () => says('plain text'),
    test_image_content: async () => result(image),
    test_audio_content: async () => result({ type: 'audio', data: silence, mimeType: 'audio/wav' }),
    test_embedded_resource: async () => result(embedded('test://embedded', 'text/plain', 'inside a result')),
    test_multiple_content_types: async () => result(text('three kinds'), image, embedded('test://mixed', 'application/json', '{"n":1}')),
    test_streaming_elicitation: async () => says('asked for nothing'),
    test_error_handling: async () => {
        throw new Error('fails whenever it is called');
    },
    test_logging_tool: async (_, { mcpReq }) => {
        await mcpReq.log('info', 'heard by those who asked for a level');
        return says('logged');
    },
    test_tool_with_logging: async (_, { mcpReq }) => {
        for (const step of ['begins', 'goes on', 'ends']) {
            await mcpReq.log('info', `the tool ${step}`);
            await pause();
        }
        return says('logged three times');
    },
    test_tool_with_progress: async (_, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
            await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
            await pause();
        }
        return says(String(progressToken));
    },
    test_reconnection: async (_, ctx) => {
        ctx.http?.closeSSE?.();
        await pause();
        return says('said on the stream that the client came back with');
    },
};

const defaults = object(
    {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
    },
    [],
);
const few = (start) => [1, 2, 3].map((number) => `${start}${number}`);
const titled = (start) => few(start).map((value) => ({ const: value, title: `Choice ${value}` }));
const enums = object(
    {
        untitledSingle: { type: 'string', enum: few('option') },
        titledSingle: { type: 'string', oneOf: titled('value') },
        legacyEnum: { type: 'string', enum: few('opt'), enumNames: few('Option ') },
        untitledMulti: { type: 'array', items: { type: 'string', enum: few('option') } },
        titledMulti: { type: 'array', items: { anyOf: titled('value') } },
    },
    [],
);

const named = (answers) => acceptedContent(answers, 'user_name')?.name;
const answered = (answers, key) => answers[key] && says(`${answers[key].action}: ${JSON.stringify(answers[key].content ?? {})}`);
const confirm = { confirm: askFor('ok', 'boolean') };
const confirmed = (answers) => acceptedContent(answers, 'confirm') && says('state-ok, and confirmed');
const three = { user_name: askFor('name'), greeting: sample('Greet somebody'), client_roots: inputRequired.listRoots() };

const askingTools = {
    test_elicitation: [['message'], asking(
        ({ message }) => ({ form: elicit(message, object({ response: { type: 'string' } })) }),
        (got) => answered(got, 'form'),
    )],
    test_elicitation_sep1034_defaults: [[], asking(() => ({ form: elicit('Are these right?', defaults) }), (got) => answered(got, 'form'))],
    test_elicitation_sep1330_enums: [[], asking(() => ({ form: elicit('Choose some', enums) }), (got) => answered(got, 'form'))],
    test_sampling: [['prompt'], asking(({ prompt }) => ({ model: sample(prompt) }), ({ model }) => model && says(`the model: ${said(model)}`))],
    test_missing_capability: [[], asking(() => ({ model: sample('Say pong') }), ({ model }) => model && says('sampled'))],
    test_input_required_result_elicitation: [[], asking(() => ({ user_name: askFor('name') }), (got) => {
        const name = named(got);
        return typeof name === 'string' ? says(`Hello, ${name}`) : undefined;
    })],
    test_input_required_result_sampling: [[], asking(
        () => ({ capital_question: sample('Which city is the capital of France?') }),
        ({ capital_question: answer }) => answer && says(`the model: ${said(answer)}`),
    )],
    test_input_required_result_list_roots: [[], asking(
        () => ({ client_roots: inputRequired.listRoots() }),
        ({ client_roots: answer }) => answer?.roots && says(`${answer.roots.length}: ${answer.roots.map(({ uri }) => uri)}`),
    )],
    test_input_required_result_request_state: [[], askingWithState(confirm, confirmed)],
    test_input_required_result_tampered_state: [[], askingWithState(confirm, confirmed)],
    test_input_required_result_multiple_inputs: [[], askingWithState(three, (got) => {
        const greeting = said(got.greeting);
        return named(got) && greeting && got.client_roots && says(`${greeting}, ${named(got)}: ${got.client_roots.roots.length} roots`);
    })],
    test_input_required_result_multi_round: [[], async (_, { mcpReq }) => {
        const { round = 0, name } = mcpReq.requestState() ?? {};
        if (round === 2) {
            return says(`${name} likes ${acceptedContent(mcpReq.inputResponses, 'step2')?.color}`);
        }
        const next = { round: round + 1, name: acceptedContent(mcpReq.inputResponses, 'step1')?.name };
        const inputRequests = round === 0 ? { step1: askFor('name') } : { step2: askFor('color') };
        return inputRequired({ inputRequests, requestState: await sealed.mint(next) });
    }],
};

// Asks for what the client has declared, with the request or for the session.
const askingCapable = (server) => async (_, { mcpReq }) => {
    const declared = mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities() ?? {};
    const kinds = { user_name: 'elicitation', greeting: 'sampling', client_roots: 'roots' };
    const inputRequests = Object.fromEntries(Object.entries(three).filter(([key]) => declared[kinds[key]]));
    const done = mcpReq.inputResponses || Object.keys(inputRequests).length === 0;
    return done ? says('nothing more to ask') : inputRequired({ inputRequests });
};

const vocabulary = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
};
const region = object({ region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } }, []);

// How often the lists have changed: one tool and one prompt say it.
const versions = { tool: 1, prompt: 1 };
const version = (kind) => ({ description: `Version ${versions[kind]}` });

function addTools(server, told) {
    const add = (name, inputSchema, call) => server.registerTool(name, { description: `The suite's ${name}`, inputSchema }, call);
    Object.entries(plainTools).forEach(([name, call]) => add(name, arguments_(), call));
    Object.entries(askingTools).forEach(([name, [names, call]]) => add(name, arguments_(...names), call));
    add('test_input_required_result_capabilities', arguments_(), askingCapable(server));
    add('test_x_mcp_header', fromJsonSchema(region), async (given) => says(`region ${given.region}`));
    add('json_schema_2020_12_tool', fromJsonSchema(vocabulary), async (given) => says(JSON.stringify(given)));
    for (const kind of ['tool', 'prompt']) {
        add(`test_trigger_${kind}_change`, arguments_(), async () => {
            versions[kind] += 1;
            told[kind]();
            return says('changed');
        });
    }
    return server.registerTool('test_changing_tool', { ...version('tool'), inputSchema: arguments_() }, async () => says('the same'));
}

function addResources(server) {
    const add = (name, uri, mimeType, content) =>
        server.registerResource(name, uri, { mimeType }, async ({ href }, given) => ({ contents: [{ uri: href, mimeType, ...content(given) }] }));
    add('text', 'test://static-text', 'text/plain', () => ({ text: 'a text that stays' }));
    add('binary', 'test://static-binary', 'image/png', () => ({ blob: pixel }));
    add('watched', 'test://watched-resource', 'text/plain', () => ({ text: 'a text to watch' }));
    const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
    add('template', template, 'application/json', ({ id }) => ({ text: JSON.stringify({ id }) }));
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
        server.server.setRequestHandler(method, async () => ({}));
    }
    server.server.setRequestHandler('completion/complete', async () => ({ completion: { values: [], total: 0, hasMore: false } }));
}

function addPrompts(server) {
    const messages = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
    const add = (name, names, get) =>
        server.registerPrompt(name, { description: `The suite's ${name}`, ...(names.length > 0 && { argsSchema: arguments_(...names) }) }, get);
    add('test_simple_prompt', [], async () => messages(text('a prompt without arguments')));
    add('test_prompt_with_arguments', ['arg1', 'arg2'], async ({ arg1, arg2 }) => messages(text(`'${arg1}' and '${arg2}'`)));
    add('test_prompt_with_embedded_resource', ['resourceUri'], async ({ resourceUri }) =>
        messages(embedded(resourceUri, 'text/plain', 'inside a prompt'), text('What does it say?')));
    add('test_prompt_with_image', [], async () => messages(image, text('What is on it?')));
    add('test_input_required_result_prompt', [], asking(
        () => ({ user_context: askFor('context') }),
        (answers) => acceptedContent(answers, 'user_context') && messages(text(acceptedContent(answers, 'user_context').context)),
    ));
    return server.registerPrompt('test_changing_prompt', version('prompt'), async () => messages(text('the same')));
}

// told: {tool, prompt}, called when that list has changed. Returns the server, and `renew` to list that change and say so.
export function makeServer(told) {
    const listChanged = true;
    const capabilities = {
        tools: { listChanged },
        resources: { listChanged, subscribe: true },
        prompts: { listChanged },
        logging: {},
        completions: {},
    };
    const server = new McpServer({ name: 'conformance-fixture', version: '1.0.0' }, { capabilities, requestState: { verify: sealed.verify } });
    const tool = addTools(server, told);
    addResources(server);
    const prompt = addPrompts(server);
    return { server, renew: { tool: () => tool.update(version('tool')), prompt: () => prompt.update(version('prompt')) } };
}
