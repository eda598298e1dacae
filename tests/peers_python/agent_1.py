"""An agent of the A2A SDK for Python of 1.0, with one binding: JSONRPC, HTTP+JSON or GRPC. Prints its address once it listens; with GRPC
also that of its card."""

import asyncio
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    Task,
    TaskState,
    TaskStatus,
    a2a_pb2_grpc,
)
from starlette.applications import Starlette


class Executor(AgentExecutor):
    """A task whose text begins with `long` says twenty times a second that it is at work, until it is canceled; any other is
    answered."""

    async def execute(self, context, event_queue):
        if not context.current_task:
            await event_queue.enqueue_event(
                Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        text = context.get_user_input()
        await updater.update_status(
            TaskState.TASK_STATE_WORKING, updater.new_agent_message([Part(text='Processing')])
        )
        while text.startswith('long'):
            await asyncio.sleep(0.05)
            await updater.update_status(TaskState.TASK_STATE_WORKING)
        await updater.add_artifact([Part(text=f'You said: {text}')], name='Result', last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url, binding):
    return AgentCard(
        name='Python 1.0',
        description='A sample agent.',
        version='1.0.0',
        supported_interfaces=[AgentInterface(url=url, protocol_binding=binding, protocol_version='1.0')],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text'],
        default_output_modes=['text'],
        skills=[AgentSkill(id='say', name='Say', description='Says it again.', tags=['sample'])],
    )


def handler_of(shown):
    configs = InMemoryPushNotificationConfigStore()
    return DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=shown,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )


async def serve_grpc(listening, url):
    server = grpc.aio.server(options=[('grpc.max_receive_message_length', -1)])
    address = f'127.0.0.1:{server.add_insecure_port("127.0.0.1:0")}'
    shown = card(address, 'GRPC')
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler_of(shown)), server)
    await server.start()
    print(f'grpc://{address} {url}.well-known/agent-card.json', flush=True)
    app = Starlette(routes=create_agent_card_routes(shown))
    await uvicorn.Server(uvicorn.Config(app, log_level='error')).serve(sockets=[listening])


def main():
    binding = sys.argv[1]
    listening = socket.create_server(('127.0.0.1', 0))
    url = f'http://127.0.0.1:{listening.getsockname()[1]}/'
    if binding == 'GRPC':
        asyncio.run(serve_grpc(listening, url))
        return
    shown = card(url.rstrip('/'), binding)
    handler = handler_of(shown)
    calls = create_jsonrpc_routes(handler, '/') if binding == 'JSONRPC' else create_rest_routes(handler)
    app = Starlette(routes=[*create_agent_card_routes(shown), *calls])
    print(url, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level='error')).run(sockets=[listening])


main()
