"""Calls tools of MCP servers through the A2A SDK for Python of 0.3: tools_03.py EVERY ASKING FAST BINDING, where the first three are addresses
of agents. Prints what it has learned, one JSON line a step."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    Message,
    MessageSendConfiguration,
    Part,
    Role,
    TaskIdParams,
    TaskQueryParams,
    TextPart,
    TransportProtocol,
)


def say(step, value):
    print(json.dumps([step, value]), flush=True)


def message(content, task_id=None):
    root = TextPart(text=content) if isinstance(content, str) else DataPart(data=content)
    return Message(role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=root)], task_id=task_id)


def call(skill, **arguments):
    return {'skill': skill, 'arguments': arguments}


def seen(part):
    root = part.root
    if root.kind == 'file':
        return [root.file.mime_type, len(root.file.bytes) > 0]
    return root.text if root.kind == 'text' else 'data'


async def last(stream):
    event = None
    async for event in stream:
        pass
    return event[0] if isinstance(event, tuple) else event


def kind_of(event):
    task, update = event
    if update is None:
        return ['task', task.status.state]
    return [update.kind, update.status.state if update.kind == 'status-update' else 'none']


async def converse(client, streams, asking, shows_bytes):
    said = await last(client.send_message(message(call('echo', message='hi'))))
    say('send', [said.status.state, [seen(part) for part in said.artifacts[0].parts]])
    if shows_bytes:
        image = await last(client.send_message(message(call('get-tiny-image'))))
        say('image', seen(image.artifacts[0].parts[1]))
    failed = await last(client.send_message(message(call('get-sum', a='x'))))
    say('error', [failed.status.state, 'expected number' in failed.status.message.parts[0].root.text])
    skills = await last(client.send_message(message('hello')))
    say('skills', '- echo: ' in skills.parts[0].root.text)

    steps = message(call('trigger-long-running-operation', duration=1, steps=4))
    say('stream', [kind_of(event) async for event in streams.send_message(steps)])

    slow = message(call('trigger-long-running-operation', duration=30, steps=3))
    task = await last(client.send_message(slow, configuration=MessageSendConfiguration(blocking=False)))
    say('at once', task.status.state)
    following = streams.resubscribe(TaskIdParams(id=task.id))
    say('subscribe', kind_of(await anext(following)))
    say('get', (await client.get_task(TaskQueryParams(id=task.id))).status.state)
    say('cancel', (await client.cancel_task(TaskIdParams(id=task.id))).status.state)
    say('end', [kind_of(event) async for event in following][-1])

    asked = await last(asking.send_message(message(call('ask'))))
    say('question', [asked.status.state, asked.status.message.parts[0].root.text])
    done = await last(asking.send_message(message('Ada', asked.id)))
    say('answer', [done.status.state, done.artifacts[0].parts[0].root.text])


async def call_fastmcp(fast, streams):
    added = await last(fast.send_message(message(call('add', a=2, b=3))))
    say('fast: send', [seen(part) for part in added.artifacts[0].parts])
    failed = await last(fast.send_message(message(call('fail'))))
    say('fast: error', [failed.status.state, 'no way' in failed.status.message.parts[0].root.text])
    counted = [kind_of(event) async for event in streams.send_message(message(call('count')))]
    say('fast: stream', [counted[0], counted[-2:]])
    asked = await last(fast.send_message(message(call('greet'))))
    say('fast: question', [asked.status.state, asked.status.message.parts[0].root.text])
    done = await last(fast.send_message(message({'action': 'accept', 'content': {'name': 'Ada'}}, asked.id)))
    say('fast: answer', [done.status.state, seen(done.artifacts[0].parts[0])])


async def main():
    every, asking, fast, binding = sys.argv[1:5]
    async with httpx.AsyncClient(timeout=20) as http:

        async def client(base, streaming):
            card = await A2ACardResolver(http, base).get_agent_card()
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                supported_transports=[TransportProtocol(binding)],
                use_client_preference=True,
            )
            return ClientFactory(config).create(card)

        # Over HTTP+JSON the SDK takes bytes for text in UTF-8.
        shows_bytes = binding == 'JSONRPC'
        await converse(await client(every, False), await client(every, True), await client(asking, False), shows_bytes)
        await call_fastmcp(await client(fast, False), await client(fast, True))


asyncio.run(main())
