#!/usr/bin/env python3
"""Clients of the A2A SDK for Python of both generations and bindings, in front of agents of both generations and bindings:
matrix.py PYTHON_03 PYTHON_1, the interpreters that have the SDKs. CARDEA_BIN names the gateway. Exit code 1 if a cell
differs from what the client learns from its own agent without a gateway."""

import http.server
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = pathlib.Path(__file__).resolve().parent
GATEWAY = os.environ.get('CARDEA_BIN', str(FOLDER.parent.parent / 'build/release/cardea'))
BINDINGS = ('JSONRPC', 'HTTP+JSON', 'GRPC')
PATIENCE = 60

# What a client says of a refusal, whatever the words of its SDK around it.
REFUSALS = {
    'get what is not': r'not found|-32001|404',
    'cancel what has ended': r'cannot be cancel|-32002|409|400',
    'more for what is not': r'not found|not exist|-32001|404',
    'push list': r'internal|unknown|500|not implemented',
    'push delete': r'done|not allowed|not found|405|not implemented',
    'list': r'unsupported|not supported|-32004|501|400',
}


def line_of(process, wanted, stream):
    """The first line for which `wanted` makes something, and what it makes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ready, _, _ = select.select([stream], [], [], 1)
        line = stream.readline() if ready else ''
        if ready and not line:
            raise RuntimeError(f'{process.args} ended with {process.wait()}')
        made = wanted(line.strip()) if line else None
        if made:
            return made
    raise RuntimeError(f'{process.args} is not ready')


class Programs:
    """What was started; all of it ends with the block."""

    def __init__(self):
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def agent(self, python, generation, binding):
        process = subprocess.Popen(
            [python, str(FOLDER / f'agent_{generation}.py'), binding],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.started.append(process)
        line = line_of(process, lambda line: line if line.startswith(('http', 'grpc')) else None, process.stdout)
        return dict(zip(('url', 'card_url'), line.split(), strict=False))

    def gateway(self, name, agent):
        """One whose default agent this is: callers of 0.3 by gRPC have no other way to name one."""
        with tempfile.NamedTemporaryFile('w', suffix='.json', delete=False) as file:
            json.dump({'grpc': {'default_agent': name}, 'agents': {name: agent}}, file)
        flags = ['--store', 'memory', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
        process = subprocess.Popen([GATEWAY, 'run', '-c', file.name, *flags], stderr=subprocess.PIPE, text=True)
        self.started.append(process)

        def address(line):
            entry = json.loads(line) if line.startswith('{') else {}
            return entry.get('traffic') if entry.get('event') == 'listening' else None

        base = f'http://{line_of(process, address, process.stderr)}/'
        threading.Thread(target=process.stderr.read, daemon=True).start()
        os.unlink(file.name)
        return base


def abilities_of(agent):
    """Whether it can list tasks, which 0.3 cannot, and list and delete push configurations, for which the SDK of 0.3 has no
    code over HTTP+JSON and gRPC."""
    lacks_push = agent in (('03', 'HTTP+JSON'), ('03', 'GRPC'))
    return ('yes' if agent[0] == '1' else 'no', 'no' if lacks_push else 'yes')


def converse(python, generation, base, binding, webhook, abilities):
    """What the client learns: a list of [step, value]."""
    done = subprocess.run(
        [python, str(FOLDER / f'client_{generation}.py'), base, binding, webhook, *abilities],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        problem = [line for line in done.stderr.splitlines() if line.strip()][-1]
        raise RuntimeError(f'after {[step for step, _ in steps]}: {problem}')
    return steps


def differences(steps, expected, agent):
    """How the steps of one conversation differ from those of another, a text for each. The SDK's agent of 0.3 ends a stream
    before the event of a cancellation."""
    found = []
    if [step for step, _ in steps] != [step for step, _ in expected]:
        found.append(f'steps {[step for step, _ in steps]}')
    known = dict(expected)
    for step, value in steps:
        if step in REFUSALS and isinstance(value, str):
            if not re.search(REFUSALS[step], value, re.IGNORECASE):
                found.append(f'{step}: {value}')
        elif step != 'card' and not (step == 'subscribe' and agent[0] == '03') and value != known.get(step):
            found.append(f'{step}: {value} instead of {known.get(step)}')
    return found


class Webhook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802 # its name in the library
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Nothing: the conversations are what is looked at."""


def run(pythons):
    failed = 0
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Webhook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    webhook = f'http://127.0.0.1:{server.server_port}/hook'
    with Programs() as programs:
        kinds = [(generation, binding) for generation in pythons for binding in BINDINGS]
        names = {kind: f'{kind[0]}-{kind[1].lower().replace("+", "-")}' for kind in kinds}
        agents = {names[kind]: programs.agent(pythons[kind[0]], *kind) for kind in kinds}
        gateways = {name: programs.gateway(name, agent) for name, agent in agents.items()}
        for client in kinds:
            python = pythons[client[0]]
            own = agents[names[client]]
            base = own.get('card_url', own['url']).removesuffix('.well-known/agent-card.json')
            expected = converse(python, client[0], base, client[1], webhook, ('yes', 'yes'))
            for agent in kinds:
                cell = f'client {names[client]}, agent {names[agent]}'
                base = f'{gateways[names[agent]]}agents/{names[agent]}/'
                try:
                    steps = converse(python, client[0], base, client[1], webhook, abilities_of(agent))
                    wrong = differences(steps, expected, agent)
                except (RuntimeError, subprocess.TimeoutExpired) as problem:
                    wrong = [str(problem)]
                print(f'{"FAIL" if wrong else "ok  "} {cell}', flush=True)
                for each in wrong:
                    print(f'     {each}', flush=True)
                failed += bool(wrong)
    print(f'{failed} of {len(kinds) ** 2} cells failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(run({'03': sys.argv[1], '1': sys.argv[2]}))
