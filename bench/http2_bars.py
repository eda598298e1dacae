#!/usr/bin/env python3
"""What HTTP/2 and gRPC cost, each figure beside its bar (bench/README.md says how to read them).

    bench/http2_bars.py [--rounds N] [--seconds S] [--only NAME...] [--previous FILE]

NAME: relay, json, http1, writes, memory, stalled. The proxies run on the first core that we may use; agents and callers on the second.
FILE is the gateway that http1 is compared with (also BENCH_PREVIOUS); without it that part is left out. Exit code 1 if a bar is missed.
"""
import argparse
import contextlib
import itertools
import os
import pathlib
import re
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import time

import mcp_bars
from mcp_bars import Processes, by, cpu_of_calls, cpu_seconds, die, free_port, measure, memory, report, root, wait_for, wait_for_card

send = "/lf.a2a.v1.A2AService/SendMessage"
send_v03 = "/a2a.v1.A2AService/SendMessage"
hold = "/lf.a2a.v1.A2AService/SendStreamingMessage"
stall = "/bench.Held/Stall"
grpc_fields = {"content-type": "application/grpc", "te": "trailers"}
json_fields = {"content-type": "application/json", "accept": "application/json"}
many = "limits: {requests: 1000000000, streams: 20000}\ndefaults: {limits: {in_flight: 20000, streams: 20000}}\n"


def field(number, content):
    """Of protocol buffers."""
    size, length = len(content), b""
    while size >= 0x80:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def prefixed(message):
    return b"\0" + len(message).to_bytes(4, "big") + message


def question(size=400, old=False):
    """A message of 1.0 to send, or of 0.3, of so many bytes with its prefix."""
    for dots in range(size, 0, -1):
        said = field(1, b"9c6b1f1e-4a4a-4d55-8d0d-5f0c5a9f7f10") + b"\x20\x01" + field(5, field(1, b"." * dots))
        whole = prefixed(field(1 if old else 2, said))
        if len(whole) <= size:
            return whole
    return die("no question is so small")


# What the proxies write for each call, as bench/proxies.sh has it.
lines = {
    "nginx": """'{"ts":"$time_iso8601","id":"$connection-$connection_requests","method":"$request_method",'
        '"path":"$uri","status":$status,"bytes_in":$request_length,"bytes_out":$bytes_sent,'
        '"ttfb":"$upstream_header_time","time":$request_time,"peer":"$remote_addr:$remote_port"}'""",
    "haproxy": """'{"ts":"%T","id":%rt,"method":"%HM","path":"%HPO","status":%ST,"bytes_in":%U,"bytes_out":%B,"ttfb":%Tr,"time":%Ta,"peer":"%ci:%cp"}'""",
    "nghttpx": '{"ts":"$time_iso8601","id":"$connection_id","method":"$method","path":"$path","status":$status,'
    '"bytes_out":$body_bytes_sent,"time":$request_time,"peer":"$remote_addr:$remote_port"}',
    "envoy": r'{\"ts\":\"%START_TIME%\",\"id\":\"%STREAM_ID%\",\"method\":\"%REQ(:METHOD)%\",\"path\":\"%REQ(:PATH)%\",'
    r"\"status\":%RESPONSE_CODE%,\"bytes_in\":%BYTES_RECEIVED%,\"bytes_out\":%BYTES_SENT%,\"ttfb\":\"%RESPONSE_DURATION%\","
    r"\"time\":\"%DURATION%\",\"peer\":\"%DOWNSTREAM_REMOTE_ADDRESS%\"}\n",
}

nginx_conf = """{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
    log_format bench escape=json {line};
    access_log {log} bench buffer=16k flush=100ms;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    upstream agent {{ server {agent}; keepalive 1024; keepalive_requests 1000000000; }}
    server {{
        listen {address} http2 backlog=4096;
        location / {{ grpc_pass grpc://agent; }}
    }}
}}
"""

haproxy_cfg = """global
    nbthread 1
    maxconn 4096
    log stderr format raw local0 info
defaults
    mode http
    log global
    option http-keep-alive
    http-reuse always
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    log-format {line}
frontend traffic
    bind {address} proto h2 backlog 4096
    use_backend agent
backend agent
    {path}
    server agent {agent} {protocol}
"""

