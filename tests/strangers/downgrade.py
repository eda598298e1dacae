#!/usr/bin/env python3
"""Heads of HTTP/2 that try to become more than one request, in front of agents of HTTP/1.1: nginx, HAProxy, Node, uvicorn (h11, httptools).

downgrade.py PYTHON [HEADS [SEED]]: PYTHON has uvicorn and httptools, CARDEA_BIN names the gateway. Each head has a traceparent of its own, so
that an agent's log and the access log can be compared: each agent must have seen exactly the requests of the access log, once each, with the
body that was sent. A field or a path of a smuggled request fails the test wherever it is seen.
"""
import json
import os
import random
import re
import socket
import struct
import sys
import tempfile
import time

from started import Started, await_port, free_ports

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
PER_CONNECTION = 200  # Cardea ends a connection whose faults make it reset more than a thousand streams

# What would be seen at an agent if Cardea passed it on as it came.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\nx-smuggled: 1\r\n\r\n"
INJECTED = b"\r\nx-smuggled: 1"


def text(*lines):
    return b"\r\n".join(lines)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A field that no table of HPACK has, without Huffman coding: any byte can be in it."""

    def string(of):
        if len(of) < 127:
            return bytes([len(of)]) + of
        left, out = len(of) - 127, b"\x7f"
        while left >= 128:
            out += bytes([left % 128 + 128])
            left //= 128
        return out + bytes([left]) + of

    return b"\x00" + string(name) + string(value)


class Head:
    def __init__(self, number, agent, authority, dice):
        self.dice = dice
        self.number = number
        self.method = dice.choice([b"GET", b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"HEAD"])
        self.body = dice.choice([b"", b"", b"hello", SMUGGLED, b"0\r\n\r\n" + SMUGGLED, b"5\r\nhello\r\n0\r\n\r\n"])
        self.pseudo = [
            [b":method", self.method],
            [b":scheme", b"http"],
            [b":path", b"/agents/%s/x/%d" % (agent, number)],
            [b":authority", authority],
        ]
        self.fields = [[b"traceparent", b"00-%032x-%016x-01" % (number + 1, number + 1)], [b"accept", b"*/*"]]
        if self.body and dice.random() < 0.3:
            self.fields.append([b"content-length", b"%d" % len(self.body)])
        self.trailers = []

    def set(self, name, value):
        for field in self.pseudo:
            if field[0] == name:
                field[1] = value

    def get(self, name):
        return dict((field[0], field[1]) for field in self.pseudo)[name]

    def add(self, name, value):
        self.fields.insert(self.dice.randrange(len(self.fields) + 1), [name, value])

    def frames(self, stream):
        """The stream as frames, cut in a place that means nothing."""
        dice = self.dice
        block = b"".join(literal(*field) for field in self.pseudo + self.fields)
        alone = not self.body and not self.trailers and dice.random() < 0.7
        flags = END_STREAM if alone else 0
        cut = dice.randrange(1, len(block)) if dice.random() < 0.2 else 0
        if cut:
            out = frame(HEADERS, flags, stream, block[:cut]) + frame(CONTINUATION, END_HEADERS, stream, block[cut:])
        elif dice.random() < 0.2:
            out = frame(HEADERS, flags | END_HEADERS | PADDED, stream, bytes([5]) + block + b"\0" * 5)
        else:
            out = frame(HEADERS, flags | END_HEADERS, stream, block)
        if alone:
            return out
        cut = dice.randrange(len(self.body) + 1)
        if 0 < cut < len(self.body):
            out += frame(DATA, 0, stream, self.body[:cut])
        else:
            cut = 0
        out += frame(DATA, 0 if self.trailers else END_STREAM, stream, self.body[cut:])
        if self.trailers:
            out += frame(HEADERS, END_STREAM | END_HEADERS, stream, b"".join(literal(*field) for field in self.trailers))
        return out


# H2.CL: lengths that are not that of the body.
def wrong_length(head):
    size = len(head.body)
    value = head.dice.choice(
        [b"%d" % (size + 1), b"%d" % max(size - 1, 0), b"0", b"+%d" % size, b"-1", b"0x%x" % size, b"%d, %d" % (size, size), b"%d " % size]
        + [b" %d" % size, b"0%d" % size, b"", b"99999999999999999999", b"18446744073709551616", b"%d\r\nTransfer-Encoding: chunked" % size]
        + [b"%d%s" % (size, INJECTED), b"%d\0" % size, b"%d;" % size, b"\xd9\xa1"]
    )
    head.add(b"content-length", value)


def two_lengths(head):
    size = len(head.body)
    head.add(b"content-length", b"%d" % size)
    head.add(b"content-length", b"%d" % head.dice.choice([size, 0, size + 7]))


# H2.TE: a coding that only HTTP/1.1 has, also where a lenient reader finds it.
def coding(head):
    dice = head.dice
    name = dice.choice(
        [b"transfer-encoding", b"Transfer-Encoding", b"transfer-encoding ", b" transfer-encoding", b"transfer-encoding:", b"transfer_encoding"]
        + [b"transfer-encoding\t", b"transfer-encoding\0", b"transfer-encoding\r\n", b"\ntransfer-encoding", b"transfer-encodin\xc7\xb5", b"x-te"]
    )
    value = dice.choice(
        [b"chunked", b"Chunked", b"chunked, identity", b"identity, chunked", b" chunked", b"\tchunked", b"chunked\0", b"xchunked", b"\x0bchunked"]
        + [b"x\r\n chunked", b"x\nTransfer-Encoding: chunked", b"x\rTransfer-Encoding: chunked", b'"chunked"', b"chunked;a=b", b""]
    )
    head.add(name, value)


def injected_value(head):
    value = head.dice.choice(
        [b"a" + INJECTED, b"a\nx-smuggled: 1", b"a\rx-smuggled: 1", b"a\0b", b"a\r\n\r\n" + SMUGGLED, b"a\n\n" + SMUGGLED, b"\r\n x", b"a\x7f"]
        + [b"a\x01", b" a", b"a ", b"\ta", b"a\r", b"a\n", b"\r\nx-smuggled: 1", b"a\xff\xfe", b"a\xe5\x98\x8a\xe5\x98\x8dx-smuggled: 1"]
    )
    head.add(head.dice.choice([b"x-a", b"cookie", b"user-agent", b"accept-language", b"referer", b"content-type", b"x-forwarded-for"]), value)


def injected_name(head):
    name = head.dice.choice(
        [b"x-a: b" + INJECTED + b"\r\nx-b", b"x-a\nx-smuggled", b"x-a\rx-smuggled", b"x-a\r\n\r\n" + SMUGGLED + b"x", b"x a", b"x:a", b":x", b""]
        + [b"x\0a", b"X-Upper", b"x\xe4", b"x-smuggled:1\r\nx", b"get / http/1.1", b"x\x7f", b"(x)", b"x/a", b"x,a", b"x@a", b"x\ta", b" x", b"x "]
    )
    head.add(name, b"1")


def hop_by_hop(head):
    name, value = head.dice.choice(
        [(b"connection", b"close"), (b"connection", b"x-forwarded-for"), (b"connection", b"content-length"), (b"keep-alive", b"timeout=5")]
        + [(b"upgrade", b"h2c"), (b"upgrade", b"websocket"), (b"proxy-connection", b"keep-alive"), (b"te", b"trailers"), (b"te", b"gzip, chunked")]
        + [(b"http2-settings", b"AAMAAABk"), (b"trailer", b"content-length"), (b"expect", b"100-continue"), (b"expect", b"200-ok")]
    )
    head.add(name, value)


def path(head):
    own = head.get(b":path")
    value = head.dice.choice(
        [own + b" HTTP/1.1" + INJECTED, own + b" HTTP/1.1\r\n\r\n" + SMUGGLED, own + b" x", b" " + own, own + b"\t", own + b"\0", own + b"#a", b"*"]
        + [own + b"\r\n", own + b"\nx-smuggled: 1", b"", b"/", b"http://a/smuggled", own + b"?a b", own + b"?<>", own + b'"', own + b"^", own + b"`"]
        + [own + b"\\..\\smuggled", own + b"/../../../smuggled", own + b"/%2e%2e/a", own + b"%0d%0ax-smuggled:%201", own + b"%", own + b"%zz"]
        + [own + b"\xc4\x8d\xc4\x8a", own + b"\x80", b"//a" + own, own + b"?a=%0d%0a", own + b"//b", own + b"?" + b"q" * 300, own + b";a=b", own + b"{}"]
    )
    head.set(b":path", value)


def method(head):
    value = head.dice.choice(
        [b"GET /smuggled HTTP/1.1" + INJECTED + b"\r\n\r\nGET", b"get", b"GET ", b" GET", b"", b"CONNECT", b"PRI", b"TRACE", b"G\0T", b"GET\r\n"]
        + [b"PROPFIND", b"GET\t/smuggled", b"G(T", b"\xc7ET", b"M-SEARCH", b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\nGET"]
    )
    head.set(b":method", value)


def scheme(head):
    head.set(
        b":scheme",
        head.dice.choice([b"https", b"HTTP", b"ftp", b"", b"http ", b"http\r\n", b"http://a/smuggled?", b"http" + INJECTED, b"ht\0tp", b"http:"]),
    )


def authority(head):
    own = head.get(b":authority")
    value = head.dice.choice(
        [own + INJECTED, b"user@" + own, own + b":1", own + b"/", own + b" ", b"", b"a\r\n\r\n" + SMUGGLED, own + b"\0", b"[::1", own + b"?", b"a,b"]
        + [own + b"\n", b"http://" + own, b"\xff", own + b"#", b"a b", own + b"@evil", own + b"\\"]
    )
    head.set(b":authority", value)


def hosts(head):
    own = head.get(b":authority")
    for _ in range(head.dice.choice([1, 1, 2])):
        head.add(b"host", head.dice.choice([own, b"evil", own + INJECTED, b"", own + b":80", b"a b"]))
    if head.dice.random() < 0.4:
        head.pseudo = [field for field in head.pseudo if field[0] != b":authority"]


def pseudo_fields(head):
    kind = head.dice.randrange(6)
    if kind == 0:
        head.pseudo.append(list(head.dice.choice(head.pseudo)))
    elif kind == 1:
        head.pseudo.remove(head.dice.choice(head.pseudo))
    elif kind == 2:
        head.fields.append(head.pseudo.pop(head.dice.randrange(len(head.pseudo))))
    elif kind == 3:
        head.pseudo.append([head.dice.choice([b":x", b":status", b":protocol", b":", b":Path", b":host", b": path"]), b"1"])
    elif kind == 4:
        head.dice.shuffle(head.pseudo)
    else:
        head.fields.append([b":path", b"/smuggled"])


def trailers(head):
    head.trailers = head.dice.choice(
        [[[b"x-a", b"1"]], [[b":path", b"/smuggled"]], [[b"content-length", b"0"]], [[b"transfer-encoding", b"chunked"]], [[b"host", b"evil"]]]
        + [[[b"x-a", b"1" + INJECTED]], [[b"x-smuggled", b"1"]], [[b"x\r\nx-smuggled", b"1"]], [[b"X-A", b"1"]], [[b"connection", b"close"]]]
        + [[[b"x-a", b"1\r\n\r\n" + SMUGGLED]], [[b"cookie", b"a\0b"]]]
    )


MUTATIONS = [wrong_length, two_lengths, coding, injected_value, injected_name, hop_by_hop, path, method, scheme, authority, hosts]
MUTATIONS += [pseudo_fields, trailers]


def generate(number, agent, listen, dice):
    head = Head(number, agent, listen, dice)
    for mutate in dice.sample(MUTATIONS, dice.choice([0, 0, 1, 1, 1, 1, 2, 3])):
        try:
            mutate(head)
        except KeyError:
            pass  # what it changes is no longer there
    return head


class Connection:
    """Sends streams and waits until each has ended."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(20)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0))
        self.read = b""
        self.stream = 1
        self.open = set()
        self.resets = 0

    def send(self, heads):
        out = b""
        for head in heads:
            out += head.frames(self.stream)
            self.open.add(self.stream)
            self.stream += 2
        self.socket.sendall(out)
        while self.open:
            if not self.take_frames():
                more = self.socket.recv(65536)
                if not more:
                    raise SystemExit(f"the connection ended with {len(self.open)} streams open")
                self.read += more

    def take_frames(self):
        taken = False
        while len(self.read) >= 9:
            size = int.from_bytes(self.read[:3], "big")
            if len(self.read) < 9 + size:
                break
            kind, flags, stream = self.read[3], self.read[4], int.from_bytes(self.read[5:9], "big")
            self.read = self.read[9 + size :]
            taken = True
            if kind == GOAWAY:
                raise SystemExit("GOAWAY for what is a fault of streams")
            if kind == SETTINGS and not flags & 1:
                self.socket.sendall(frame(SETTINGS, 1, 0))
            if kind == RST_STREAM:
                self.resets += stream in self.open
                self.open.discard(stream)
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                self.open.discard(stream)
        return taken


