// MCP servers that none of us wrote, behind the gateway: their cards say what the MCP SDK's own client lists.
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { AgentCard } from 'a2a-sdk-1';

import { killTold } from './support/growing_tools.js';
import { startConfiguredGateway } from './support/programs.js';
import { within } from './support/waiting.js';

const patience = { timeout: 60_000 };
const entry = (name) => fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const growing = fileURLToPath(new URL('support/growing_mcp_server.js', import.meta.url));
const quiet = fileURLToPath(new URL('support/quiet_mcp_server.js', import.meta.url));
const servers = {
    everything: [entry('server-everything')],
    memory: [entry('server-memory')],
    thinking: [entry('server-sequential-thinking')],
    files: [entry('server-filesystem'), tmpdir()],
};

let folder;
let gateway;

before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-mcp-'));
    await writeFile(path.join(folder, 'tools'), 'first\n');
    await writeFile(path.join(folder, 'killed'), 'one\n');
    await writeFile(path.join(folder, 'quiet'), 'first\n');
    const agents = Object.fromEntries(
        Object.entries(servers).map(([id, args]) => [id, { command: process.execPath, args }])
    );
    agents.growing = { command: process.execPath, args: [growing, path.join(folder, 'pid'), path.join(folder, 'tools')] };
    agents.quiet = { command: process.execPath, args: [quiet, path.join(folder, 'quiet')] };
    agents.killed = {
        command: process.execPath,
        args: [growing, path.join(folder, 'killed_pid'), path.join(folder, 'killed')],
        restart: { backoff: '100ms' },
    };
    agents.lazy = { command: process.execPath, args: [entry('server-memory')], start: 'lazy' };
    gateway = await startConfiguredGateway({ mcpServers: agents });
}, patience);

after(async () => {
    await gateway?.stop();
    await rm(folder, { recursive: true });
}, patience);

const ask = (id, headers = {}) => fetch(`${gateway.base}agents/${id}/.well-known/agent-card.json`, { headers });

// The card once there is one that satisfies.
async function card(id, satisfies = () => true) {
    const found = async () => {
        for (;;) {
            const answer = await ask(id);
            const body = await answer.json();
            if (answer.status === 200 && satisfies(body)) {
                return body;
            }
            await new Promise((resolve) => setTimeout(resolve, 10));
        }
    };
    return within(found(), `card of ${id}`, 20_000);
}

async function listed(args) {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    const { tools } = await client.listTools();
    await client.close();
    return tools;
}

