// The JSON Schema of the configuration, judged by Ajv: it is a schema of draft 2020-12, takes every example of ours, and
// refuses keys that nobody knows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import Ajv2020 from 'ajv/dist/2020.js';
import YAML from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const binary = process.env.CARDEA_BIN ?? `${root}build/release/cardea`;
const schema = JSON.parse(execFileSync(binary, ['config', 'schema'], { encoding: 'utf8' }));
const validate = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true }).compile(schema);

function assertValid(name, text) {
    assert.ok(validate(YAML.parse(text)), `${name}: ${JSON.stringify(validate.errors)}`);
}

test('it is a schema of draft 2020-12', () => {
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
    assert.ok(new Ajv2020().validateSchema(schema));
});

test('the example configurations are valid', () => {
    const folder = `${root}tests/data/config/`;
    const files = readdirSync(folder).filter((name) => name.endsWith('.yml'));
    assert.ok(files.includes('full.yml'));
    for (const file of files) {
        assertValid(file, readFileSync(folder + file, 'utf8'));
    }
});

test('the configuration files of MCP clients that the gateway takes are valid', () => {
    const folder = `${root}tests/data/config/clients/`;
    const refused = ['codex.toml', 'goose.yaml', 'zed.json'];
    const files = readdirSync(folder).filter((name) => !refused.includes(name));
    assert.ok(files.length >= 11);
    for (const file of files) {
        assertValid(file, readFileSync(folder + file, 'utf8').replace(/^ *\/\/.*$/gm, ''));
    }
    for (const file of ['goose.yaml', 'zed.json']) {
        assert.equal(validate(YAML.parse(readFileSync(folder + file, 'utf8'))), false, file);
    }
});

test('the examples that can be run are valid, for the gateway too', () => {
    const folder = `${root}examples/`;
    const files = readdirSync(folder).filter((name) => name.endsWith('.yml'));
    assert.ok(files.includes('mcp.yml'));
    for (const file of files) {
        assertValid(file, readFileSync(folder + file, 'utf8'));
        execFileSync(binary, ['validate', '-c', folder + file]);
    }
});

test('every configuration in README.md and docs is valid', () => {
    const pages = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)];
    let found = 0;
    for (const page of pages.filter((name) => name.endsWith('.md'))) {
        for (const [, text] of readFileSync(root + page, 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)) {
            assertValid(page, text);
            found += 1;
        }
    }
    assert.ok(found >= 3);
});

test('a key that nobody knows is refused, wherever it stands', () => {
    const full = YAML.parse(readFileSync(`${root}tests/data/config/full.yml`, 'utf8'));
    const maps = [
        [],
        ...Object.keys(schema.properties)
            .filter((key) => schema.properties[key].properties !== undefined)
            .map((key) => [key]),
        ['tls', 0],
        ['admin_tls'],
        ['agents', 'inline'],
        ['agents', 'weather.v1_A-b', 'tls'],
    ];
    assert.ok(maps.length >= 9);
    for (const path of maps) {
        const changed = structuredClone(full);
        const at = path.reduce((value, key) => value[key], changed);
        at.no_such_key = 1;
        assert.equal(validate(changed), false, path.join('.'));
    }
});
