#!/usr/bin/python3
"""soak.py [MINUTES]: a gateway that works for so long (30 by default) while its configuration is read again each minute and its agents and
MCP programs are killed. At the end everything that it had taken has come back, its memory has not grown, and each refusal has a cause.
Environment: CARDEA_BIN, DEMO_AGENT_BIN."""

import asyncio
import collections
import datetime
import json
import os
import signal
import subprocess
import sys
import time

from load import CALL, STREAM, Agent, Caller, Gateway, Verdict, request, say

DEMO_AGENT = os.environ.get("DEMO_AGENT_BIN", "build/release/demo_agent")
PROGRAM = os.path.abspath("tests/deploy/mcp_program.py")
MESSAGE = (b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user",'
           b'"parts":[{"kind":"text","text":"to be"}]}}}')
# Of an agent's absence, and of the time that Cardea needs to see that it is back: its bare connection each second.
GRACE = 3.0
GROWTH = 2048  # KiB
CAUSES = {"upstream_refused", "upstream_reset", "circuit_open", "upstream_timeout"}


class MortalAgent:
    """A process that is killed now and then and comes back on its port."""

    def __init__(self):
        self.process, self.port, self.away = None, 0, []  # (from, until)
        self.begin()

    def begin(self):
        self.process = subprocess.Popen([DEMO_AGENT, "--port", str(self.port), "--pace", "5"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])

    async def die_every(self, seconds, over):
        while not over.is_set():
            await asyncio.sleep(seconds)
            left = time.monotonic()
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.away.append((left, left + 1e9))
            await asyncio.sleep(2)
            self.begin()
            self.away[-1] = (left, time.monotonic())

    def was_away(self, begun, ended):
        return any(begun < until + GRACE and ended >= left for left, until in self.away)


