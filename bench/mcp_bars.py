#!/usr/bin/env python3
"""What calls of MCP servers cost, each figure beside its bar (bench/README.md says how to read them).

    bench/mcp_bars.py [--rounds N] [--seconds S] [--only NAME...] [--no-npm]

NAME: cpu, latency, memory, warm, begins, walk, npm. The gateway runs on the first core that we may use; servers, programs and
callers on the second. npm's mcp-proxy and supergateway are installed for the time of the run. Exit code 1 if a bar is missed.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

root = pathlib.Path(__file__).resolve().parent.parent
binaries = pathlib.Path(os.environ.get("BENCH_BINARIES", root / "build/shipped"))
npm_packages = {"mcp-proxy": "6.7.19", "supergateway": "4.0.0"}
cores = sorted(os.sched_getaffinity(0))
rows = []


def die(text):
    sys.exit(f"bench: {text}")


def report(what, figure, unit, bar, more=""):
    """One line of the result; `bar` is the most that it may be."""
    holds = figure <= bar
    rows.append(holds)
    print(f"{what:<58} {figure:>10.3f} {unit:<9} bar {bar:<6g} {'holds' if holds else 'MISSED'}{'  ' + more if more else ''}", flush=True)


class Processes:
    """What one measurement has started, until it is over."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-mcp-"))
        self.all = []
        return self

    def __exit__(self, *_):
        for each in self.all:
            each.terminate()
        for each in self.all:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, core, command, **options):
        started = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], stdin=subprocess.PIPE, cwd=root, **options)
        self.all.append(started)
        return started

    def server(self, *options):
        """Of bench_upstream; its address."""
        started = self.start(load_core, [binaries / "bench_upstream", *options], stdout=subprocess.PIPE, text=True)
        return f"127.0.0.1:{started.stdout.readline().strip()}"

    def gateway(self, agents, more=""):
        """With these agents in YAML."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "cardea.yml").write_text(more + "agents:\n" + "".join(f"  {id}: {how}\n" for id, how in agents.items()))
        log = folder / "log"
        command = [binaries / "cardea", "run", "-c", folder / "cardea.yml", "--store", "memory"]
        command += ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]
        with log.open("w") as lines:
            started = self.start(proxy_core, command, stdout=subprocess.DEVNULL, stderr=lines)
        found = wait_for(lambda: re.search(r'"event":"listening".*', log.read_text()), f"the gateway: {log}")
        said = json.loads("{" + found.group(0))
        return Gateway(started.pid, said["traffic"].split("//")[-1].strip("/"), said["admin"].split("//")[-1].strip("/"))


class Gateway:
    def __init__(self, pid, address, admin, target="/agents/{}/mcp"):
        self.pid, self.address, self.admin, self.target = pid, address, admin, target
        self.session = None

    def processes(self):
        return [self.pid]

    def begin(self, agent="bench", connection=None):
        """The header line of a new session."""
        body = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        status, fields, text = post(self.address, self.target.format(agent), message(0, "initialize", body), connection=connection)
        if status != 200 or not fields.get("mcp-session-id"):
            die(f"{agent}: initialize: {status} {text[:300]}")
        return f"Mcp-Session-Id: {fields['mcp-session-id']}"

    def begin_one(self, agent="bench"):
        self.session = self.begin(agent)
        post(self.address, self.target.format(agent), {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.session)
        text = (root / "bench/tool.json").read_text()
        status, _, got = post(self.address, self.target.format(agent), json.loads(text), self.session)
        if status != 200 or '"result"' not in got:
            die(f"{agent}: does not relay: {status} {got[:300]}")

    def end(self, session, agent="bench"):
        post(self.address, self.target.format(agent), None, session, "DELETE")

    def metrics(self):
        with contextlib.closing(http.client.HTTPConnection(self.admin, timeout=20)) as asked:
            asked.request("GET", "/metrics")
            return asked.getresponse().read().decode()

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.metrics(), re.M)
        return float(found.group(1)) if found else None


def message(number, method, params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def post(address, target, body, session=None, method="POST", connection=None):
    fields = {"Accept": "application/json, text/event-stream"}
    if body is not None:
        fields["Content-Type"] = "application/json"
    if session:
        fields["Mcp-Session-Id"] = session.split(": ")[1]
        fields["MCP-Protocol-Version"] = "2025-11-25"
    asked = connection or http.client.HTTPConnection(address, timeout=60)
    asked.request(method, target, json.dumps(body, separators=(",", ":")) if body is not None else None, fields)
    answer = asked.getresponse()
    text = answer.read().decode()
    if connection is None:
        asked.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text


def wait_for(reached, what, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            found = reached()
            if found:
                return found
        time.sleep(0.05)
    return die(f"waited in vain for {what}")


def cpu_seconds(processes):
    spent = 0
    for pid in processes:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                spent += int(task.read_text().split()[0])
    return spent / 1e9


def memory(pid):
    """Bytes that it would give back."""
    found = re.search(r"^Pss:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    return int(found.group(1)) * 1024


def cpu_of_calls(gateway, target, body, seconds):
    """Milliseconds for 1,000 calls."""
    environment = {**os.environ, "BENCH_BODY": str(root / body) if body else "", "BENCH_CREDENTIAL": gateway.session or ""}
    before = cpu_seconds(gateway.processes())
    command = ["taskset", "-c", load_core, "wrk", "-t1", "-c64", f"-d{seconds}s", "-s", "bench/load.lua", f"http://{gateway.address}{target}"]
    said = subprocess.run(list(map(str, command)), env=environment, cwd=root, capture_output=True, text=True, check=True).stdout
    spent = cpu_seconds(gateway.processes()) - before
    numbers = list(map(int, re.search(r"^bench (.*)$", said, re.M).group(1).split()))
    if numbers[0] == 0 or any(numbers[3:8]):
        die(f"{target}: {numbers[0]} calls, errors {numbers[3:8]}")
    return spent * 1e6 / numbers[0]


def calls_at_rate(address, target, body, rate, seconds, session=None):
    """p50 and p99 in milliseconds."""
    environment = {**os.environ, "BENCH_CREDENTIAL": session or ""}
    command = ["taskset", "-c", load_core, binaries / "bench_callers", "open", address, target, body, rate, seconds]
    said = subprocess.run(list(map(str, command)), env=environment, cwd=root, capture_output=True, text=True, check=True).stdout
    calls, failures, _, p50, p99, _ = map(int, said.split())
    if failures:
        die(f"{target}: {failures} of {calls + failures} calls failed")
    return p50 / 1000, p99 / 1000


def program(*words):
    """A server that is a program, on the core of the load."""
    return "{type: stdio, command: taskset, args: [" + ", ".join(f'"{each}"' for each in ("-c", load_core, *words)) + "]}"


bench_program = str(binaries / "bench_program")


def wait_for_card(gateway):
    wait_for(lambda: post(gateway.address, "/agents/bench/.well-known/agent-card.json", None, method="GET")[0] == 200, "the card")


def by(rounds, name, other, what, bar):
    """Reports what one takes beside another; rounds: [{name: milliseconds for 1,000}]."""
    middle = [statistics.median(each[key] for each in rounds) for key in (name, other)]
    ratios = sorted(each[name] / each[other] for each in rounds)
    more = f"{middle[0]:.1f} by {middle[1]:.1f} ms per 1,000; {ratios[0]:.2f} to {ratios[-1]:.2f}"
    report(what, statistics.median(ratios), "times", bar, more)


def measure_cpu(given):
    with Processes() as started:
        a2a, legacy, modern = started.server(), started.server("--mcp", "1"), started.server("--mcp", "2")
        agents = {
            "call": f'{{url: "http://{a2a}/a2a"}}',
            "http": f'{{url: "http://{legacy}/mcp", protocol: mcp}}',
            "program": f"{{transport: {program(bench_program)}}}",
            "http translated": f'{{url: "http://{modern}/mcp", protocol: mcp, era: modern}}',
            "program translated": f"{{era: modern, transport: {program(bench_program, 'modern')}}}",
        }
        gateways = {name: started.gateway({"bench": how}) for name, how in agents.items()}
        for name, each in gateways.items():
            if name != "call":
                each.begin_one()
        rounds = []
        for number in range(given.rounds + 1):
            spent = {}
            for name, each in gateways.items():
                target, body = ("/agents/bench", "bench/call.json") if name == "call" else ("/agents/bench/mcp", "bench/tool.json")
                spent[name] = cpu_of_calls(each, target, body, given.seconds if number else 1)
            if number:  # the first one warms up
                rounds.append(spent)
    for name in ("http", "program", "http translated", "program translated"):
        report(f"CPU of a call, {name}", statistics.median(each[name] for each in rounds) / 1000, "ms", 0.1)
    by(rounds, "http", "call", "HTTP, same era, by scenario call", 1.3)
    by(rounds, "program", "call", "a program, by scenario call", 2.5)
    by(rounds, "http translated", "http", "translated, by untranslated: HTTP", 2.0)
    by(rounds, "program translated", "program", "translated, by untranslated: a program", 2.0)


def measure_latency(given):
    with Processes() as started:
        server = started.server("--mcp", "1")
        over_http = started.gateway({"bench": f'{{url: "http://{server}/mcp", protocol: mcp}}'})
        of_program = started.gateway({"bench": f"{{transport: {program(bench_program)}}}"})
        floor = started.start(proxy_core, [binaries / "bench_floor", "relay", server], stdout=subprocess.PIPE, text=True)
        relay = f"127.0.0.1:{floor.stdout.readline().strip()}"
        raw = []
        added = {"HTTP": [], "a program, by the same server over HTTP": []}
        for each in (over_http, of_program):
            each.begin_one()
        for _ in range(given.rounds):
            direct = calls_at_rate(server, "/mcp", "bench/tool.json", 200, given.seconds * 2)
            relayed = calls_at_rate(relay, "/mcp", "bench/tool.json", 200, given.seconds * 2)
            raw.append([there - here for there, here in zip(relayed, direct)])
            for name, each in zip(added, (over_http, of_program)):
                got = calls_at_rate(each.address, "/agents/bench/mcp", "bench/tool.json", 200, given.seconds * 2, each.session)
                added[name].append([there - here for there, here in zip(got, direct)])
    floors = [statistics.median(each[which] for each in raw) for which in (0, 1)]
    print(f"200 calls/s, added by a raw relay (the floor): p50 {floors[0]:.3f} ms, p99 {floors[1]:.3f} ms", flush=True)
    for name, all_rounds in added.items():
        report(f"200 calls/s, added p50: {name}", statistics.median(each[0] for each in all_rounds), "ms", 0.2)
        report(f"200 calls/s, added p99: {name}", statistics.median(each[1] for each in all_rounds), "ms", 1)


def measure_memory(_):
    with Processes() as started:
        server = started.server("--mcp", "1", "--listen", "1")
        gateway = started.gateway({"bench": f'{{url: "http://{server}/mcp", protocol: mcp, limits: {{streams: 2000}}}}'})
        with contextlib.closing(http.client.HTTPConnection(gateway.address, timeout=60)) as connection:
            for _ in range(500):
                gateway.begin(connection=connection)
            before = memory(gateway.pid)
            for _ in range(10_000):
                gateway.begin(connection=connection)
            time.sleep(1)
        report("10,000 idle sessions over HTTP", (memory(gateway.pid) - before) / 2**20, "MiB more", 5)
        gateway.begin_one()
        environment = {**os.environ, "BENCH_CREDENTIAL": gateway.session}
        command = [binaries / "bench_callers", "hold", gateway.address, "/agents/bench/mcp", "-"]
        holder = started.start(load_core, command, stdout=subprocess.PIPE, text=True, env=environment)
        sizes = []
        for count in (50, 1050):
            holder.stdin.write(f"{count}\n")
            holder.stdin.flush()
            if holder.stdout.readline().strip() != str(count):
                die(f"cannot hold {count} streams")
            time.sleep(2)
            sizes.append(memory(gateway.pid))
        report("an open GET stream, both sides", (sizes[1] - sizes[0]) / 1000 / 1000, "kB", 16)
    with Processes() as started:
        gateway = started.gateway({"bench": f"{{max_sessions: 300, warm: 0, transport: {program(bench_program)}}}"})
        sizes = []
        for count in (20, 100):
            for _ in range(count):
                gateway.begin()
            time.sleep(2)
            sizes.append(memory(gateway.pid))
        report("a program's session, beside the program", (sizes[1] - sizes[0]) / 100 / 1000, "kB", 64)


def measure_warm(_):
    with Processes() as started:
        middle = {}
        for warm in (0, 1):
            gateway = started.gateway({"bench": f"{{warm: {warm}, transport: {program(bench_program)}}}"})
            took = []
            for _ in range(40):
                if warm and took:
                    wait_for(lambda: gateway.metric('cardea_mcp_warm_programs{agent="bench"}') == 1, "a warm program")
                    time.sleep(0.05)  # the program itself has started too
                begun = time.perf_counter()
                session = gateway.begin()
                took.append(time.perf_counter() - begun)
                gateway.end(session)
            middle[warm] = statistics.median(took[1:]) * 1000
    report("initialize with a warm program, by a cold one", middle[1] / middle[0], "times", 0.3, f"{middle[1]:.2f} by {middle[0]:.2f} ms")


def measure_begins(given):
    card = "/agents/bench/.well-known/agent-card.json"
    with Processes() as started:
        agents = {"bench": f'{{url: "http://{started.server()}/a2a"}}', "p": f"{{max_sessions: 128, transport: {program(bench_program)}}}"}
        gateway = started.gateway(agents)
        gateway.end(gateway.begin("p"), "p")
        wait_for_card(gateway)
        calls_at_rate(gateway.address, card, "-", 1000, 1)
        ratios = []
        for _ in range(given.rounds):
            alone = calls_at_rate(gateway.address, card, "-", 1000, given.seconds)[1]
            beside = []
            measured = threading.Thread(target=lambda: beside.append(calls_at_rate(gateway.address, card, "-", 1000, given.seconds)[1]))
            measured.start()
            time.sleep(0.3)
            sessions = []
            begin = [threading.Thread(target=lambda: sessions.append(gateway.begin("p"))) for _ in range(50)]
            for each in begin:
                each.start()
            for each in [*begin, measured]:
                each.join()
            if len(sessions) != 50 or not beside:
                die(f"{len(sessions)} of 50 sessions have begun")
            for each in sessions:
                gateway.end(each, "p")
            ratios.append(beside[0] / alone)
    report("a card's p99 while 50 sessions begin, by alone", statistics.median(ratios), "times", 1.5, " ".join(f"{each:.2f}" for each in ratios))


def measure_walk(given):
    with Processes() as started:
        server = started.server("--mcp", "1", "--tools", "10000")
        gateways = []
        for walk in ("0", "1s"):
            each = started.gateway({"bench": f'{{url: "http://{server}/mcp", protocol: mcp, walk: {walk}}}'})
            wait_for(lambda: each.metric('cardea_mcp_tools{agent="bench"}') in (10_000, None), "the tools")
            each.begin_one()
            gateways.append(each)
        ratios = []
        for _ in range(given.rounds):
            p99s = [calls_at_rate(each.address, "/agents/bench/mcp", "bench/tool.json", 500, given.seconds * 2, each.session)[1] for each in gateways]
            ratios.append(p99s[1] / p99s[0])
    report("a call's p99 while 10,000 tools are walked, by none", statistics.median(ratios), "times", 1.2, " ".join(f"{each:.2f}" for each in ratios))


class Npm(Gateway):
    """A package of npm in front of the same program: the work of Node, not that of the program."""

    def processes(self):
        found = [self.pid]
        for each in found:
            children = subprocess.run(["pgrep", "-P", str(each)], capture_output=True, text=True).stdout.split()
            found += [int(child) for child in children if os.path.basename(os.readlink(f"/proc/{child}/exe")) != "bench_program"]
        return found


def free_port():
    with contextlib.closing(socket.socket()) as some:
        some.bind(("127.0.0.1", 0))
        return some.getsockname()[1]


def measure_npm(given):
    if given.no_npm or shutil.which("npm") is None:
        print("npm's proxies: not measured", flush=True)
        return
    with Processes() as started:
        packages = [f"{name}@{version}" for name, version in npm_packages.items()]
        subprocess.run(["npm", "install", "--prefix", started.folder, "--no-audit", "--no-fund", "--loglevel=error", *packages], check=True)
        tools = started.folder / "node_modules/.bin"
        port, other = free_port(), free_port()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        on_load = f"taskset -c {load_core} {bench_program}"
        shared = started.start(proxy_core, [tools / "mcp-proxy", "--port", port, "--server", "stream", "--", *on_load.split()], **quiet)
        command = [tools / "supergateway", "--stdio", on_load, "--outputTransport", "streamableHttp", "--stateful", "--port", other, "--logLevel", "none"]
        own = started.start(proxy_core, command, **quiet)
        of_program = f"{{transport: {program(bench_program)}"
        pairs = {
            "mcp-proxy": (Npm(shared.pid, f"127.0.0.1:{port}", None, "/mcp"), started.gateway({"bench": of_program + ", sessions: shared}"})),
            "supergateway": (Npm(own.pid, f"127.0.0.1:{other}", None, "/mcp"), started.gateway({"bench": of_program + "}"})),
        }
        for name, (package, ours) in pairs.items():
            wait_for(lambda: socket.create_connection(package.address.split(":"), 1), name)
            package.begin_one()
            wait_for(lambda: post(ours.address, "/agents/bench/mcp", message(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}))[0] == 200, "Cardea")
            ours.begin_one()
        ratios = {name: [] for name in pairs}
        spent = {name: [] for name in pairs}
        for _ in range(given.rounds):
            for name, (package, ours) in pairs.items():
                theirs = cpu_of_calls(package, "/mcp", "bench/tool.json", given.seconds)
                mine = cpu_of_calls(ours, "/agents/bench/mcp", "bench/tool.json", given.seconds)
                ratios[name].append(mine / theirs)
                spent[name].append((mine, theirs))
    for name, all_ratios in ratios.items():
        mine, theirs = (statistics.median(each[i] for each in spent[name]) for i in (0, 1))
        how = "shared" if name == "mcp-proxy" else "own"
        report(f"CPU by {name} {npm_packages[name]}, sessions: {how}", statistics.median(all_ratios), "times", 0.1, f"{mine:.1f} by {theirs:.1f} ms per 1,000")


measurements = {
    "cpu": measure_cpu,
    "latency": measure_latency,
    "memory": measure_memory,
    "warm": measure_warm,
    "begins": measure_begins,
    "walk": measure_walk,
    "npm": measure_npm,
}


def prepare():
    """Chooses the cores, and says which."""
    global proxy_core, load_core
    if len(cores) < 2:
        die("this machine has one core for us: the gateway and its load need one each")
    proxy_core, load_core = cores[:2]
    for tool in ("wrk", "taskset"):
        shutil.which(tool) or die(f"{tool} is not installed")
    print(f"{os.uname().release}, gateway on core {proxy_core}, load on core {load_core}, load average {os.getloadavg()[0]:.2f}", flush=True)


def measure(options, measurements):
    """Takes those that are asked for. The exit code."""
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--only", nargs="+", choices=list(measurements), default=list(measurements))
    given = options.parse_args()
    prepare()
    for name in given.only:
        measurements[name](given)
    missed = rows.count(False)
    print(f"{len(rows)} figures, {missed} bars missed")
    return 1 if missed else 0


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--no-npm", action="store_true")
    return measure(options, measurements)


if __name__ == "__main__":
    sys.exit(main())