async function managed(method, params) {
    const answer = await fetch(`${gateway.admin}rpc`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = await answer.json();
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
}

// Every series with its value, read as strictly as Prometheus reads them.
async function metrics() {
    const lines = (await (await fetch(`${gateway.admin}metrics`)).text()).split('\n');
    assert.equal(lines.pop(), '');
    const series = new Map();
    const families = new Set();
    let family;
    for (const line of lines) {
        const help = line.match(/^# HELP (\S+) ./);
        if (help) {
            [, family] = help;
            assert.ok(!families.has(family), line);
            families.add(family);
            continue;
        }
        if (line.startsWith('#')) {
            assert.match(line, new RegExp(`^# TYPE ${family} (counter|gauge|histogram)$`));
            continue;
        }
        const [, name, value] = line.match(/^([a-z0-9_]+(?:\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/) ?? assert.fail(line);
        assert.ok(name.startsWith(family) && !series.has(name), line);
        series.set(name, Number(value));
    }
    return series;
}

const skills = ({ skills: all }) => all.map(({ id }) => id);

describe('MCP servers', patience, () => {
    for (const [id, args] of Object.entries(servers)) {
        test(`the skills of ${id} are the tools that the SDK's client lists`, patience, async () => {
            const tools = await within(listed(args), 'tools', 20_000);
            const got = await card(id);
            assert.deepEqual(skills(got), tools.map(({ name }) => name));
            assert.deepEqual(got.skills.map(({ inputSchema }) => inputSchema), tools.map(({ inputSchema }) => inputSchema));
            assert.equal(got.url, `${gateway.base}agents/${id}`);
            assert.equal(got.protocol, 'mcp');
        });

        test(`the A2A SDK reads the card of ${id} in the shape of 1.0`, patience, async () => {
            await card(id);
            const strict = await (await ask(id, { 'A2A-Version': '1.0' })).json();
            const read = AgentCard.fromJSON(strict);
            const { name, title } = strict.capabilities.extensions[0].params.serverInfo;
            assert.equal(read.name, title ?? name);
            assert.ok(read.skills.length > 0);
            assert.equal(strict.protocol, undefined);
        });
    }

    test('the card follows the tools within a second, and every answer meanwhile is a card', patience, async () => {
        assert.deepEqual(skills(await card('growing')), ['first']);
        await appendFile(path.join(folder, 'tools'), 'second\nthird\n');
        const begun = Date.now();
        for (;;) {
            const answer = await ask('growing');
            assert.equal(answer.status, 200);
            if (skills(await answer.json()).length === 3) {
                break;
            }
            assert.ok(Date.now() - begun < 10_000, 'the card never followed');
        }
        assert.ok(Date.now() - begun < 1_000, `it took ${Date.now() - begun} ms`);
        assert.deepEqual(skills(await card('growing')), ['first', 'second', 'third']);
    });

    test('a server that is killed has no card until it is back, and then the right one', patience, async () => {
        await card('killed');
        await appendFile(path.join(folder, 'killed'), 'two\n');
        await card('killed', (got) => got.skills.length === 2);
        killTold(path.join(folder, 'killed_pid'));
        const refused = async () => {
            for (;;) {
                const answer = await ask('killed');
                if (answer.status !== 200) {
                    return answer;
                }
            }
        };
        const answer = await within(refused(), '503');
        assert.equal(answer.status, 503);
        assert.ok(['session_crashed', 'session_not_ready'].includes(answer.headers.get('cardea-error')));
        assert.ok(Number(answer.headers.get('retry-after')) > 0);
        assert.deepEqual(skills(await card('killed')), ['one', 'two']);
        assert.equal((await managed('agents/health', { id: 'killed' })).session.restarts, 1);
        const series = await metrics();
        assert.equal(series.get('cardea_mcp_session_restarts_total{agent="killed"}'), 1);
        assert.equal(series.get('cardea_mcp_session_losses_total{agent="killed",reason="exited"}'), 1);
    });

    test('health, list and get show the session of a server, and refreshing it changes nothing', patience, async () => {
        await card('everything');
        const { session, ...health } = await managed('agents/health', { id: 'everything' });
        assert.equal(health.status, 'healthy');
        assert.equal(session.state, 'ready');
        assert.equal(session.transport, 'stdio');
        assert.equal(session.era, 'legacy');
        assert.equal(session.protocolVersion, '2025-11-25');
        assert.equal(session.server.name, 'mcp-servers/everything');
        assert.equal(session.restarts, 0);
        const listed = (await managed('agents/list', { text: 'everything' })).agents[0].session;
        const got = (await managed('agents/get', { id: 'everything' })).session;
        for (const each of [listed, got]) {
            assert.ok(each.uptime_seconds >= session.uptime_seconds);
            assert.deepEqual({ ...each, uptime_seconds: 0 }, { ...session, uptime_seconds: 0 });
        }
        const tag = (await ask('everything')).headers.get('etag');
        const preview = await managed('agents/refreshCard', { id: 'everything', dryRun: true });
        assert.deepEqual([preview.changed, preview.diff], [false, []]);
        assert.equal((await managed('agents/refreshCard', { id: 'everything' })).changed, false);
        assert.equal((await ask('everything')).headers.get('etag'), tag);
    });

    test('a preview says what a walk would change', patience, async () => {
        const before = await card('quiet');
        await appendFile(path.join(folder, 'quiet'), 'more\n');
        const changed = async () => {
            for (;;) {
                const preview = await managed('agents/refreshCard', { id: 'quiet', dryRun: true });
                if (preview.changed) {
                    return preview;
                }
            }
        };
        const { diff } = await within(changed(), 'preview', 20_000);
        assert.deepEqual(skills(await card('quiet')), skills(before));
        assert.ok(diff.some(({ op, path: at, value }) => op === 'add' && at.startsWith('/skills/') && value.id === 'more'));
        assert.equal((await managed('agents/refreshCard', { id: 'quiet' })).changed, true);
        assert.deepEqual(skills(await card('quiet')), ['first', 'more']);
    });

    test('the metrics of sessions can be read, and follow them', patience, async () => {
        await card('everything');
        const series = await metrics();
        assert.equal(series.get('cardea_mcp_session_up{agent="everything"}'), 1);
        assert.equal(series.get('cardea_mcp_session_state{agent="everything",state="ready"}'), 1);
        assert.ok(series.get('cardea_mcp_initialize_seconds{agent="everything"}') > 0);
        assert.ok(series.get('cardea_mcp_messages_total{agent="everything",direction="sent"}') >= 3);
        assert.ok(series.get('cardea_mcp_messages_total{agent="everything",direction="received"}') >= 2);
        assert.ok(series.get('cardea_mcp_list_refreshes_total{agent="everything",outcome="changed"}') >= 1);
        assert.equal(series.get('cardea_mcp_write_queue_bytes{agent="everything"}'), 0);
        const states = [...series].filter(([name]) => name.startsWith('cardea_mcp_session_state{agent="everything"'));
        assert.ok(states.length > 1);
        assert.equal(states.reduce((sum, [, value]) => sum + value, 0), 1);
        assert.ok(series.get('cardea_mcp_attempts_total{agent="everything"}') >= 1);
    });

    test('a lazy session begins when its card is asked for', patience, async () => {
        const first = await ask('lazy');
        assert.equal(first.status, 503);
        assert.equal(first.headers.get('cardea-error'), 'session_not_started');
        assert.ok(skills(await card('lazy')).includes('create_entities'));
    });
});
