#!/usr/bin/env python3
"""What bundles and bridges cost, each figure beside its bar (bench/README.md says how to read them).

    bench/bridge_bars.py [--rounds N] [--seconds S] [--only NAME...]

NAME: calls, lists, search, bridges, memory, neighbours. The gateway runs on the first core that we may use; servers and callers on the second. Exit code
1 if a bar is missed.
"""
import argparse
import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import sys
import threading
import time

import mcp_bars
from mcp_bars import Processes, by, cpu_of_calls, die, measure, memory, message, report, wait_for, wait_for_card

version = "2026-07-28"
meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
question = json.loads((mcp_bars.root / "bench/tool.json").read_text())["params"]["arguments"]
v1 = "A2A-Version: 1.0"


def modern_fields(method, name=None):
    """The header lines of a request without a session."""
    lines = [f"MCP-Protocol-Version: {version}", f"Mcp-Method: {method}"]
    return "\n".join(lines + ([f"Mcp-Name: {name}"] if name else []))


def modern(method, params):
    return message(1, method, {**params, "_meta": meta})


def tool_call(name, arguments, era):
    params = {"name": name, "arguments": arguments}
    return modern("tools/call", params) if era == "modern" else message(1, "tools/call", params)


def a2a_call(parts, **configuration):
    said = {"messageId": "m1", "role": "ROLE_USER", "parts": parts}
    return message(1, "SendMessage", {"message": said, "configuration": configuration})


def bundle(members, more=""):
    return f"mcp: {{bundles: {{default: {{agents: [{', '.join(members)}]{more}}}}}}}\n"


