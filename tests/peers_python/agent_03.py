"""An agent of the A2A SDK for Python of 0.3, with one binding: JSONRPC, HTTP+JSON or GRPC. Prints its address once it listens; with GRPC
also that of its card."""

import asyncio
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AFastAPIApplication, A2ARESTFastAPIApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
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


def make_handler():
    configs = InMemoryPushNotificationConfigStore()
    return DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )


async def serve_grpc(listening, url):
    server = grpc.aio.server(options=[('grpc.max_receive_message_length', -1)])
    address = f'127.0.0.1:{server.add_insecure_port("127.0.0.1:0")}'
    shown = card(address, 'GRPC')
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(shown, make_handler()), server)
    await server.start()
    print(f'grpc://{address} {url}.well-known/agent-card.json', flush=True)
    app = A2AFastAPIApplication(agent_card=shown, http_handler=make_handler()).build()
    await uvicorn.Server(uvicorn.Config(app, log_level='error')).serve(sockets=[listening])


def main():
    binding = sys.argv[1]
    listening = socket.create_server(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listening.getsockname()[1]}/'
    if binding == 'GRPC':
        asyncio.run(serve_grpc(listening, url))
        return
    handler = make_handler()
    made = A2AFastAPIApplication if binding == 'JSONRPC' else A2ARESTFastAPIApplication
    app = made(agent_card=card(url.rstrip('/'), binding), http_handler=handler).build()
    print(url, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='error')).run(sockets=[listening])


main()
