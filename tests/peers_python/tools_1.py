"""Calls tools of MCP servers through the A2A SDK for Python of 1.0: tools_1.py EVERY ASKING FAST BINDING, where the first three are addresses of
agents. Prints what it has learned, one JSON line a step."""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from google.protobuf import json_format, struct_pb2


def say(step, value):
    print(json.dumps([step, value]), flush=True)


def request(content, task_id='', at_once=False):
    part = Part(text=content) if isinstance(content, str) else Part(data=json_format.ParseDict(content, struct_pb2.Value()))
    return SendMessageRequest(
        message=Message(role=Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=[part], task_id=task_id),
        configuration=SendMessageConfiguration(return_immediately=at_once),
    )


def call(skill, **arguments):
    return {'skill': skill, 'arguments': arguments}


def state_of(status):
    return TaskState.Name(status.state).removeprefix('TASK_STATE_').lower().replace('_', '-')


def seen(part):
    kind = part.WhichOneof('content')
    if kind == 'data':
        return 'data'
    return [part.media_type, len(part.raw) > 0] if kind == 'raw' else getattr(part, kind)


async def last(stream):
    event = None
    async for event in stream:
        pass
    return event.task if event.HasField('task') else event.message


def kind_of(event):
    kind = event.WhichOneof('payload')
    value = getattr(event, kind)
    return [kind.replace('_', '-'), state_of(value.status) if kind != 'artifact_update' else 'none']


async def converse(client, streams, asking):
    said = await last(client.send_message(request(call('echo', message='hi'))))
    say('send', [state_of(said.status), [seen(part) for part in said.artifacts[0].parts]])
    image = await last(client.send_message(request(call('get-tiny-image'))))
    say('image', seen(image.artifacts[0].parts[1]))
    failed = await last(client.send_message(request(call('get-sum', a='x'))))
    say('error', [state_of(failed.status), 'expected number' in failed.status.message.parts[0].text])
    skills = await last(client.send_message(request('hello')))
    say('skills', '- echo: ' in skills.parts[0].text)

    steps = request(call('trigger-long-running-operation', duration=1, steps=4))
    say('stream', [kind_of(event) async for event in streams.send_message(steps)])

    slow = request(call('trigger-long-running-operation', duration=30, steps=3), at_once=True)
    task = await last(client.send_message(slow))
    say('at once', state_of(task.status))
    following = streams.subscribe(SubscribeToTaskRequest(id=task.id))
    say('subscribe', kind_of(await anext(following)))
    say('get', state_of((await client.get_task(GetTaskRequest(id=task.id))).status))
    say('cancel', state_of((await client.cancel_task(CancelTaskRequest(id=task.id))).status))
    say('end', [kind_of(event) async for event in following][-1])

    asked = await last(asking.send_message(request(call('ask'))))
    say('question', [state_of(asked.status), asked.status.message.parts[0].text])
    done = await last(asking.send_message(request('Ada', asked.id)))
    say('answer', [state_of(done.status), done.artifacts[0].parts[0].text])


async def call_fastmcp(fast, streams):
    added = await last(fast.send_message(request(call('add', a=2, b=3))))
    say('fast: send', [seen(part) for part in added.artifacts[0].parts])
    failed = await last(fast.send_message(request(call('fail'))))
    say('fast: error', [state_of(failed.status), 'no way' in failed.status.message.parts[0].text])
    counted = [kind_of(event) async for event in streams.send_message(request(call('count')))]
    say('fast: stream', [counted[0], counted[-2:]])
    asked = await last(fast.send_message(request(call('greet'))))
    say('fast: question', [state_of(asked.status), asked.status.message.parts[0].text])
    done = await last(fast.send_message(request({'action': 'accept', 'content': {'name': 'Ada'}}, asked.id)))
    say('fast: answer', [state_of(done.status), seen(done.artifacts[0].parts[0])])


async def main():
    every, asking, fast, binding = sys.argv[1:5]
    async with httpx.AsyncClient(timeout=20) as http:

        async def client(base, streaming):
            card = await A2ACardResolver(http, base).get_agent_card()
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[binding],
                use_client_preference=True,
            )
            return ClientFactory(config).create(card)

        await converse(await client(every, False), await client(every, True), await client(asking, False))
        await call_fastmcp(await client(fast, False), await client(fast, True))


asyncio.run(main())
