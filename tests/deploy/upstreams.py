#!/usr/bin/python3
"""upstreams.py: what test_prometheus.sh has behind the gateway, on one port, which it prints: an A2A agent that fails (/failing) and a slow one (/slow), an
OAuth server (/token, /keys), a collector of traces (/v1/traces), and an MCP server that loses the sessions of callers (/mcp)."""

import http.server
import itertools
import json
import time
import uuid

CARD = {"name": "Failing", "description": "Fails", "version": "1.0", "protocolVersion": "0.3.0", "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []}
KEY = {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "1",
       "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}
EVENT = 'data: {"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[]}}\n\n'
INFO = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "forgetful", "version": "1.0"}, "capabilities": {"tools": {}}}
RESULTS = {"initialize": INFO, "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}, "ping": {},
           "tools/call": {"content": [{"type": "text", "text": "done"}]}}


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cards = itertools.count()
    calls = itertools.count()
    left = {}  # messages that a session still has

    def log_message(self, *_):
        pass

    def send(self, status, body=None, **fields):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **fields}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text)

    # The first card is good for a second; there is no second one.
    def do_GET(self):
        if self.path == "/keys":
            self.send(200, {"keys": [KEY]})
        elif not self.path.startswith("/failing"):
            self.send(405)
        elif next(self.cards) == 0:
            self.send(200, {**CARD, "url": f"http://127.0.0.1:{self.server.server_port}/failing"}, Cache_Control="max-age=1")
        else:
            self.send(500)

    def do_DELETE(self):
        self.send(200)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":
            self.send(200, {"access_token": uuid.uuid4().hex, "token_type": "Bearer", "expires_in": 300})
        elif self.path == "/v1/traces":
            self.send(200, {})
        elif self.path == "/mcp":
            self.serve_mcp(json.loads(text))
        elif self.path == "/slow":
            time.sleep(0.2)
            self.send(200, {"jsonrpc": "2.0", "id": json.loads(text)["id"], "result": {"kind": "message", "messageId": "m", "role": "agent", "parts": []}})
        elif b"message/stream" in text:
            self.break_stream()
        elif next(self.calls) % 2 == 0:
            self.send(500)
        else:
            self.send(200, {"jsonrpc": "2.0", "id": json.loads(text)["id"], "result": {"kind": "message", "messageId": "m", "role": "agent", "parts": []}})

    # One event, and then the connection ends without the last chunk.
    def break_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(f"{len(EVENT):x}\r\n{EVENT}\r\n".encode())
        self.close_connection = True

    def serve_mcp(self, message):
        method, session = message.get("method"), self.headers.get("Mcp-Session-Id")
        if method == "initialize":
            session = uuid.uuid4().hex
            # Sessions of the gateway's own, also those that it begins again, are kept.
            self.left[session] = 10**9 if message["params"]["clientInfo"]["name"] == "cardea" else 2
            self.send(200, {"jsonrpc": "2.0", "id": message["id"], "result": INFO}, Mcp_Session_Id=session)
            return
        self.left[session] = self.left.get(session, 0) - 1
        if self.left[session] < 0:
            self.send(404)
        elif "id" not in message:
            self.send(202)
        elif method in RESULTS:
            self.send(200, {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[method]})
        else:
            self.send(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
print(server.server_port, flush=True)
server.serve_forever()