NGINX = """
worker_processes 1; daemon off; pid %(folder)s/nginx.pid; error_log %(folder)s/nginx.err;
events {}
http {
  log_format seen '$request_method|$request_uri|$http_traceparent|$http_x_smuggled|$content_length|$http_transfer_encoding';
  access_log %(folder)s/nginx.log seen;
  client_body_temp_path %(folder)s; proxy_temp_path %(folder)s; fastcgi_temp_path %(folder)s; uwsgi_temp_path %(folder)s;
  scgi_temp_path %(folder)s; keepalive_requests 1000000;
  server { listen 127.0.0.1:%(port)d; location / { return 200 ok; } }
}
"""
HAPROXY = """
global
    log stdout format raw local0
defaults
    mode http
    timeout client 60s
    timeout server 60s
    timeout connect 5s
    timeout http-request 5s
    option dontlognull
frontend f
    bind 127.0.0.1:%(port)d
    option http-buffer-request
    log global
    log-format "%%HM|%%HU|%%[capture.req.hdr(0)]|%%[capture.req.hdr(1)]|%%[capture.req.hdr(2)]|%%[capture.req.hdr(3)]"
    http-request capture hdr(traceparent) len 64
    http-request capture hdr(x-smuggled) len 64
    http-request capture req.body_size len 10
    http-request capture hdr(transfer-encoding) len 64
    http-request return status 200 content-type text/plain string ok
"""
NODE = """
const server = require('http').createServer({ insecureHTTPParser: true }, (request, answer) => {
  let size = 0;
  request.on('data', (piece) => (size += piece.length));
  request.on('end', () => {
    const fields = request.headers;
    console.log([request.method, request.url, fields.traceparent, fields['x-smuggled'] ?? request.trailers['x-smuggled'] ?? '', size, ''].join('|'));
    answer.end('ok');
  });
});
server.on('clientError', (why, socket) => { console.log('bad request: ' + why.code); socket.destroy(); });
server.keepAliveTimeout = 60000;
server.listen(Number(process.argv[1]), '127.0.0.1');
"""
UVICORN = """
async def app(scope, receive, send):
    size, more = 0, True
    while more:
        piece = await receive()
        size += len(piece.get('body', b''))
        more = piece.get('more_body', False)
    fields = dict(scope['headers'])
    path = scope['raw_path'].decode('latin1') + ('?' + scope['query_string'].decode('latin1') if scope['query_string'] else '')
    trace, marked = fields.get(b'traceparent', b'').decode('latin1'), fields.get(b'x-smuggled', b'').decode('latin1')
    print('|'.join([scope['method'], path, trace, marked, str(size), '']), flush=True)
    await send({'type': 'http.response.start', 'status': 200, 'headers': [(b'content-length', b'2')]})
    await send({'type': 'http.response.body', 'body': b'ok'})
"""