envoy_yaml = """static_resources:
  listeners:
    - address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
      tcp_backlog_size: 4096
      filter_chains:
        - filters:
            - name: http
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: bench
                codec_type: HTTP2
                access_log: [{{name: file, typed_config: {{"@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog,
                  path: {log}, log_format: {{text_format_source: {{inline_string: "{line}"}}}}}}}}]
                http_filters: [{{name: router, typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]
                route_config:
                  virtual_hosts: [{{name: all, domains: ["*"], routes: [{{match: {{prefix: /}}, route: {{cluster: agent, timeout: 0s}}}}]}}]
  clusters:
    - name: agent
      connect_timeout: 5s
      circuit_breakers: {{thresholds: [{{max_connections: 20000, max_pending_requests: 20000, max_requests: 20000}}]}}
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: {{http2_protocol_options: {{}}}}
      load_assignment:
        cluster_name: agent
        endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {agent_port}}}}}}}}}]}}]
"""


class Proxy:
    """Another program in front of the agent, with one thread for its work; and Cardea's like."""

    def __init__(self, pid, address):
        self.pid, self.address = pid, address

    def processes(self):
        return [self.pid, *map(int, subprocess.run(["pgrep", "-P", str(self.pid)], capture_output=True, text=True).stdout.split())]


def start_proxy(started, name, agent, to_http2=True):
    folder = started.folder / name
    folder.mkdir()
    address = f"127.0.0.1:{free_port()}"
    log = folder / "access.log"
    known = {
        "folder": folder,
        "address": address,
        "port": address.split(":")[1],
        "agent": agent,
        "agent_port": agent.split(":")[1],
        "log": log,
        "line": lines[name],
        "user": "user root root;" if os.getuid() == 0 else "",
        "protocol": "proto h2" if to_http2 else "",
        "path": "" if to_http2 else "http-request set-path /a2a",
    }
    command = {
        "nghttpx": ["nghttpx", f"-f{address.replace(':', ',')};no-tls", f"-b{agent.replace(':', ',')};/;proto=h2", "-n1", "-LERROR"]
        + [f"--accesslog-file={log}", f"--accesslog-format={lines['nghttpx']}", "--conf=/dev/null"],
        "nginx": ["nginx", "-p", folder, "-e", folder / "error.log", "-c", folder / "conf"],
        "haproxy": ["haproxy", "-db", "-f", folder / "conf"],
        "envoy": [envoy_program(), "-c", folder / "conf.yaml", "--concurrency", "1", "--disable-hot-restart", "--file-flush-interval-msec", "100", "-l", "error"],
    }[name]
    template = {"nginx": nginx_conf, "haproxy": haproxy_cfg, "envoy": envoy_yaml}.get(name)
    if template:
        (folder / ("conf.yaml" if name == "envoy" else "conf")).write_text(template.format(**known))
    with (log if name == "haproxy" else folder / "said").open("w") as said:
        one = started.start(mcp_bars.proxy_core, command, stdout=said, stderr=said)
    wait_for(lambda: socket.create_connection(address.split(":"), 1).close() or True, name)
    return Proxy(one.pid, address)


def envoy_program():
    found = list(root.glob("build/envoy/lib/python3*/site-packages/envoy/_bin/envoy"))
    return found[0] if found else shutil.which("envoy") or die("envoy is not installed")


def agent_of(started, body=1024):
    one = started.start(mcp_bars.load_core, [mcp_bars.binaries / "bench_grpc_agent", "--body", body], stdout=subprocess.PIPE, text=True)
    return f"127.0.0.1:{one.stdout.readline().strip()}"


def grpc_agent(address, more=""):
    return f'{{url: "grpc://{address}", speaks: [1.0/grpc], card: {{name: bench}}{more}}}'


