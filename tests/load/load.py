"""What soak.py and isolation.py share: a gateway's own process, agents in this one, and callers, on one event loop."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

BINARY = os.environ.get("CARDEA_BIN", "build/release/cardea")
CALL = b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}'
STREAM = b'{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}'


def say(*what):
    print(*what, flush=True)


class Gateway:
    """The process, its log in a file, and what operators ask it. `text` is the configuration without listeners."""

    def __init__(self, text):
        self.folder = tempfile.TemporaryDirectory(prefix="cardea-load-")
        self.file = os.path.join(self.folder.name, "c.yml")
        self.log = os.path.join(self.folder.name, "log")
        self.configure(text)
        environment = {**os.environ, "XDG_STATE_HOME": self.folder.name}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [BINARY, "run", "-c", self.file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", "memory"],
                stdin=subprocess.DEVNULL, stderr=log, env=environment)
        found = None
        until = time.monotonic() + 30
        while found is None and time.monotonic() < until and self.process.poll() is None:
            found = re.search(r'"traffic":"127.0.0.1:(\d+)","admin":"127.0.0.1:(\d+)"', self.lines())
            time.sleep(0.02)
        if found is None:
            raise RuntimeError("the gateway does not listen: " + self.lines())
        self.port, self.admin = int(found[1]), int(found[2])

    def configure(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("reload: {watch: false}\n" + text)

    def lines(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def metrics(self):
        """{series: value}"""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=30) as page:
            rows = (line.rsplit(" ", 1) for line in page.read().decode().splitlines() if not line.startswith("#"))
            return {name: float(value) for name, value in rows}

    def memory(self):
        """KiB that it has and shares with nobody."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as children:
            return [int(each) for each in children.read().split()]

    def end(self):
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(90)
        finally:
            self.process.kill()
            self.folder.cleanup()


def request(target, body=None, fields=""):
    """`fields`: whole lines of the head."""
    head = f"{'GET' if body is None else 'POST'} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{fields}"
    if body is None:
        return head.encode() + b"\r\n"
    return head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Caller:
    """A connection to the gateway, opened when it is needed. Each of them calls one thing at a time."""

    def __init__(self, port, address="127.0.0.1"):
        self.port, self.address, self.reader, self.writer = port, address, None, None

    async def ask(self, what, timeout=60):
        """(status, code): 200 and none, or the status and the code of a refusal, or ("cut", none)."""
        try:
            async with asyncio.timeout(timeout):
                if self.writer is None:
                    self.reader, self.writer = await asyncio.open_connection(
                        "127.0.0.1", self.port, local_addr=(self.address, 0))
                self.writer.write(what)
                head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
                status = int(head.split(" ", 2)[1])
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                if fields.get("transfer-encoding") == "chunked":
                    await self.reader.readuntil(b"0\r\n\r\n")
                else:
                    await self.reader.readexactly(int(fields.get("content-length", "0")))
                if fields.get("connection") == "close":
                    self.close()
                return status, fields.get("cardea-error")
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return "cut", None
        except TimeoutError:
            self.close()
            return "late", None

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


class Agent:
    """Answers calls after `delay` seconds, streams with `events` events a tenth of a second apart, and nothing while it is silent."""

    def __init__(self, delay=0.0, events=20):
        self.delay, self.events, self.silent, self.calls = delay, events, False, 0
        self.port = None

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]

    def url(self):
        return f"http://127.0.0.1:{self.port}/rpc"

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = re.search(r"content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                self.calls += 1
                if self.silent:
                    await reader.read()
                    return
                if b"message/stream" in body:
                    await self.stream(writer)
                    continue
                await asyncio.sleep(self.delay)
                answer = b'{"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}'
                if not body:  # its card
                    answer = json.dumps({"name": "Load", "description": "d", "url": "http://x/", "version": "1",
                                         "capabilities": {"streaming": True}, "defaultInputModes": ["text/plain"],
                                         "defaultOutputModes": ["text/plain"], "skills": []}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def stream(self, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        event = b'data: {"jsonrpc":"2.0","id":1,"result":{"kind":"message"}}\n\n'
        for _ in range(self.events):
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.write(b"0\r\n\r\n")


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))] if values else 0.0


class Verdict:
    """Collects what does not hold; `finish` ends the program."""

    def __init__(self):
        self.wrong = 0

    def check(self, holds, what):
        self.wrong += 0 if holds else 1
        say("holds:" if holds else "DOES NOT HOLD:", what)

    def finish(self):
        sys.exit(1 if self.wrong else 0)
