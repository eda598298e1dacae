#!/usr/bin/python3
"""mcp_program.py [SECONDS]: an MCP server over stdin and stdout for test_prometheus.sh. It lists three tools, of which `ask` pings
the client, says with each call that its tools have changed, and before each list what is no message. It ends after so many seconds."""

import json
import os
import sys
import threading

TOOLS = [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in ("echo", "ask", "secret")]
INFO = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "program", "version": "1.0"},
        "capabilities": {"tools": {"listChanged": True}}}
RESULTS = {"initialize": INFO, "tools/list": {"tools": TOOLS}, "ping": {},
           "tools/call": {"content": [{"type": "text", "text": "done"}]}}


def say(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)


def answer(message):
    method = message.get("method")
    if "id" not in message or method is None:
        return
    if method == "tools/call":
        say(method="notifications/tools/list_changed")
        if message["params"]["name"] == "ask":
            say(id="question", method="ping")
    if method == "tools/list":
        print("this is no message", flush=True)
    if method in RESULTS:
        say(id=message["id"], result=RESULTS[method])
    else:
        say(id=message["id"], error={"code": -32601, "message": "no such method"})


if len(sys.argv) > 1:
    threading.Timer(float(sys.argv[1]), os._exit, [3]).start()
for line in sys.stdin:
    answer(json.loads(line))
os._exit(0)