def load(address, path, body, fields, clients, streams, *, calls=None, seconds=None, more=()):
    """By h2load; calls for each second."""
    command = ["taskset", "-c", mcp_bars.load_core, "h2load", "-t1", f"-c{clients}", f"-m{streams}"]
    command += [f"-d{body}"] if body else []
    command += [f"-H{name}: {value}" for name, value in fields.items()]
    command += [f"-n{calls}" if calls else f"-D{seconds}", *more, f"http://{address}{path}"]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    counted = re.search(r"(\d+) total, \d+ started, (\d+) done, (\d+) succeeded", said)
    rate = re.search(r"finished in .*, ([\d.]+) req/s", said)
    if calls and counted.group(3) != str(calls):
        die(f"{address}{path}: {counted.group(0)} of {calls}")
    return float(rate.group(1))


def check_answer(address, path, body, fields, wanted=None):
    """The answer to one call; of gRPC with status 0."""
    command = ["curl", "-sS", "--max-time", "10", "--http2-prior-knowledge", "-D", "/dev/stderr", "--data-binary", f"@{body}"]
    command += [each for name, value in fields.items() for each in ("-H", f"{name}: {value}")]
    said = subprocess.run([*command, f"http://{address}{path}"], capture_output=True, check=True)
    got, head = said.stdout, said.stderr.decode()
    fine = got == wanted if wanted else len(got) > 500
    status = re.search(r"^grpc-status: *(\d+)", head, re.M | re.I)
    if not fine or (fields is grpc_fields and (not status or status.group(1) != "0")):
        die(f"{address}{path}: {len(got)} bytes, {head} {got[:300]}")
    return got


def check_statuses(proxy):
    """h2load knows statuses of HTTP alone, and errors are cheaper than calls."""
    said = proxy.metrics() if hasattr(proxy, "metrics") else ""
    failed = re.findall(r'^cardea_grpc_calls_total{.*status="(?!OK").*} [1-9].*$|^cardea_errors_total{.* [1-9].*$', said, re.M)
    if failed:
        die(f"calls have failed: {failed}")


def cpu_by_round(contenders, given):
    """Milliseconds for 1,000 calls, by round; contenders: {name: (proxy, load's arguments)}."""
    calls = {}
    for name, (proxy, how) in contenders.items():
        load(proxy.address, *how, calls=how[3] * how[4] * 20)
        calls[name] = int(load(proxy.address, *how, seconds=1) * given.seconds / how[3] / how[4] + 1) * how[3] * how[4]
    rounds = []
    for _ in range(given.rounds):
        spent = {}
        for name, (proxy, how) in contenders.items():
            before = cpu_seconds(proxy.processes())
            load(proxy.address, *how, calls=calls[name])
            spent[name] = (cpu_seconds(proxy.processes()) - before) * 1e6 / calls[name]
            check_statuses(proxy)
        print("  ", " ".join(f"{name} {each:.2f}" for name, each in spent.items()), flush=True)
        rounds.append(spent)
    return rounds


relays = {
    "8x32, 1 KiB": (1024, 8, 32, {"nghttpx": 1.3, "haproxy": 0.5, "nginx": 0.3, "envoy": 0.3}),
    "64x1, 1 KiB": (1024, 64, 1, {"nghttpx": 1.15, "haproxy": 0.7, "nginx": 0.55, "envoy": 0.45}),
    "8x8, 64 KiB": (65536, 8, 8, {"nghttpx": 1.2, "haproxy": 0.35, "envoy": 0.7}),
}


def gateway_of(started, agent, more=""):
    return started.gateway({"bench": agent}, f"{many}grpc: {{default_agent: bench}}\n{more}")


def measure_relay(given):
    for what, (size, clients, streams, bars) in relays.items():
        with Processes() as started:
            agent = agent_of(started, size)
            body = started.folder / "question"
            body.write_bytes(question())
            wanted = check_answer(agent, send, body, grpc_fields)
            proxies = {"cardea": gateway_of(started, grpc_agent(agent))}
            proxies |= {name: start_proxy(started, name, agent) for name in bars}
            for each in proxies.values():
                check_answer(each.address, send, body, grpc_fields, wanted)
            how = (send, body, grpc_fields, clients, streams)
            rounds = cpu_by_round({name: (each, how) for name, each in proxies.items()}, given)
            for name, bar in bars.items():
                by(rounds, "cardea", name, f"relayed gRPC, {what}, by {name}", bar)