class Peers(Started):
    """The agents and the gateway, with the file that each writes."""

    def __init__(self, folder, python):
        super().__init__(folder)
        names = ["nginx", "haproxy", "node", "h11", "httptools"]
        *ports, self.port, admin = free_ports(len(names) + 2)
        self.agents = dict(zip(names, ports))
        uvicorn = [python, "-u", "-m", "uvicorn", "--app-dir", folder, "agent:app", "--no-access-log", "--timeout-keep-alive", "60"]
        uvicorn += ["--log-level", "warning", "--lifespan", "off"]
        self.write("nginx.conf", NGINX % {"folder": folder, "port": ports[0]})
        self.write("haproxy.cfg", HAPROXY % {"port": ports[1]})
        self.write("agent.py", UVICORN)
        self.start("nginx.out", ["nginx", "-p", folder, "-c", folder + "/nginx.conf"])
        self.start("haproxy.log", ["haproxy", "-db", "-f", folder + "/haproxy.cfg"])
        self.start("node.log", ["node", "-e", NODE, str(ports[2])])
        self.start("h11.log", uvicorn + ["--http", "h11", "--port", str(ports[3])])
        self.start("httptools.log", uvicorn + ["--http", "httptools", "--port", str(ports[4])])
        agents = "".join(
            f'  {name}: {{url: "http://127.0.0.1:{port}/", relay_paths: ["/**"], card: {{name: x}}}}\n' for name, port in self.agents.items()
        )
        self.write(
            "cardea.yml",
            f"listen: 127.0.0.1:{self.port}\nadmin: 127.0.0.1:{admin}\nstore: memory\nlog: {{level: info, format: json}}\n"
            f"defaults: {{breaker: {{failures: 100000, volume: 100000}}}}\nagents:\n{agents}",
        )
        for port in ports:
            await_port(port)
        self.start("cardea.log", [os.environ["CARDEA_BIN"], "run", "-c", folder + "/cardea.yml"])
        await_port(self.port)

    def lines(self, name):
        with open(self.file(name + ".log"), encoding="latin1") as file:
            return file.read().split("\n")[:-1]