class Soak:
    def __init__(self, seconds):
        self.seconds = seconds
        self.over = asyncio.Event()
        self.answers = collections.Counter()
        self.unexplained = collections.Counter()
        self.killed = []  # when programs were
        self.shed = []  # when calls were refused as overloaded, by the wall clock
        self.good = Agent()
        self.mortal = MortalAgent()

    def configuration(self, turn):
        """Each reload changes an agent that nobody calls, and the timeout of one that is called."""
        return (
            "workers: 2\n"
            "timeouts: {upstream_keep: 5s, idle: 10s, drain: 5s, drain_streams: 1s}\n"
            "agents:\n"
            f"  good: {{url: '{self.good.url()}', timeout: {30 + turn % 2}s}}\n"
            f"  mortal: {{url: 'http://127.0.0.1:{self.mortal.port}/', breaker: {{cooldown: 1s}}}}\n"
            f"  changing{turn % 2}: {{url: '{self.good.url()}'}}\n"
            "mcpServers:\n"
            f"  program: {{command: /usr/bin/python3, args: ['{PROGRAM}']}}\n")

    def note(self, what, agent, answer, begun):
        status, code = answer
        self.answers[(agent, what, status, code)] += 1
        ended = time.monotonic()
        explained = status == 200
        if agent == "mortal":
            cut_stream = what == "stream" and status == "cut"
            explained = explained or ((code in CAUSES or cut_stream) and self.mortal.was_away(begun, ended))
        if agent == "program":
            explained = explained or (status == 503 and any(begun < each + 15 and ended >= each for each in self.killed))
        if code == "overloaded":
            self.shed.append(time.time())
        elif not explained:
            self.unexplained[(agent, what, status, code)] += 1

    async def call(self, port, agent, what, text, pause, keep):
        caller = Caller(port)
        while not self.over.is_set():
            begun = time.monotonic()
            self.note(what, agent, await caller.ask(text), begun)
            if not keep:
                caller.close()
            await asyncio.sleep(pause)
        caller.close()

    async def leave(self, port):
        """Callers who do not wait for their answer."""
        while not self.over.is_set():
            caller = Caller(port)
            await caller.ask(request("/agents/good", STREAM), timeout=0.25)
            caller.close()

    async def kill_programs(self, gateway, every):
        while not self.over.is_set():
            await asyncio.sleep(every)
            for child in gateway.children():
                self.killed.append(time.monotonic())
                os.kill(child, signal.SIGKILL)

    async def reload(self, gateway, every):
        turn = 0
        while not self.over.is_set():
            await asyncio.sleep(every)
            turn += 1
            gateway.configure(self.configuration(turn))
            gateway.reload()

    async def at_rest(self, gateway, wanted=None):
        """What it has when nobody calls. With `wanted` it has a minute to get there."""
        until = time.monotonic() + 60
        while True:
            page = await asyncio.to_thread(gateway.metrics)
            state = {
                "connections": page["cardea_connections_open"],
                "relays": page["cardea_requests_in_flight"],
                "streams": sum(value for name, value in page.items() if name.startswith("cardea_streams_active")),
                "waiters": sum(value for name, value in page.items() if name.startswith("cardea_queue_length")),
                "idle connections to agents": page["cardea_upstream_connections_idle"],
                "descriptors": page["process_open_fds"],
                "threads": page["process_threads"],
                "children": len(gateway.children()),
            }
            if wanted is None or state == wanted or time.monotonic() > until:
                return state
            await asyncio.sleep(0.5)

    def shed_without_overload(self, lines):
        """How many calls were refused as overloaded while the log does not say that the gateway was: when others need the machine."""
        spans = []
        for line in map(json.loads, filter(lambda each: '"overload_changed"' in each, lines.splitlines())):
            at = datetime.datetime.fromisoformat(line["ts"]).timestamp()
            if line["level"] >= 2:
                spans.append([at - 1, at + 1e9])
            elif spans:
                spans[-1][1] = min(spans[-1][1], at + 1)
        return sum(not any(begin <= each <= end for begin, end in spans) for each in self.shed)

    async def watch(self, gateway, samples):
        begun = time.monotonic()
        while time.monotonic() - begun < self.seconds:
            await asyncio.sleep(10)
            samples.append((time.monotonic() - begun, gateway.memory()))
            if len(samples) % 6 == 0:
                say(f"{samples[-1][0]:.0f} s: {samples[-1][1]} KiB, {sum(self.answers.values())} answers, "
                    f"{sum(self.unexplained.values())} without a cause")
            if gateway.process.poll() is not None:
                raise RuntimeError("the gateway has ended: " + gateway.lines()[-2000:])

    async def run(self):
        await self.good.start()
        gateway = Gateway(self.configuration(0))
        verdict = Verdict()
        try:
            port = gateway.port
            for warm in ("good", "mortal", "program"):
                caller = Caller(port)
                await caller.ask(request(f"/agents/{warm}/.well-known/agent-card.json"))
                caller.close()
            await asyncio.sleep(8)
            before = await self.at_rest(gateway)
            say("at the start:", before)
            samples = []
            every = 60 if self.seconds >= 600 else self.seconds / 10
            tasks = [self.call(port, "good", "call", request("/agents/good", CALL), 0.01, True) for _ in range(8)]
            tasks += [self.call(port, "good", "new", request("/agents/good", CALL), 0.02, False) for _ in range(2)]
            tasks += [self.call(port, "good", "stream", request("/agents/good", STREAM), 0.1, True) for _ in range(20)]
            tasks += [self.call(port, "mortal", "call", request("/agents/mortal", MESSAGE), 0.05, True) for _ in range(4)]
            tasks += [self.call(port, agent, "card", request(f"/agents/{agent}/.well-known/agent-card.json"), 0.1, True)
                      for agent in ("good", "program")]
            tasks += [self.leave(port), self.mortal.die_every(every * 0.75, self.over),
                      self.kill_programs(gateway, max(every * 1.2, 40)), self.reload(gateway, every)]
            running = [asyncio.create_task(each) for each in tasks]
            await self.watch(gateway, samples)
            self.over.set()
            _, late = await asyncio.wait(running, timeout=every * 1.5)
            for each in late:
                each.cancel()
            for each in running:
                if each not in late:
                    each.result()
            after = await self.at_rest(gateway, before)
            for answer, times in sorted(self.answers.items(), key=str):
                say(f"{times:8}", *answer)
            settled = self.seconds * (1 / 3 if self.seconds > 300 else 0.5)
            rest = [memory for at, memory in samples if at >= settled]
            lowest, last = min(rest[:max(1, len(rest) // 4)]), min(rest[-max(1, len(rest) // 4):])
            lost = self.shed_without_overload(gateway.lines())
            verdict.check(lost == 0, f"{len(self.shed)} calls were refused because the machine was overloaded; without that: {lost}")
            verdict.check(not self.unexplained, f"each refusal has a cause; without: {dict(self.unexplained)}")
            verdict.check(after == before, f"everything has come back: {after}")
            verdict.check(last - lowest <= GROWTH, f"memory grew by {last - lowest} KiB after {settled / 60:.1f} min (at most {GROWTH})")
            verdict.check(len(self.mortal.away) > 1 and len(self.killed) > 0, "agents and programs were killed")
        finally:
            self.mortal.process.kill()
            code = gateway.end()
        verdict.check(code == 0, f"it ends with {code}")
        verdict.finish()


asyncio.run(Soak(float(sys.argv[1] if len(sys.argv) > 1 else 30) * 60).run())