def measure_json(given):
    with Processes() as started:
        agent = started.server()
        gateway = gateway_of(started, f'{{url: "http://{agent}/a2a", speaks: [0.3/jsonrpc], card: {{name: bench}}}}')
        old, new = started.folder / "old", started.folder / "new"
        old.write_bytes(question(old=True))
        new.write_bytes(question())
        direct = ("/agents/bench", root / "bench/call.json", json_fields, 8, 32)
        contenders = {
            "cardea": (gateway, direct),
            "haproxy": (start_proxy(started, "haproxy", agent, to_http2=False), direct),
            "translated": (gateway, (send_v03, old, grpc_fields, 8, 32)),
            "across": (gateway, (send, new, grpc_fields, 8, 32)),
        }
        for name, (proxy, how) in contenders.items():
            check_answer(proxy.address, *how[:3])
        rounds = cpu_by_round(contenders, given)
        by(rounds, "cardea", "haproxy", "JSON-RPC, HTTP/2 to HTTP/1.1, 8x32, by haproxy", 0.85)
        by(rounds, "translated", "cardea", "gRPC to JSON-RPC, translated, by JSON-RPC", 1.4)
        by(rounds, "across", "cardea", "the same, across generations", 1.8)


def measure_http1(given):
    previous = given.previous or os.environ.get("BENCH_PREVIOUS")
    if not previous:
        print("HTTP/1.1 by the previous build: not measured", flush=True)
        return
    scenarios = {"call": ("1024", "/agents/bench", "bench/call.json"), "large": ("65536", "/agents/bench", "bench/call.json")}
    scenarios["card"] = ("1024", "/agents/bench/.well-known/agent-card.json", None)
    for what, (size, target, body) in scenarios.items():
        with Processes() as started:
            agent = {"bench": f'{{url: "http://{started.server("--body", size)}/a2a"}}'}
            ours = started.gateway(agent, many)
            binaries, mcp_bars.binaries = mcp_bars.binaries, started.folder
            (started.folder / "cardea").symlink_to(previous)
            (started.folder / "bench_upstream").symlink_to(binaries / "bench_upstream")
            theirs = started.gateway(agent, many)
            mcp_bars.binaries = binaries
            for each in (ours, theirs):
                wait_for_card(each)
            rounds = []
            for number in range(2 * given.rounds + 1):
                order = (("ours", ours), ("previous", theirs))
                spent = {name: cpu_of_calls(each, target, body, given.seconds if number else 1) for name, each in order[:: 1 - number % 2 * 2]}
                rounds += [spent] if number else []
            by(rounds, "ours", "previous", f"HTTP/1.1, {what}, by the previous build", 1.01)


def measure_writes(_):
    with Processes() as started:
        agent = agent_of(started)
        body = started.folder / "question"
        body.write_bytes(question())
        counted = started.folder / "counted"
        gateway = gateway_of(started, grpc_agent(agent))
        traced = started.start(mcp_bars.load_core, ["strace", "-f", "-c", "-e", "trace=sendmsg,sendto,write,writev", "-o", counted, "-p", gateway.pid], stderr=subprocess.DEVNULL)
        wait_for(lambda: "TracerPid:\t0" not in pathlib.Path(f"/proc/{gateway.pid}/status").read_text(), "strace")
        load(gateway.address, send, body, grpc_fields, 8, 32, calls=25_600)
        traced.terminate()
        traced.wait()
        found = re.search(r"^100\.00\s+\S+\s+\S+\s+(\d+)", counted.read_text(), re.M)
        report("writes for each call, 8x32", int(found.group(1)) / 25_600, "", 0.1)


