#!/usr/bin/python3
"""isolation.py [SCENARIO...]: nobody's trouble is another one's. `silent`: 2,000 callers wait for an agent that says nothing, and another agent
is called. `greedy`: one principal takes all that it can of what another one needs too.
`noisy`: one caller calls a hundred times as often as each of ten others, and all of them share an agent that is full.
`overload`: an agent gets twice and five times the calls that it can answer. Environment: CARDEA_BIN."""

import asyncio
import collections
import sys
import time

from load import CALL, STREAM, Agent, Caller, Gateway, Verdict, percentile, request, say

COMMON = "workers: 2\ntimeouts: {drain: 1s, drain_idle: 100ms, drain_streams: 100ms}\ncards: {background: 0}\n"


class Load:
    """Calls that are due at a steady rate, whether or not others were answered: from a few connections that are kept."""

    def __init__(self, port, target, rate, seconds, address="127.0.0.1", fields="", body=CALL):
        self.port, self.what, self.rate, self.seconds, self.address = port, request(target, body, fields), rate, seconds, address
        self.answers = collections.Counter()
        self.good, self.refused = [], []  # seconds that each took
        self.free, self.waiting = [], set()

    async def one(self):
        caller = self.free.pop() if self.free else Caller(self.port, self.address)
        begun = time.monotonic()
        status, code = await caller.ask(self.what)
        took = time.monotonic() - begun
        self.free.append(caller)
        self.answers[(status, code)] += 1
        if status == 200:
            self.good.append(took)
        elif status == 503:
            self.refused.append(took)

    async def run(self):
        begun = time.monotonic()
        for number in range(int(self.rate * self.seconds)):
            await asyncio.sleep(max(0, begun + number / self.rate - time.monotonic()))
            task = asyncio.create_task(self.one())
            self.waiting.add(task)
            task.add_done_callback(self.waiting.discard)
        await asyncio.gather(*self.waiting)
        for each in self.free:
            each.close()
        return self

    def share(self):
        return len(self.good) / max(1, sum(self.answers.values()))


async def silent(verdict):
    slow, good = Agent(), Agent()
    await slow.start()
    await good.start()
    slow.silent = True
    gateway = Gateway(
        COMMON + "agents:\n"
        f"  slow: {{url: '{slow.url()}', timeout: 10m, limits: {{in_flight: 4000}}}}\n"
        f"  good: {{url: '{good.url()}'}}\n")
    try:
        alone = await Load(gateway.port, "/agents/good", 300, 5).run()
        waiting = [asyncio.create_task(Caller(gateway.port).ask(request("/agents/slow", CALL), timeout=600)) for _ in range(2000)]
        until = time.monotonic() + 60
        while slow.calls < 2000 and time.monotonic() < until:
            await asyncio.sleep(0.1)
        beside = await Load(gateway.port, "/agents/good", 300, 10).run()
        before, after = (percentile(each.good, 99) * 1000 for each in (alone, beside))
        verdict.check(slow.calls >= 2000, f"{slow.calls} callers wait for the silent agent")
        verdict.check(set(beside.answers) == {(200, None)}, f"the other agent at 300 calls/s: {dict(beside.answers)}")
        verdict.check(after <= 2 * max(before, 1), f"its p99: {before:.2f} ms alone, {after:.2f} ms beside them (at most twice)")
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        gateway.end()


async def noisy(verdict):
    agent = Agent(delay=0.02)
    await agent.start()
    # 200 calls a second at most.
    gateway = Gateway(COMMON + f"agents: {{a: {{url: '{agent.url()}', limits: {{in_flight: 4, queue: 64}}}}}}\n")
    try:
        quiet = [Load(gateway.port, "/agents/a", 5, 15, f"127.0.0.{10 + number}") for number in range(10)]
        noise = Load(gateway.port, "/agents/a", 500, 15, "127.0.0.9")
        await asyncio.gather(noise.run(), *(each.run() for each in quiet))
        answers = sum((each.answers for each in quiet), collections.Counter())
        share = answers[(200, None)] / sum(answers.values())
        verdict.check(share >= 0.999, f"ten callers beside one with 100 times as much: {share:.2%} of their calls succeed: {dict(answers)}")
        say(f"the one: {dict(noise.answers)}")
    finally:
        gateway.end()


async def overload(verdict):
    agent = Agent(delay=0.02)
    await agent.start()
    capacity = 400  # 8 at a time, 20 ms each
    gateway = Gateway(COMMON + f"agents: {{a: {{url: '{agent.url()}', limits: {{in_flight: 8, queue: 32}}}}}}\n")
    try:
        alone = await Load(gateway.port, "/agents/a", capacity * 0.95, 5).run()
        best = len(alone.good) / 5
        for times in (2, 5):
            load = Load(gateway.port, "/agents/a", capacity * times, 8)
            begun = time.monotonic()
            await load.run()
            goodput = len(load.good) / (time.monotonic() - begun)
            late = percentile(load.refused, 99) * 1000
            verdict.check(goodput >= 0.9 * best, f"{times} times the capacity: {goodput:.0f} calls/s succeed (at its best {best:.0f})")
            verdict.check(late <= 5, f"its refusals: p99 {late:.1f} ms (at most 5); all answers: {dict(load.answers)}")
    finally:
        gateway.end()


def bearer(who):
    return f"Authorization: Bearer token-of-{who}-0123456789\r\n"


PROVIDERS = "access:\n  providers:\n" + "".join(
    f"    - {{type: static_token, name: {who}, token: token-of-{who}-0123456789}}\n" for who in ("a", "b")) + (
    "  rules: [{discover: authenticated, call: authenticated}]\n")


async def greedy(verdict):
    """A takes all that it can of a place, and B is served as if it were alone."""
    for place, limits, body in (("limits.in_flight", "{in_flight: 16, queue: 64}", CALL), ("limits.streams", "{streams: 32}", STREAM)):
        agent = Agent(delay=0.02, events=3)
        await agent.start()
        gateway = Gateway(COMMON + PROVIDERS + f"agents: {{x: {{url: '{agent.url()}', limits: {limits}}}}}\n")
        try:
            alone = await Load(gateway.port, "/agents/x", 20, 10, fields=bearer("b"), body=body).run()
            greed = Load(gateway.port, "/agents/x", 1000, 12, fields=bearer("a"), body=body)
            taking = asyncio.create_task(greed.run())
            await asyncio.sleep(1)
            beside = await Load(gateway.port, "/agents/x", 20, 10, fields=bearer("b"), body=body).run()
            await taking
            before, after = (percentile(each.good, 99) * 1000 for each in (alone, beside))
            verdict.check(beside.share() >= 0.99, f"{place}: {beside.share():.2%} of B's requests succeed: {dict(beside.answers)}")
            verdict.check(after <= 2 * before, f"{place}: B's p99 {before:.1f} ms alone, {after:.1f} ms beside A (at most twice)")
            say(f"A: {dict(greed.answers)}")
        finally:
            gateway.end()


async def main():
    scenarios = {"silent": silent, "noisy": noisy, "overload": overload, "greedy": greedy}
    verdict = Verdict()
    for name in sys.argv[1:] or scenarios:
        say(f"-- {name}")
        await scenarios[name](verdict)
    verdict.finish()


asyncio.run(main())
