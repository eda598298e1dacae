#!/usr/bin/env python3
"""An A2A agent (1.0, JSON-RPC) that reports on a word. reporter.py GATEWAY [PORT]

It finds its material with the tools of an MCP server behind the gateway, as a client of `/agents/notes/mcp`. It prints its own address.
"""
import http.server
import json
import sys
import uuid

from client import McpServer


def card(url):
    skill = {"id": "report", "name": "Report", "description": "Says what the notes have about a word", "tags": ["notes"]}
    return {
        "name": "Reporter",
        "description": "Reports on a word from the notes",
        "version": "1.0.0",
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [skill],
    }


def report(notes, word):
    found = notes.call("find", {"word": word})
    if found == "nothing":
        return f"The notes have nothing about {word}."
    return " ".join(notes.call("read", {"name": each}) for each in found.split(", "))


def text_of(message):
    return " ".join(part["text"] for part in message.get("parts", []) if "text" in part).strip()


def send_message(notes, params):
    """The task, which has ended."""
    message = params.get("message", {})
    task = {"id": str(uuid.uuid4()), "contextId": message.get("contextId") or str(uuid.uuid4())}
    try:
        parts = [{"text": report(notes, text_of(message))}]
        task["status"] = {"state": "TASK_STATE_COMPLETED"}
        task["artifacts"] = [{"artifactId": "report", "name": "report", "parts": parts}]
    except (OSError, RuntimeError) as why:
        said = {"messageId": str(uuid.uuid4()), "role": "ROLE_AGENT", "parts": [{"text": f"No notes: {why}"}]}
        task["status"] = {"state": "TASK_STATE_FAILED", "message": said}
    return {"task": task}


class Agent(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    notes = None  # the MCP server

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path == "/.well-known/agent-card.json":
            self.answer(200, card(f"http://127.0.0.1:{self.server.server_port}/"))
        else:
            self.answer(404, {"error": "no such page"})

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"jsonrpc": "2.0", "id": call.get("id")}
        if call.get("method") == "SendMessage":
            answer["result"] = send_message(self.notes, call.get("params", {}))
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        self.answer(200, answer)

    def log_message(self, *_):
        pass


def main():
    Agent.notes = McpServer(sys.argv[1], "/agents/notes/mcp")
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Agent) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