class Line:
    """A connection of HTTP/2 that is kept, by hand."""

    def __init__(self, address, context=None):
        self.address = address
        self.socket = socket.create_connection(address.split(":"), 10)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.next = 1
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(4, 0, 0, b"") + self.frame(4, 1, 0, b""))

    @staticmethod
    def frame(kind, flags, stream, payload):
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

    def ask(self, verb, path, fields, body=None, ends=True):
        text = lambda value: bytes([len(value)]) + value.encode()
        block = b"".join(b"\0" + text(name) + text(value) for name, value in {":method": verb, ":scheme": "http", ":path": path, ":authority": self.address, **fields}.items())
        stream, self.next = self.next, self.next + 2
        out = self.frame(1, 4 if body is not None else 5, stream, block)
        if body is not None:
            out += self.frame(0, 1 if ends else 0, stream, body)
        self.socket.sendall(out)

    def wait(self, count, seconds=10):
        """Until so many DATA frames have come."""
        got, until = b"", time.monotonic() + seconds
        while count > 0:
            self.socket.settimeout(max(until - time.monotonic(), 0.01))
            got += self.socket.recv(65536) or die("the connection has ended")
            while len(got) >= 9 and len(got) >= 9 + int.from_bytes(got[:3], "big"):
                count -= got[3] == 0 and int.from_bytes(got[:3], "big") > 0
                got = got[9 + int.from_bytes(got[:3], "big") :]


def measure_memory(_):
    def growth(gateway, make, first, then):
        kept = [make() for _ in range(first)]
        time.sleep(2)
        before = memory(gateway.pid)
        kept += [make() for _ in range(then)]
        time.sleep(2)
        return (memory(gateway.pid) - before) / then / 1000

    with Processes() as started:
        agent = agent_of(started)
        certificate, key = started.folder / "cert.pem", started.folder / "key.pem"
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
        subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
        context = ssl.create_default_context(cafile=certificate)
        context.set_alpn_protocols(["h2"])
        for what, more, tls, bar in (("idle connection", "", None, 32), ("idle connection, TLS", f"tls: {{cert: {certificate}, key: {key}}}\n", context, 48)):
            gateway = gateway_of(started, grpc_agent(agent), more)

            def idle():
                line = Line(gateway.address, tls)
                line.ask("POST", send, grpc_fields, question())
                line.wait(1)
                return line

            report(what, growth(gateway, idle, 100, 1000), "kB", bar)
        gateway = gateway_of(started, grpc_agent(agent))


        def open_streams(line, count):
            for _ in range(count):
                line.ask("POST", hold, grpc_fields, question())
            line.wait(count)
            return line

        # A connection has a bar of its own.
        lines = iter([open_streams(Line(gateway.address), 8) for _ in range(12)])
        figure = growth(gateway, lambda: open_streams(next(lines), 50), 0, 12) / 50
        open_now = [gateway.metric(f'cardea_http2_streams{{side="{side}"}}') for side in ("caller", "agent")]
        report("open stream of gRPC, both sides", figure, "kB", 8, f"open: {open_now}")


def measure_stalled(given):
    """Callers of the same agent: small calls, and streams whose bytes it does not take."""

    def p99(log):
        times = sorted(int(line.split("\t")[2]) for line in log.read_text().splitlines())
        return times[int(len(times) * 0.99)] / 1000

    with Processes() as started:
        agent = agent_of(started)
        small, large = started.folder / "small", started.folder / "large"
        small.write_bytes(question())
        large.write_bytes(prefixed(b"." * 1_000_000))
        ratios, each = [], {}
        for number in range(given.rounds + 1):
            gateways = {name: gateway_of(started, grpc_agent(agent, ", relay_services: [bench.Held]")) for name in ("alone", "beside")}
            line = Line(gateways["beside"].address)
            for _ in range(63):
                line.ask("POST", stall, grpc_fields, prefixed(b"." * 1_000_000)[:16_000], ends=False)
            for stream, _ in itertools.product(range(1, 127, 2), range(3)):
                line.socket.sendall(line.frame(0, 0, stream, b"." * 16_000))
            for name, gateway in gateways.items():
                log = started.folder / name
                load(gateway.address, send, small, grpc_fields, 1, 1, seconds=given.seconds, more=[f"--log-file={log}"])
                each[name] = p99(log)
            if number:
                ratios.append(each["beside"] / each["alone"])
        report("p99 of small calls beside 63 that the agent does not take", statistics.median(ratios), "times", 2, f"{each['beside']:.3f} by {each['alone']:.3f} ms")


measurements = {
    "relay": measure_relay,
    "json": measure_json,
    "http1": measure_http1,
    "writes": measure_writes,
    "memory": measure_memory,
    "stalled": measure_stalled,
}


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--previous", help="the gateway that http1 is compared with")
    return measure(options, measurements)


if __name__ == "__main__":
    sys.exit(main())
