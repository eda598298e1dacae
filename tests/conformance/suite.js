// Runs the conformance suite and reads what it has found: for each check of each scenario, how often it passed and failed.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const suite = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
const patience = 10 * 60_000; // milliseconds

function run(args) {
    return new Promise((resolve, reject) => {
        execFile(process.execPath, [suite, ...args], { timeout: patience, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
            if (error && (error.killed || typeof error.code !== 'number')) {
                reject(new Error(`the suite did not end: ${error.message}\n${stdout.slice(-2000)}${stderr.slice(-2000)}`));
            } else {
                resolve({ code: error?.code ?? 0, output: stdout + stderr });
            }
        });
    });
}

// The folders are named `<kind>-<scenario>-<time>`; those of scenarios with a slash in their names are nested.
async function read(folder) {
    const found = new Map();
    for (const each of await readdir(folder, { recursive: true })) {
        if (path.basename(each) !== 'checks.json') {
            continue;
        }
        const scenario = path.dirname(each).replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
        for (const { id, status, errorMessage } of JSON.parse(await readFile(path.join(folder, each), 'utf8'))) {
            const check = `${scenario}:${id}`;
            const counts = found.get(check) ?? { passed: 0, failed: 0, why: undefined };
            counts.passed += status === 'SUCCESS' ? 1 : 0;
            counts.failed += status === 'FAILURE' ? 1 : 0;
            counts.why ??= errorMessage;
            found.set(check, counts);
        }
    }
    return found;
}

// args: of the suite's command line. Resolves with {code, seconds, checks}; checks: {'scenario:check': {passed, failed, why}}.
export async function conform(...args) {
    const folder = await mkdtemp(path.join(tmpdir(), 'cardea-conformance-'));
    try {
        const begun = performance.now();
        const { code, output } = await run([...args, '-o', folder]);
        const seconds = (performance.now() - begun) / 1000;
        const checks = await read(folder);
        if (checks.size === 0) {
            throw new Error(`the suite checked nothing:\n${output.slice(-2000)}`);
        }
        return { code, seconds, checks };
    } finally {
        await rm(folder, { recursive: true });
    }
}

export function sum(checks, member) {
    return [...checks.values()].reduce((all, counts) => all + counts[member], 0);
}

// The checks of which fewer passed, or more failed, than in `reference`.
export function worse(checks, reference) {
    const none = { passed: 0, failed: 0, why: 'it was not checked' };
    const names = new Set([...checks.keys(), ...reference.keys()]);
    return [...names]
        .map((check) => ({ check, found: checks.get(check) ?? none, direct: reference.get(check) ?? none }))
        .filter(({ found, direct }) => found.passed < direct.passed || found.failed > direct.failed)
        .map(({ check, found, direct }) => ({ check, passed: found.passed, wanted: direct.passed, why: found.why }));
}