def access_lines(peers):
    return [line for line in map(json.loads, peers.lines("cardea")) if line.get("event") == "request"]


def faults_of(name, seen, logged, heads):
    """What an agent saw beside what the access log has. `logged`: head to attempts."""
    faults = []
    counts = {}
    for line in seen:
        if "<BADREQ>" in line or line.count("|") != 5:
            faults.append(f"{name} saw no request: {line[:200]}")
            continue
        method_seen, path_seen, trace, marked, size, te = line.split("|")
        number = int(trace[3:35], 16) - 1 if re.fullmatch(r"00-[0-9a-f]{32}-.*", trace) else None
        if number is None or number not in logged:
            faults.append(f"{name} saw a request that no access line has: {line[:200]}")
            continue
        counts[number] = counts.get(number, 0) + 1
        head = heads[number]
        own = b"/x/%d" % number
        if marked not in ("", "-") or not path_seen.encode("latin1").startswith(own) or method_seen.encode() != head.get(b":method"):
            faults.append(f"{name} saw another request than {number}: {line[:200]}")
        if te in ("", "-") and int(size if size not in ("", "-") else 0) != len(head.body):
            faults.append(f"{name} saw another body than that of {number}: {line[:200]}")
    for number, attempts in logged.items():
        if counts.get(number, 0) != attempts:
            faults.append(f"{name} saw request {number} {counts.get(number, 0)} times, the access line has {attempts}")
    return faults


