"""Carries a conversation on with an agent through the A2A SDK for Python of 0.3: client_03.py BASE BINDING WEBHOOK. Prints
what it has learned, one JSON line a step."""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    GetTaskPushNotificationConfigParams,
    Message,
    MessageSendConfiguration,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
    TransportProtocol,
)


def say(step, value):
    print(json.dumps([step, value]), flush=True)


def message(text, task_id=None):
    return Message(
        role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=TextPart(text=text))], task_id=task_id
    )


def text_of(task):
    return ''.join(part.root.text for artifact in task.artifacts or [] for part in artifact.parts)


def kind_of(event):
    task, update = event
    return 'task' if update is None else update.kind


async def refused(step, awaitable):
    try:
        await awaitable
    except Exception as failure:  # noqa: BLE001 # any failure is what is asked for, and its words are compared
        say(step, str(failure))
        return
    raise AssertionError(f'{step}: not refused')


async def first_of(stream):
    return await anext(stream)


async def converse(factory, card, streams, webhook):
    client = factory(False).create(card)
    done = None
    async for event in client.send_message(message('hello')):
        done = event[0]
    say('send', [done.status.state, text_of(done), len(done.history or [])])
    got = await client.get_task(TaskQueryParams(id=done.id))
    say('get', [got.id == done.id, got.status.state])

    kinds = [kind_of(event) async for event in streams.send_message(message('how are you'))]
    say('stream', kinds)

    started = None
    at_once = MessageSendConfiguration(blocking=False)
    async for event in client.send_message(message('long task'), configuration=at_once):
        started = event[0]
    config = PushNotificationConfig(id='hook', url=webhook, token='secret')
    made = await client.set_task_callback(
        TaskPushNotificationConfig(task_id=started.id, push_notification_config=config)
    )
    say('push set', made.push_notification_config.url == webhook)
    known = await client.get_task_callback(
        GetTaskPushNotificationConfigParams(id=started.id, push_notification_config_id='hook')
    )
    say('push get', known.push_notification_config.token)
    following = streams.resubscribe(TaskIdParams(id=started.id))
    async for event in following:
        if event[1] is not None:
            break
    canceled = await client.cancel_task(TaskIdParams(id=started.id))
    say('cancel', canceled.status.state)
    await asyncio.wait_for(collect(following), 10)
    say('resubscribe', 'ended')

    nobody = str(uuid.uuid4())
    await refused('get what is not', client.get_task(TaskQueryParams(id=nobody)))
    await refused('cancel what has ended', client.cancel_task(TaskIdParams(id=done.id)))
    await refused('more for what is not', first_of(client.send_message(message('more', nobody))))


async def collect(stream):
    return [kind_of(event) async for event in stream]


async def main():
    base, binding, webhook = sys.argv[1:4]
    async with httpx.AsyncClient(timeout=20) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        say('card', card.name)

        def factory(streaming):
            return ClientFactory(
                ClientConfig(
                    streaming=streaming,
                    httpx_client=http,
                    grpc_channel_factory=grpc.aio.insecure_channel,
                    supported_transports=[TransportProtocol(binding)],
                    use_client_preference=True,
                )
            )

        await converse(factory, card, factory(True).create(card), webhook)


asyncio.run(main())
