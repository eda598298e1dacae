"""Carries a conversation on with an agent through the A2A SDK for Python of 1.0: client_1.py BASE BINDING WEBHOOK LISTS LISTS_PUSH,
where `yes` means that the agent can list tasks, and list and delete push configurations. Prints what it has learned, one JSON line a step."""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)

STATES = {
    TaskState.TASK_STATE_COMPLETED: 'completed',
    TaskState.TASK_STATE_CANCELED: 'canceled',
    TaskState.TASK_STATE_WORKING: 'working',
    TaskState.TASK_STATE_SUBMITTED: 'submitted',
}
KINDS = {'task': 'task', 'status_update': 'status-update', 'artifact_update': 'artifact-update', 'message': 'message'}


def say(step, value):
    print(json.dumps([step, value]), flush=True)


def request(text, task_id='', at_once=False):
    return SendMessageRequest(
        message=Message(
            role=Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=[Part(text=text)], task_id=task_id
        ),
        configuration=SendMessageConfiguration(return_immediately=at_once),
    )


def text_of(task):
    return ''.join(part.text for artifact in task.artifacts for part in artifact.parts)


async def refused(step, awaitable):
    try:
        await awaitable
    except Exception as failure:  # noqa: BLE001 # any failure is what is asked for, and its words are compared
        say(step, str(failure))
        return
    raise AssertionError(f'{step}: not refused')


async def last(stream):
    event = None
    async for event in stream:
        pass
    return event.task


async def collect(stream):
    return [KINDS[event.WhichOneof('payload')] async for event in stream]


async def converse(client, streams, webhook, lists, lists_push):
    done = await last(client.send_message(request('hello')))
    say('send', [STATES[done.status.state], text_of(done), len(done.history)])
    got = await client.get_task(GetTaskRequest(id=done.id))
    say('get', [got.id == done.id, STATES[got.status.state]])

    say('stream', await collect(streams.send_message(request('how are you'))))

    if lists:
        listed = await client.list_tasks(ListTasksRequest(page_size=50))
        say('list', any(task.id == done.id for task in listed.tasks))
    else:
        await refused('list', client.list_tasks(ListTasksRequest(page_size=50)))

    started = await last(client.send_message(request('long task', at_once=True)))
    hook = TaskPushNotificationConfig(task_id=started.id, id='hook', url=webhook, token='secret')
    made = await client.create_task_push_notification_config(hook)
    say('push set', made.url == webhook)
    known = await client.get_task_push_notification_config(
        GetTaskPushNotificationConfigRequest(task_id=started.id, id='hook')
    )
    say('push get', known.token)
    listing = client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=started.id))
    if lists_push:
        say('push list', [each.id for each in (await listing).configs])
    else:
        await refused('push list', listing)
    deleting = client.delete_task_push_notification_config(
        DeleteTaskPushNotificationConfigRequest(task_id=started.id, id='hook')
    )
    if lists_push:
        await deleting
        say('push delete', 'done')
    else:
        await refused('push delete', deleting)
    following = streams.subscribe(SubscribeToTaskRequest(id=started.id))
    say('first of the subscription', KINDS[(await anext(following)).WhichOneof('payload')])
    await anext(following)
    canceled = await client.cancel_task(CancelTaskRequest(id=started.id))
    say('cancel', STATES[canceled.status.state])
    say('subscribe', (await asyncio.wait_for(collect(following), 10))[-1:])

    nobody = str(uuid.uuid4())
    await refused('get what is not', client.get_task(GetTaskRequest(id=nobody)))
    await refused('cancel what has ended', client.cancel_task(CancelTaskRequest(id=done.id)))
    await refused('more for what is not', last(client.send_message(request('more', nobody))))


async def main():
    base, binding, webhook, lists, lists_push = sys.argv[1:6]
    async with httpx.AsyncClient(timeout=20) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        say('card', card.name)

        def client(streaming):
            return ClientFactory(
                ClientConfig(
                    streaming=streaming,
                    httpx_client=http,
                    grpc_channel_factory=grpc.aio.insecure_channel,
                    supported_protocol_bindings=[binding],
                    use_client_preference=True,
                )
            ).create(card)

        await converse(client(False), client(True), webhook, lists == 'yes', lists_push == 'yes')


asyncio.run(main())
