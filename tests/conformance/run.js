// The MCP conformance suite on the fixture, and the SDK's client on the suite's servers, directly and through the gateway: no check may
// be worse than directly, but for those that expected_failures.json has with a reason. The Inspector gets the same either way. The
// arguments, if any, name the rows that run.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { HttpServer } from '../peers/support/mcp_programs.js';
import { startConfiguredGateway } from '../peers/support/programs.js';
import { inspect } from './inspector.js';
import { conform, sum, worse } from './suite.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const fixture = here('fixture.js');
const legacy = '2025-11-25';
const modern = '2026-07-28';
const rows = [
    { id: 'http', over: 'http', era: 'both', requirements: [legacy, modern] },
    { id: 'program', over: 'stdio', era: 'both', requirements: [legacy, modern] },
    { id: 'modern-http', over: 'http', era: 'modern', requirements: [legacy] },
    { id: 'modern-program', over: 'stdio', era: 'modern', requirements: [legacy] },
    { id: 'legacy-http', over: 'http', era: 'legacy', requirements: [modern] },
    { id: 'legacy-program', over: 'stdio', era: 'legacy', requirements: [modern] },
    // The only member of a bundle, without a prefix.
    { id: 'bundle-http', over: 'http', era: 'both', requirements: [legacy, modern], bundle: true },
    { id: 'bundle-program', over: 'stdio', era: 'both', requirements: [legacy, modern], bundle: true },
];
// What the suite has for clients and is not about OAuth.
const clientScenarios = {
    [legacy]: ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry', 'json-schema-2020-12-preservation'],
    [modern]: [
        'tools_call',
        'request-metadata',
        'sep-2322-client-request-state',
        'http-standard-headers',
        'http-custom-headers',
        'http-invalid-tool-headers',
        'json-schema-ref-no-deref',
        'json-schema-2020-12-preservation',
    ],
};

function configuration(chosen, servers) {
    const how = ({ id, over, era }) =>
        over === 'http'
            ? { type: 'streamable-http', url: `${servers[id].origin}mcp` }
            : { command: process.execPath, args: [fixture, over, era], warm: 2, max_sessions: 32 };
    // What is checked before a server of the legacy era is the translation.
    const sessionless = ({ era }) => (era === 'legacy' ? { sessionless: 'fresh' } : {});
    const bundles = chosen.filter(({ bundle }) => bundle).map(({ id }) => [id, { agents: [{ id, as: '' }] }]);
    return {
        mcpServers: Object.fromEntries(chosen.map((row) => [row.id, { ...how(row), ...sessionless(row) }])),
        ...(bundles.length > 0 ? { mcp: { bundles: Object.fromEntries(bundles) } } : {}),
    };
}

const target = ({ id, bundle }) => (bundle ? `mcp/${id}` : `agents/${id}/mcp`);

