#!/usr/bin/env python3
"""An MCP client (2026-07-28) without a model: client.py HOST:PORT lists the tools of the gateway's bundle and calls some of them."""
import http.client
import json
import sys

version = "2026-07-28"


class McpServer:
    """One at an address over streamable HTTP. Each request stands alone: this revision has no sessions."""

    def __init__(self, address, path):
        self.address, self.path, self.number = address, path, 0

    def ask(self, method, params=None):
        """The result. An error of the server is a RuntimeError."""
        self.number += 1
        params = dict(params or {})
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "example", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        fields = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": version,
            "Mcp-Method": method,
        }
        if "name" in params:
            fields["Mcp-Name"] = params["name"]
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
            connection.request("POST", self.path, json.dumps(message), fields)
            return self.read(connection.getresponse())
        finally:
            connection.close()

    def read(self, response):
        """The answer is JSON, or the last of several events."""
        body = response.read().decode()
        if response.headers.get_content_type() == "text/event-stream":
            body = [line[5:] for line in body.splitlines() if line.startswith("data:")][-1]
        answer = json.loads(body)
        if "result" not in answer:
            raise RuntimeError(json.dumps(answer.get("error", answer)))
        return answer["result"]

    def call(self, tool, arguments):
        """The text of its result."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = " ".join(each["text"] for each in result["content"] if each["type"] == "text")
        if result.get("isError"):
            raise RuntimeError(text)
        return text


def main():
    bundle = McpServer(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:4000", "/mcp")
    print("tools:", ", ".join(each["name"] for each in bundle.ask("tools/list")["tools"]))
    print("notes__find:", bundle.call("notes__find", {"word": "sleep"}))
    # The agent speaks A2A, and asks the MCP server in its turn.
    print("reporter__send_message:", bundle.call("reporter__send_message", {"message": "sleep"}))


if __name__ == "__main__":
    main()
