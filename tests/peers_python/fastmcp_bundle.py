"""FastMCP's client and server with a bundle: fastmcp_bundle.py PYTHON_OF_A2A

A server by FastMCP, and an agent by the A2A SDK for Python, which PYTHON_OF_A2A has, are in one bundle. The client of FastMCP gets from the bundle
what it gets from the server without a gateway, but for prefixes; and it calls the agent.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

here = pathlib.Path(__file__).resolve().parent
cardea = os.environ.get('CARDEA_BIN', str(here.parent.parent / 'build/release/cardea'))
server = str(here / 'fastmcp_server.py')


async def name_of(message, response_type, params, context):
    return {'name': 'Ada'}


def plain(content):
    return [(each.type, getattr(each, 'text', None), getattr(each, 'data', None)) for each in content]


async def found(transport, prefix, mode):
    """What a client sees of the server, with names as the server has them."""
    steps = []

    async def heard(progress, total, message):
        steps.append((progress, total, message))

    async with Client(transport, mode=mode, elicitation_handler=name_of, progress_handler=heard, timeout=30) as client:
        tools = {each.name.removeprefix(prefix): each for each in await client.list_tools() if each.name.startswith(prefix)}
        seen = {'tools': {name: (each.description, json.dumps(each.inputSchema, sort_keys=True)) for name, each in tools.items()}}
        for name, given in {'add': {'a': 2, 'b': 3}, 'dot': {}, 'fail': {}, 'count': {}, 'greet': {}}.items():
            result = await client.call_tool(prefix + name, given, raise_on_error=False)
            seen[name] = (result.is_error, plain(result.content), result.structured_content)
        await asyncio.sleep(0.1)
        seen['steps'] = steps[:]
        before = f'{prefix[:-2]}+' if prefix else ''
        uris = [str(each.uri) for each in await client.list_resources()]
        assert f'{before}data://motto' in uris, uris
        seen['motto'] = [each.text for each in await client.read_resource(f'{before}data://motto')]
        prompt = await client.get_prompt(f'{prefix}ask', {'topic': 'tea'})
        seen['prompt'] = [each.content.text for each in prompt.messages]
        return seen


async def call_agent(base, mode):
    async with Client(f'{base}mcp', mode=mode, timeout=30) as client:
        result = await client.call_tool('agent__send_message', {'message': 'hello'}, raise_on_error=False)
        assert not result.is_error and result.content, result
        assert result.structured_content['state'].lower().endswith('completed'), result.structured_content


@contextlib.contextmanager
def running(command, stream, said):
    """The process, and what `said` returns for the first line that it accepts."""
    process = subprocess.Popen(command, **{stream: subprocess.PIPE}, text=True)
    try:
        for line in getattr(process, stream):
            value = said(line)
            if value:
                break
        yield value
    finally:
        process.terminate()
        process.wait(10)


def listening(line):
    entry = json.loads(line) if line.startswith('{') else {}
    return entry if entry.get('event') == 'listening' else None


async def main():
    direct = {mode: await found(StdioTransport(sys.executable, [server]), '', mode) for mode in ('legacy', 'auto')}
    with tempfile.TemporaryDirectory() as folder, running([sys.argv[1], str(here / 'agent_1.py'), 'JSONRPC'], 'stdout', str.strip) as agent:
        file = pathlib.Path(folder, 'cardea.json')
        program = {'command': sys.executable, 'args': [server], 'sessionless': 'fresh'}
        bundle = {'agents': ['fast', 'agent']}
        file.write_text(json.dumps({'mcp': {'bundles': {'default': bundle}}, 'agents': {'agent': {'url': agent}}, 'mcpServers': {'fast': program}}))
        command = [cardea, 'run', '-c', str(file), '--store', 'memory', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']
        with running(command, 'stderr', listening) as at:
            base = f"http://{at['traffic']}/"
            for mode, wanted in direct.items():
                got = await found(f'{base}mcp', 'fast__', mode)
                for what, value in wanted.items():
                    assert got[what] == value, f'{mode}: {what}: {got[what]} is not {value}'
                print(f'{mode}: {len(wanted)} of {len(wanted)} as directly')
                await call_agent(base, mode)
                print(f'{mode}: calls the agent')


asyncio.run(main())
