#!/usr/bin/env python3
"""Clients of the A2A SDK for Python of both generations and all bindings call tools of MCP servers: tools.py PYTHON_03 PYTHON_1 PYTHON_FASTMCP. The
servers are those of tests/peers, whose packages have to be installed, and one of FastMCP. Exit code 1 if a client learns anything else than the tools say."""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse

from matrix import BINDINGS, FOLDER, GATEWAY, PATIENCE, Programs, line_of

PEERS = FOLDER.parent / 'peers'
EVERYTHING = PEERS / 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'
EXPECTED = {
    'send': ['completed', ['Echo: hi']],
    'image': ['image/png', True],
    'error': ['failed', True],
    'skills': True,
    'stream': [['task', 'working']]
    + [['status-update', 'working']] * 4
    + [['artifact-update', 'none'], ['status-update', 'completed']],
    'at once': 'working',
    'subscribe': ['task', 'working'],
    'get': 'working',
    'cancel': 'canceled',
    'end': ['status-update', 'canceled'],
    'question': ['input-required', 'Who is there?'],
    'answer': ['completed', 'Hello, Ada'],
    'fast: send': ['5', 'data'],
    'fast: error': ['failed', True],
    'fast: stream': [['task', 'working'], [['artifact-update', 'none'], ['status-update', 'completed']]],
    'fast: question': ['input-required', 'Who is there?'],
    'fast: answer': ['completed', 'Hello, Ada'],
}


def start_gateway(programs, fastmcp):
    servers = {
        'every': {'command': 'node', 'args': [str(EVERYTHING), 'stdio']},
        'asking': {'command': 'node', 'args': [str(PEERS / 'support/mcp_asking_server.js')]},
        # In the modern era its `Context.elicit()` refuses to ask.
        'fast': {'command': fastmcp, 'args': [str(FOLDER / 'fastmcp_server.py')], 'era': 'legacy'},
    }
    file = pathlib.Path(os.environ.get('TMPDIR', '/tmp')) / f'cardea-tools-{os.getpid()}.json'
    file.write_text(json.dumps({'mcpServers': servers}))
    flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
    process = subprocess.Popen([GATEWAY, 'run', '-c', str(file), *flags], stderr=subprocess.PIPE, text=True)
    programs.started.append(process)

    def address(line):
        entry = json.loads(line) if line.startswith('{') else {}
        return entry.get('traffic') if entry.get('event') == 'listening' else None

    base = f'http://{line_of(process, address, process.stderr)}/'
    threading.Thread(target=process.stderr.read, daemon=True).start()
    file.unlink()
    for name in servers:
        wait_for_card(base, f'/agents/{name}/.well-known/agent-card.json')
    return base


def wait_for_card(base, path):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc)
        connection.request('GET', path)
        if connection.getresponse().status == 200:
            return
        time.sleep(0.05)
    raise RuntimeError(f'no card at {path}')


def differences(python, generation, base, binding):
    addresses = [f'{base}agents/{name}/' for name in ('every', 'asking', 'fast')]
    done = subprocess.run(
        [python, str(FOLDER / f'tools_{generation}.py'), *addresses, binding],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    learned = dict(json.loads(line) for line in done.stdout.splitlines())
    expected = dict(EXPECTED)
    if (generation, binding) == ('03', 'HTTP+JSON'):
        del expected['image']
    wrong = [f'{step}: {learned.get(step)} instead of {value}' for step, value in expected.items() if learned.get(step) != value]
    if done.returncode != 0:
        wrong.append([line for line in done.stderr.splitlines() if line.strip()][-1])
    return wrong


def run(pythons, fastmcp):
    if not EVERYTHING.exists():
        raise RuntimeError(f'{EVERYTHING} is missing; run tests/peers/run.sh first')
    failed = 0
    with Programs() as programs:
        base = start_gateway(programs, fastmcp)
        for generation, python in pythons.items():
            for binding in BINDINGS:
                if (generation, binding) == ('03', 'GRPC'):
                    continue  # without a name of its own an agent offers gRPC of 1.0 only
                wrong = differences(python, generation, base, binding)
                print(f'{"FAIL" if wrong else "ok  "} tools, client {generation} {binding}', flush=True)
                for each in wrong:
                    print(f'     {each}', flush=True)
                failed += bool(wrong)
    print(f'{failed} of 5 clients failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(run({'03': sys.argv[1], '1': sys.argv[2]}, sys.argv[3]))
