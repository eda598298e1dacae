"""An MCP server by FastMCP, over stdio: fastmcp_server.py"""

import base64

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from pydantic import BaseModel

server = FastMCP('fast', instructions='Add before you ask.')
PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='


class Answer(BaseModel):
    name: str


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


@server.tool
def dot() -> Image:
    """Draws a dot"""
    return Image(data=base64.b64decode(PNG), format='png')


@server.tool
def fail() -> str:
    """Fails always"""
    raise ValueError('no way')


@server.tool
async def count(context: Context) -> str:
    """Counts to three"""
    for each in range(1, 4):
        await context.report_progress(each, 3, f'step {each}')
    return 'counted'


@server.tool
async def greet(context: Context) -> str:
    """Asks who is there"""
    found = await context.elicit('Who is there?', Answer)
    return f'Hello, {found.data.name}' if found.action == 'accept' else found.action


@server.resource('data://motto')
def motto() -> str:
    """The motto"""
    return 'Fast'


@server.prompt
def ask(topic: str) -> str:
    """Asks about a topic"""
    return f'What is {topic}?'


server.run(show_banner=False)
