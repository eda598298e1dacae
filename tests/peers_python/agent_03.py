"""An agent of the A2A SDK for Python of 0.3, with one binding: JSONRPC or HTTP+JSON. Prints its address once it listens."""

import asyncio
import socket
import sys

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AFastAPIApplication, A2ARESTFastAPIApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_task


class Executor(AgentExecutor):
    """A task whose text begins with `long` says twenty times a second that it is at work, until it is canceled; any other is
    answered."""

    async def execute(self, context, event_queue):
        task = context.current_task
        if not task:
            task = new_task(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        text = context.get_user_input()
        await updater.update_status(
            TaskState.working, updater.new_agent_message([Part(root=TextPart(text='Processing'))])
        )
        while text.startswith('long'):
            await asyncio.sleep(0.05)
            await updater.update_status(TaskState.working)
        await updater.add_artifact([Part(root=TextPart(text=f'You said: {text}'))], name='Result', last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url, binding):
    skill = AgentSkill(id='say', name='Say', description='Says it again.', tags=['sample'])
    return AgentCard(
        name='Python 0.3',
        description='A sample agent.',
        url=url,
        version='1.0.0',
        protocol_version='0.3.0',
        preferred_transport=binding,
        additional_interfaces=[AgentInterface(url=url, transport=binding)],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text'],
        default_output_modes=['text'],
        skills=[skill],
    )


def main():
    binding = sys.argv[1]
    listening = socket.create_server(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listening.getsockname()[1]}/'
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    made = A2AFastAPIApplication if binding == 'JSONRPC' else A2ARESTFastAPIApplication
    app = made(agent_card=card(url.rstrip('/'), binding), http_handler=handler).build()
    print(url, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='error')).run(sockets=[listening])


main()