// Until then the gateway does not know the era of the server.
async function untilReady(gateway, id) {
    const deadline = Date.now() + 60_000;
    while (!gateway.log.some((line) => line.includes(`"agent":"${id}"`) && line.includes('"state":"ready"'))) {
        assert.ok(Date.now() < deadline, `${id} is not ready:\n${gateway.log.slice(-20).join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

// direct: the same without the gateway.
function print(name, { seconds, checks }, direct) {
    const count = (member) => `${String(sum(checks, member)).padStart(4)} ${member}`;
    const times = direct === undefined ? '' : `, ${(seconds / direct.seconds).toFixed(1)} times as long as directly`;
    process.stdout.write(`${name.padEnd(52)} ${count('passed')} ${count('failed')} ${seconds.toFixed(1).padStart(6)} s${times}\n`);
}

// The problems of a run: what is worse than directly without a reason, and reasons for what no longer is.
function judge(name, { checks }, direct, reasons) {
    const found = worse(checks, direct.checks);
    const known = new Map(reasons.flatMap(({ checks: names, sometimes }) => names.map((check) => [check, sometimes])));
    const surprises = found
        .filter(({ check }) => !known.has(check))
        .map(({ check, passed, wanted, why }) => `${name}: ${check}: ${passed} of ${wanted} passed: ${why ?? ''}`);
    const stale = [...known]
        .filter(([check, sometimes]) => !sometimes && !found.some((each) => each.check === check))
        .map(([check]) => `${name}: ${check} is no worse than directly: take it out of expected_failures.json`);
    return [...surprises, ...stale];
}

// `act` with the fixture that speaks both eras and a gateway in front of those of the rows.
async function withGateway(chosen, act) {
    const direct = new HttpServer(fixture, 'http', 'both');
    const overHttp = chosen.filter(({ over }) => over === 'http');
    const servers = Object.fromEntries(overHttp.map(({ id, over, era }) => [id, new HttpServer(fixture, over, era)]));
    const all = [direct, ...Object.values(servers)];
    let gateway;
    try {
        await Promise.all(all.map((server) => server.start()));
        gateway = await startConfiguredGateway(configuration(chosen, servers));
        return await act(`${direct.origin}mcp`, gateway);
    } finally {
        await gateway?.stop();
        await Promise.all(all.map((server) => server.kill()));
    }
}

const runRows = (chosen, expected) =>
    withGateway(chosen, async (direct, gateway) => {
        const problems = [];
        const reference = {};
        for (const revision of new Set(chosen.flatMap(({ requirements }) => requirements))) {
            reference[revision] = await conform('server', '--url', direct, '--requirements', revision);
            print(`direct ${revision}`, reference[revision]);
            assert.equal(reference[revision].code, 0, 'the fixture does not conform');
        }
        for (const row of chosen) {
            const { id, requirements } = row;
            await untilReady(gateway, id);
            for (const revision of requirements) {
                const name = `${id} ${revision}`;
                const run = await conform('server', '--url', `${gateway.base}${target(row)}`, '--requirements', revision);
                print(name, run, reference[revision]);
                problems.push(...judge(name, run, reference[revision], expected[name] ?? []));
            }
        }
        return problems;
    });

// The Inspector's command line, in each of its eras with each server.
const runInspector = () =>
    withGateway(rows, async (direct, gateway) => {
        const problems = [];
        for (const era of ['legacy', 'auto', 'modern']) {
            const wanted = await inspect(direct, era);
            for (const row of rows) {
                const { id } = row;
                await untilReady(gateway, id);
                const found = await inspect(`${gateway.base}${target(row)}`, era);
                const same = isDeepStrictEqual(found, wanted);
                process.stdout.write(`inspector ${era}, ${id}: ${same ? 'as directly' : 'DIFFERS'}\n`);
                problems.push(...(same ? [] : [`inspector ${era}, ${id}: ${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`]));
            }
        }
        return problems;
    });

async function runClient(expected) {
    const problems = [];
    for (const [revision, scenarios] of Object.entries(clientScenarios)) {
        for (const scenario of scenarios) {
            const name = `client ${scenario} ${revision}`;
            const which = ['--scenario', scenario, '--spec-version', revision];
            const run = (how) => conform('client', '--command', `${process.execPath} ${here('client.js')} ${how}`, ...which);
            const direct = await run('direct');
            assert.equal(direct.code, 0, `the client does not conform in ${scenario}`);
            const passed = await run('gateway');
            print(name, passed, direct);
            problems.push(...judge(name, passed, direct, expected[name] ?? []));
        }
    }
    return problems;
}

const names = [...rows.map(({ id }) => id), 'client', 'inspector'];
const wanted = process.argv.length > 2 ? process.argv.slice(2) : names;
assert.ok(wanted.every((name) => names.includes(name)), `the rows are ${names.join(', ')}`);
const expected = JSON.parse(await readFile(here('expected_failures.json'), 'utf8'));
const chosen = rows.filter(({ id }) => wanted.includes(id));
const problems = chosen.length > 0 ? await runRows(chosen, expected) : [];
if (wanted.includes('client')) {
    problems.push(...(await runClient(expected)));
}
if (wanted.includes('inspector')) {
    problems.push(...(await runInspector()));
}
problems.forEach((problem) => process.stderr.write(`${problem}\n`));
process.exitCode = problems.length > 0 ? 1 : 0;