def main():
    python = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 39)
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(folder, python)
        try:
            names = list(peers.agents)
            listen = b"127.0.0.1:%d" % peers.port
            heads = [generate(number, names[number % len(names)].encode(), listen, dice) for number in range(count)]
            resets = 0
            for first in range(0, count, PER_CONNECTION):
                connection = Connection(peers.port)
                for at in range(first, min(first + PER_CONNECTION, count), 50):
                    connection.send(heads[at : min(at + 50, first + PER_CONNECTION, count)])
                resets += connection.resets
                connection.socket.close()
            wanted, until = count - resets, time.time() + 10
            while len(access_lines(peers)) < wanted and time.time() < until:
                time.sleep(0.1)
        finally:
            peers.stop()
        lines = access_lines(peers)
        faults, statuses = [], {}
        for name in names:
            logged = {}
            for line in lines:
                if line.get("agent") == name and line.get("attempts"):
                    logged[int(line["trace_id"], 16) - 1] = line["attempts"]
            faults += faults_of(name, peers.lines(name), logged, heads)
            print(f"{name}: {len(logged)} requests")
            if len(logged) < count / len(names) / 10:
                faults.append(f"{name} got hardly any request")
        for line in lines:
            statuses[line["status"]] = statuses.get(line["status"], 0) + 1
        print(f"{count} heads: {resets} streams reset, answers {dict(sorted(statuses.items()))}")
        if len(lines) < wanted:
            faults.append(f"{len(lines)} access lines for {wanted} streams that were not reset")
        for fault in faults[:20]:
            print(fault)
        if faults:
            raise SystemExit(f"downgrade: FAILED, {len(faults)} faults")
        print("downgrade: passed")


if __name__ == "__main__":
    main()