class Line:
    """A connection that is kept."""

    def __init__(self, gateway):
        self.http = http.client.HTTPConnection(gateway.address, timeout=60)

    def ask(self, target, body, fields=""):
        """The answer as JSON, of events the last; its head; and the seconds until it was there."""
        header = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        header |= dict(line.split(": ", 1) for line in fields.splitlines())
        text = json.dumps(body, separators=(",", ":"))
        begun = time.perf_counter()
        self.http.request("POST", target, text, header)
        answer = self.http.getresponse()
        got = answer.read()
        took = time.perf_counter() - begun
        if answer.headers.get_content_type() == "text/event-stream":
            got = [line[5:] for line in got.splitlines() if line.startswith(b"data:")][-1]
        if not got and answer.status == 202:
            return {}, answer, took
        parsed = json.loads(got)
        if answer.status != 200 or "result" not in parsed:
            die(f"{target}: {answer.status} {got[:300]}")
        return parsed["result"], answer, took

    def begin(self, target="/mcp"):
        """The header line of a session."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        _, answer, took = self.ask(target, message(0, "initialize", params))
        session = f"Mcp-Session-Id: {answer.getheader('Mcp-Session-Id')}\nMCP-Protocol-Version: 2025-11-25"
        self.ask(target, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
        return session, took


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def ready(gateway, count):
    """Waits for the tools of so many members."""
    line = Line(gateway)

    def reached():
        listed = line.ask("/mcp", modern("tools/list", {}), modern_fields("tools/list"))[0]["tools"]
        return len({each["name"].split("__")[0] for each in listed}) == count

    wait_for(reached, f"{count} members")


def compared(started, gateway, calls, given):
    """CPU of each of the calls in milliseconds for 1,000, by round; calls: {name: (target, body, header lines)}."""
    files = {}
    line = Line(gateway)
    for number, (name, (target, body, fields)) in enumerate(calls.items()):
        answer, *_ = line.ask(target, body, fields)
        if answer.get("isError"):
            die(f"{name}: {json.dumps(answer)[:300]}")
        files[name] = started.folder / f"{number}.json"
        files[name].write_text(json.dumps(body, separators=(",", ":")))
    rounds = []
    for number in range(given.rounds + 1):
        spent = {}
        for name, (target, _, fields) in calls.items():
            gateway.session = fields
            spent[name] = cpu_of_calls(gateway, target, files[name], given.seconds if number else 1)
        if number:  # the first one warms up
            rounds.append(spent)
    return rounds


def measure_calls(given):
    with Processes() as started:
        server = {"legacy": started.server("--mcp", "1"), "modern": started.server("--mcp", "2")}
        for era, address in server.items():
            members = ["bench", *(f"other{each}" for each in range(19))]
            agents = {id: f'{{url: "http://{address}/mcp", protocol: mcp, era: {era}}}' for id in members}
            gateway = started.gateway(agents, bundle(members))
            ready(gateway, 20)
            if era == "legacy":
                line = Line(gateway)
                fields = {at: line.begin(at)[0] for at in ("/mcp", "/agents/bench/mcp")}
            else:
                fields = {"/mcp": modern_fields("tools/call", "bench__echo"), "/agents/bench/mcp": modern_fields("tools/call", "echo")}
            calls = {
                "bundle": ("/mcp", tool_call("bench__echo", question, era), fields["/mcp"]),
                "agent": ("/agents/bench/mcp", tool_call("echo", question, era), fields["/agents/bench/mcp"]),
            }
            rounds = compared(started, gateway, calls, given)
            by(rounds, "bundle", "agent", f"a call through a bundle of 20, {era}, by the agent's", 1.3 if era == "modern" else 1.5)


def measure_lists(_):
    with Processes() as started:
        address = started.server("--mcp", "1")
        agents = {f"m{each}": f'{{url: "http://{address}/mcp", protocol: mcp, era: legacy}}' for each in range(30)}
        dead = {f"dead{each}": f'{{url: "http://127.0.0.1:{mcp_bars.free_port()}/mcp", protocol: mcp, era: legacy}}' for each in range(2)}
        gateway = started.gateway(agents | dead, bundle([*agents, *dead]))
        ready(gateway, 30)
        line = Line(gateway)
        times = [line.begin()[1] for _ in range(300)]
        report("initialize with 32 members, two dead, p50", percentile(times, 0.5), "ms", 2, f"p99 {percentile(times, 0.99):.2f}")
    with Processes() as started:
        address = started.server("--mcp", "1", "--tools", "100")
        agents = {f"m{each}": f'{{url: "http://{address}/mcp", protocol: mcp, era: legacy}}' for each in range(20)}
        gateway = started.gateway(agents, bundle(agents))
        ready(gateway, 20)
        line = Line(gateway)
        for era in ("modern", "legacy"):
            session = line.begin()[0] if era == "legacy" else modern_fields("tools/list")
            body = message(1, "tools/list", {}) if era == "legacy" else modern("tools/list", {})
            times = []
            for _ in range(200):
                result, _, took = line.ask("/mcp", body, session)
                if len(result["tools"]) != 2000:
                    die(f"{len(result['tools'])} tools of 2,000")
                times.append(took)
            report(f"tools/list of 2,000 tools, {era}, p50", percentile(times, 0.5), "ms", 10, f"p99 {percentile(times, 0.99):.2f}")


def measure_search(_):
    with Processes() as started:
        address = started.server("--mcp", "1", "--tools", "100")
        agents = {f"m{each}": f'{{url: "http://{address}/mcp", protocol: mcp, era: legacy}}' for each in range(20)}
        gateway = started.gateway(agents, bundle(agents, ", tools: {search: true, always: [\"*__echo\"]}"))
        ready(gateway, 23)  # with the three of the search
        line = Line(gateway)
        times = []
        for number in range(2000):
            body = tool_call("find_tools", {"query": f"what does tool{number % 100} of m{number % 20} do"}, "modern")
            result, _, took = line.ask("/mcp", body, modern_fields("tools/call", "find_tools"))
            if not result["structuredContent"]["tools"]:
                die("find_tools finds nothing")
            times.append(took)
        report("find_tools over 2,000 tools, p99", percentile(times[100:], 0.99), "ms", 5, f"p50 {percentile(times[100:], 0.5):.2f}")


def measure_bridges(given):
    with Processes() as started:
        for era, kind in (("legacy", "1"), ("modern", "2")):
            gateway = started.gateway({"bench": f'{{url: "http://{started.server("--mcp", kind)}/mcp", protocol: mcp, era: {era}}}'})
            line = Line(gateway)
            wait_for_card(gateway)
            calls = {
                "a2a": ("/agents/bench", a2a_call([{"data": {"skill": "echo", "arguments": question}}]), v1),
                "mcp": ("/agents/bench/mcp", tool_call("echo", question, "modern"), modern_fields("tools/call", "echo")),
            }
            by(compared(started, gateway, calls, given), "a2a", "mcp", f"an A2A call of a tool, {era} server, by the same tools/call", 2.5)
        gateway = started.gateway({"bench": f'{{url: "http://{started.server()}/a2a"}}'})
        wait_for_card(gateway)
        text = " ".join(question.values())
        calls = {
            "mcp": ("/agents/bench/mcp", tool_call("send_message", {"message": text}, "modern"), modern_fields("tools/call", "send_message")),
            "a2a": ("/agents/bench", a2a_call([{"text": text}]), v1),
        }
        by(compared(started, gateway, calls, given), "mcp", "a2a", "a tool call of an A2A agent, by the same A2A call", 2.5)


class SilentServer(threading.Thread):
    """An MCP server of 2026-07-28 with one tool, which never answers."""

    answers = {
        "server/discover": {
            "resultType": "complete",
            "ttlMs": 60000,
            "cacheScope": "private",
            "supportedVersions": [version],
            "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "silent", "version": "1"}},
        },
        "tools/list": {
            "resultType": "complete",
            "ttlMs": 60000,
            "cacheScope": "private",
            "tools": [{"name": "wait", "description": "Waits", "inputSchema": {"type": "object"}}],
        },
    }

    def __init__(self):
        super().__init__(daemon=True)
        self.waiting = 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=2048))
        self.address = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.start()

    def run(self):
        self.loop.run_forever()

    async def serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = int(head.split("content-length:")[1].split("\r\n")[0])
                asked = json.loads(await reader.readexactly(size))
                if asked["method"] == "tools/call":
                    self.waiting += 1
                    await reader.read()
                    break
                known = self.answers.get(asked["method"])
                reply = {"jsonrpc": "2.0", "id": asked.get("id")}
                reply |= {"result": known} if known else {"error": {"code": -32601, "message": "no"}}
                body = json.dumps(reply).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        writer.close()


def measure_memory(_):
    with Processes() as started:
        server = SilentServer()
        agent = f'{{url: "http://{server.address}/mcp", protocol: mcp, era: modern, limits: {{in_flight: 8000, streams: 8000}}}}'
        gateway = started.gateway({"bench": agent})
        wait_for_card(gateway)
        line = Line(gateway)
        sizes = []
        for count in (100, 1100):
            while server.waiting < count:
                before = server.waiting
                body = a2a_call([{"data": {"skill": "wait", "arguments": {}}}], returnImmediately=True)
                line.ask("/agents/bench", body, v1)
                wait_for(lambda: server.waiting > before, "the call")
            time.sleep(1)
            sizes.append(memory(gateway.pid))
        report("1,000 waiting tasks of A2A", (sizes[1] - sizes[0]) / 2**20, "MiB", 8)
    with Processes() as started:
        address = started.server("--mcp", "1")
        agents = {f"m{each}": f'{{url: "http://{address}/mcp", protocol: mcp, era: legacy}}' for each in range(3)}
        gateway = started.gateway(agents, bundle(agents))
        ready(gateway, 3)
        line = Line(gateway)
        sizes = []
        for count in (500, 1000):  # the calls of the first ones fill what the gateway keeps of its log for its page
            for _ in range(count):
                session = line.begin()[0]
                line.ask("/mcp", tool_call("m1__echo", {}, "legacy"), session)
            time.sleep(1)
            sizes.append(memory(gateway.pid))
        report("1,000 idle sessions with a bundle, one member each", (sizes[1] - sizes[0]) / 2**20, "MiB", 2)


class Neighbour(threading.Thread):
    """An MCP server of 2025-11-25 that is well until `turn` says what it does from then on."""

    page = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s"
    changed = b'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'

    def __init__(self):
        super().__init__(daemon=True)
        self.kind = "well"
        self.walks = 0
        self.streams = 0
        self.open = set()
        self.many = self.tools(10_000)
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=2048))
        self.address = f"127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        self.start()

    def run(self):
        os.sched_setaffinity(threading.get_native_id(), {int(mcp_bars.load_core)})
        self.loop.run_forever()

    def turn(self, kind):
        self.kind = kind
        if kind == "dies":
            self.loop.call_soon_threadsafe(self.die)

    def die(self):
        self.server.close()
        for each in self.open:
            each.transport.abort()

    @staticmethod
    def tools(count):
        names = ["echo", *(f"tool{each}" for each in range(1, count))]
        return [{"name": each, "description": "What this one does", "inputSchema": {"type": "object"}} for each in names]

    def listed(self):
        """No two are equal if lists are what is wrong with it."""
        self.walks += 1
        if self.kind not in ("floods list_changed", "lists 10,000 tools"):
            return {"tools": self.tools(1)}
        some = self.many if self.kind.startswith("lists") else self.many[:1]
        return {"tools": [*some[:-1], {**some[-1], "description": f"The {self.walks}th"}]}

    async def serve(self, reader, writer):
        self.open.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                if head.startswith("get"):
                    await self.stream(writer)
                    break
                size = int((head + "content-length: 0\r\n").split("content-length:")[1].split("\r\n")[0])
                asked = json.loads(await reader.readexactly(size) or "{}")
                if self.kind == "hangs":
                    await reader.read()
                    break
                self.answer(writer, asked)
        self.open.discard(writer)
        writer.close()

    def answer(self, writer, asked):
        method = asked.get("method")
        known = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "n", "version": "1"}},
            "ping": {},
            "tools/call": {"content": []},
        }
        result = self.listed() if method == "tools/list" else known.get(method)
        if "id" not in asked or method is None:
            writer.write(self.page % (b"202 Accepted", 0, b"", b""))
            return
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no"}}
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"]} | reply).encode()
        writer.write(self.page % (b"200 OK", len(body), b"Mcp-Session-Id: one\r\n" if method == "initialize" else b"", body))

    async def stream(self, writer):
        """100 changes are told each hundredth of a second; of 10,000 tools one each second."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        self.streams += 1
        while not writer.is_closing():
            if self.kind == "floods list_changed":
                writer.write(self.changed * 100)
                await writer.drain()
            elif self.kind == "lists 10,000 tools":
                writer.write(self.changed)
                await asyncio.sleep(1)
            await asyncio.sleep(0.01)


