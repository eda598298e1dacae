#!/usr/bin/python3
"""traffic.py ADDRESS CERTIFICATE KEY ADMIN: calls of every kind to the gateway of test_prometheus.sh, until it is ended: A2A calls and
streams, cards, MCP in both eras, denied and limited calls, wrong credentials, and reloads. Prints each kind of answer once."""

import base64
import http.client
import json
import ssl
import sys
import threading
import time

ADDRESS, CERTIFICATE, KEY, ADMIN = sys.argv[1:]
MESSAGE = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "to be"}]}
MODERN = "2026-07-28"
seen = set()


def request(method, path, body=None, **fields):
    """The status, the fields and the body of an answer; None if there was none."""
    where = http.client.HTTPSConnection(ADDRESS, timeout=10, context=ssl.create_default_context(cafile=CERTIFICATE))
    headers = {"X-API-Key": KEY, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers.update({name.replace("_", "-"): value for name, value in fields.items()})
    headers = {name: value for name, value in headers.items() if value}
    try:
        where.request(method, path, None if body is None else json.dumps({"jsonrpc": "2.0", **body}), headers)
        answer = where.getresponse()
        status, got, text = answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as failure:
        status, got, text = type(failure).__name__, {}, b""
    finally:
        where.close()
    kind = (method, path, (body or {}).get("method"), status)
    if kind not in seen:
        seen.add(kind)
        print(*kind, text[:120] if status != 200 else "", flush=True)
    return status, got, text


def token():
    """Of the issuer, and signed by somebody else."""
    parts = {"alg": "ES256", "kid": "1"}, {"iss": "https://issuer.example.com", "aud": "cardea", "sub": "a", "exp": int(time.time()) + 60}
    signature = b"0" * 64
    texts = [*(json.dumps(part).encode() for part in parts), signature]
    return ".".join(base64.urlsafe_b64encode(text).decode().rstrip("=") for text in texts)


def call(agent, method="message/send", **fields):
    return request("POST", f"/agents/{agent}", {"id": 1, "method": method, "params": {"message": MESSAGE}}, **fields)


def card(agent):
    request("GET", f"/agents/{agent}/.well-known/agent-card.json")


def legacy_session(agent, tool, ends=True):
    path = f"/agents/{agent}/mcp"
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "traffic", "version": "1"}}
    _, fields, _ = request("POST", path, {"id": 1, "method": "initialize", "params": hello})
    session = {"Mcp_Session_Id": fields.get("Mcp-Session-Id", "none"), "MCP_Protocol_Version": "2025-06-18"}
    request("POST", path, {"method": "notifications/initialized"}, **session)
    for number in (2, 3):
        request("POST", path, {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": {}}}, **session)
    if ends:
        request("DELETE", path, **session)


def modern_call(agent):
    meta = {"io.modelcontextprotocol/" + name: value for name, value in {
        "protocolVersion": MODERN, "clientInfo": {"name": "traffic", "version": "1"}, "clientCapabilities": {}}.items()}
    request("POST", f"/agents/{agent}/mcp",
            {"id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}, "_meta": meta}},
            MCP_Protocol_Version=MODERN, Mcp_Method="tools/call", Mcp_Name="echo")


def reload():
    where = http.client.HTTPConnection(ADMIN, timeout=10)
    try:
        where.request("POST", "/reload")
        where.getresponse().read()
    except (OSError, http.client.HTTPException):
        pass  # the test kills the gateway
    finally:
        where.close()


def calls_at_once(agent):
    threads = [threading.Thread(target=call, args=(agent,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def round_of_traffic():
    calls_at_once("slow")  # it takes one, and one waits
    for agent in ("words", "paid", "failing", "gone"):
        call(agent)
        card(agent)
        call(agent, "message/stream")
    legacy_session("program", "ask")
    legacy_session("forgetful", "echo")
    modern_call("program")
    for agent in ("program", "forgetful", "flapping", "broken"):
        card(agent)
    call("closed")                                  # denied
    call("words", X_API_Key="not-a-key-of-anyone")  # refused
    call("words", X_API_Key="", Authorization="Bearer " + token())
    for _ in range(60):                             # over the limit of an agent
        call("closed-to-many")


legacy_session("program", "echo", ends=False)
while True:
    round_of_traffic()
    reload()
    time.sleep(0.5)
