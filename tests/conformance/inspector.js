// What the Inspector's command line finds at an MCP server.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const program = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));
const asked = [
    ['--method', 'tools/list'],
    ['--method', 'tools/call', '--tool-name', 'test_multiple_content_types'],
    ['--method', 'resources/read', '--uri', 'test://static-text'],
    ['--method', 'prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=a', 'arg2=ü'],
];

// Without what the modern era adds, and what the suite has changed.
const steady = (text) =>
    JSON.parse(text.replaceAll(/Version \d+/g, 'Version'), (key, value) =>
        ['_meta', 'resultType', 'ttlMs', 'cacheScope', 'execution'].includes(key) ? undefined : value);

// era: `legacy`, `modern` or `auto`. Resolves with the answers.
export async function inspect(url, era) {
    const answers = [];
    for (const what of asked) {
        const args = [program, '--cli', url, '--transport', 'http', '--protocol-era', era, '--format', 'json', ...what];
        const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 }).catch((error) => {
            throw new Error(`${what.join(' ')} at ${url}: ${error.message}\n${error.stdout}`);
        });
        answers.push(steady(stdout));
    }
    return answers;
}