class Pesterer(threading.Thread):
    """Calls the neighbour through the bundle five times a second and waits for no answer."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.gateway = gateway
        self.over = threading.Event()
        self.start()

    def run(self):
        body = json.dumps(tool_call("bad__echo", {}, "modern"))
        fields = ["POST /mcp HTTP/1.1", f"Host: {self.gateway.address}", "Accept: application/json, text/event-stream"]
        fields += ["Content-Type: application/json", f"Content-Length: {len(body)}", *modern_fields("tools/call", "bad__echo").split("\n")]
        host, port = self.gateway.address.split(":")
        kept = []
        while not self.over.wait(0.2):
            kept.append(socket.create_connection((host, int(port))))
            kept[-1].sendall(("\r\n".join(fields) + "\r\n\r\n" + body).encode())
            if len(kept) > 64:
                kept.pop(0).close()
        for each in kept:
            each.close()


class Neighbourhood:
    """A gateway, of whose bundle of four members one is a neighbour of this kind. It runs only while it is measured."""

    def __init__(self, started, servers, kind):
        self.neighbour = Neighbour()
        agents = {"bad": ("legacy", self.neighbour.address), **servers}
        agents = {id: f'{{url: "http://{address}/mcp", protocol: mcp, era: {era}}}' for id, (era, address) in agents.items()}
        self.gateway = started.gateway(agents, bundle(agents))
        ready(self.gateway, 4)
        wait_for(lambda: self.neighbour.streams > 0, "the stream of the neighbour")
        self.fields = {"legacy": Line(self.gateway).begin()[0], "modern": modern_fields("tools/call", "modern__echo")}
        self.bodies = {}
        for era in self.fields:
            self.bodies[era] = started.folder / f"{era}.json"
            self.bodies[era].write_text(json.dumps(tool_call(f"{era}__echo", question, era), separators=(",", ":")))
        self.pesterer = Pesterer(self.gateway)
        self.neighbour.turn(kind)
        for era in self.fields:
            self.p99(era)
        self.walks = self.neighbour.walks
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        os.kill(self.gateway.pid, number)

    def p99(self, era):
        fields = self.fields[era].replace("\n", "\r\n")
        return mcp_bars.calls_at_rate(self.gateway.address, "/mcp", self.bodies[era], 500, 1, fields)[1]

    def p99_by_era(self):
        self.signal(signal.SIGCONT)
        time.sleep(0.3)  # what has waited is done
        found = {era: self.p99(era) for era in self.fields}
        self.signal(signal.SIGSTOP)
        return found

    def end(self):
        self.signal(signal.SIGCONT)
        self.pesterer.over.set()
        self.pesterer.join()
        self.neighbour.loop.call_soon_threadsafe(self.neighbour.loop.stop)
        self.neighbour.join()


def measure_neighbours(given):
    for kind in ("well", "hangs", "dies", "floods list_changed", "lists 10,000 tools"):
        with Processes() as started:
            servers = {"legacy": ("legacy", started.server("--mcp", "1")), "modern": ("modern", started.server("--mcp", "2"))}
            servers["third"] = servers["legacy"]
            without, beside = (Neighbourhood(started, servers, each) for each in ("well", kind))
            slices = []
            for number in range(given.rounds * given.seconds):
                pair = (without, beside) if number % 2 else (beside, without)
                found = {each: each.p99_by_era() for each in pair}
                slices.append((found[beside], found[without]))
            walks = beside.neighbour.walks - beside.walks
            without.end()
            beside.end()
        for era in ("legacy", "modern"):
            bad, good = ([each[which][era] for each in slices] for which in (0, 1))
            middle = [statistics.median(each) for each in (bad, good)]
            more = f"{middle[0]:.2f} by {middle[1]:.2f} ms, best {min(bad):.2f} by {min(good):.2f}, {walks} walks"
            what = f"p99, {era}, one {kind}, by none"
            if kind == "well":
                print(f"{what:<58} {middle[0] / middle[1]:>10.3f} times     the noise       {more}", flush=True)
            else:
                report(what, middle[0] / middle[1], "times", 1.2, more)


measurements = {
    "calls": measure_calls,
    "lists": measure_lists,
    "search": measure_search,
    "bridges": measure_bridges,
    "memory": measure_memory,
    "neighbours": measure_neighbours,
}

if __name__ == "__main__":
    sys.exit(measure(argparse.ArgumentParser(description=__doc__.split("\n")[0]), measurements))
