#!/usr/bin/env python3
"""A small MCP server (2025-11-25) on stdin and stdout: three notes, and tools to find and to read them."""
import json
import sys

notes = {
    "cats": "Cats sleep 13 hours a day.",
    "dogs": "Dogs sleep 11 hours a day.",
    "giraffes": "Giraffes sleep 2 hours a day.",
}


def text_tool(name, description, argument, meaning):
    schema = {"type": "object", "properties": {argument: {"type": "string", "description": meaning}}, "required": [argument]}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": {"readOnlyHint": True}}


tools = [
    text_tool("find", "Finds notes by a word in them", "word", "a word"),
    text_tool("read", "Reads a note", "name", "the name of the note"),
]


def call(name, arguments):
    if name == "find":
        found = [each for each, text in notes.items() if arguments.get("word", "").lower() in text.lower()]
        return {"content": [{"type": "text", "text": ", ".join(found) or "nothing"}]}
    note = notes.get(arguments.get("name")) if name == "read" else None
    if note is None:
        return {"content": [{"type": "text", "text": "There is no such note"}], "isError": True}
    return {"content": [{"type": "text", "text": note}]}


def answer(method, params):
    """The result; nothing: there is no such method."""
    if method == "initialize":
        about = {"name": "notes", "title": "Notes", "version": "1.0.0"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return call(params.get("name"), params.get("arguments", {}))
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue  # a notification
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    reply |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
    print(json.dumps(reply), flush=True)
