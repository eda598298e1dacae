#!/usr/bin/env python3
"""Programs of others over HTTP/2 through Cardea: grpc-go's interop client and server, Envoy on either side, grpcurl, curl, nghttp, h2load.

strangers.py GO_BIN PYTHON ENVOY: GO_BIN has interop_client, interop_server and grpcurl; PYTHON has grpcio-reflection and
grpcio-health-checking; ENVOY is the program. CARDEA_BIN names the gateway. Each interop case runs directly too: one that fails there says
nothing of Cardea.
"""
import http.server
import os
import subprocess
import sys
import tempfile
import threading

from started import Started, await_port, free_ports

# All cases of the client that need no account at a cloud, and that its server supports.
CASES = """empty_unary large_unary client_streaming server_streaming ping_pong empty_stream timeout_on_sleeping_server cancel_after_begin
    cancel_after_first_response status_code_and_message special_status_message custom_metadata unimplemented_method unimplemented_service
    rpc_soak channel_soak""".split()
SOAK = ["-soak_iterations", "200", "-soak_num_threads", "8", "-soak_min_time_ms_between_rpcs", "0", "-soak_overall_timeout_seconds", "30"]

ENVOY = """
static_resources:
  listeners:
%(listeners)s
  clusters:
%(clusters)s
"""
LISTENER = """    - address: {socket_address: {address: 127.0.0.1, port_value: %(port)d}}
      filter_chains:
        - filters:
            - name: http
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: strangers
                codec_type: AUTO
                http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
                route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: to_%(to)d, timeout: 0s}}]}]}
"""
CLUSTER = """    - name: to_%(to)d
      connect_timeout: 5s
      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          explicit_http_config: {http2_protocol_options: {}}
      load_assignment:
        cluster_name: to_%(to)d
        endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %(to)d}}}}]}]
"""
REFLECTED = """
import sys
from concurrent import futures
import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
server = grpc.server(futures.ThreadPoolExecutor(4))
health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
reflection.enable_server_reflection(['grpc.health.v1.Health', reflection.SERVICE_NAME], server)
server.add_insecure_port('127.0.0.1:' + sys.argv[1])
server.start()
server.wait_for_termination()
"""


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(b"got")

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class EchoServer(http.server.ThreadingHTTPServer):
    request_queue_size = 1024


class Strangers(Started):
    def __init__(self, folder, go_bin, python, envoy):
        super().__init__(folder)
        self.go_bin, self.failed = go_bin, []
        server, reflected, self.clear, self.secure, self.front, behind, *admins = free_ports(8)
        echo = EchoServer(("127.0.0.1", 0), Echo)
        threading.Thread(target=echo.serve_forever, daemon=True).start()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=DNS:localhost", "-keyout", self.file("key.pem"), "-out", self.file("cert.pem")],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        services = "relay_services: [grpc.testing.TestService, grpc.testing.UnimplementedService], card: {name: x}"
        agents = (
            "grpc: {default_agent: direct}\nstore: memory\nhosts: ['*']\nagents:\n"
            f"  direct: {{url: 'grpc://127.0.0.1:{server}', speaks: [1.0/grpc], {services}}}\n"
            f"  proxied: {{url: 'grpc://127.0.0.1:{behind}', speaks: [1.0/grpc], {services}}}\n"
            f"  reflected: {{url: 'grpc://127.0.0.1:{reflected}', speaks: [1.0/grpc], card: {{name: x}},"
            " relay_services: [grpc.reflection.v1.ServerReflection, grpc.reflection.v1alpha.ServerReflection]}\n"
            f"  echo: {{url: 'http://127.0.0.1:{echo.server_address[1]}/', card: {{name: x}}, relay_paths: ['/**']}}\n"
        )
        tls = f"tls: {{cert: {self.file('cert.pem')}, key: {self.file('key.pem')}}}\n"
        self.write("clear.yml", f"listen: 127.0.0.1:{self.clear}\nadmin: 127.0.0.1:{admins[0]}\n{agents}")
        self.write("secure.yml", f"listen: 127.0.0.1:{self.secure}\nadmin: 127.0.0.1:{admins[1]}\n{tls}{agents}")
        ways = [(self.front, self.clear), (behind, server)]
        listeners = "".join(LISTENER % {"port": port, "to": to} for port, to in ways)
        self.write("envoy.yml", ENVOY % {"listeners": listeners, "clusters": "".join(CLUSTER % {"to": to} for _, to in ways)})
        self.write("reflected.py", REFLECTED)
        self.server = server
        self.start("interop.log", [go_bin + "/interop_server", "-port", str(server)])
        self.start("reflected.log", [python, self.file("reflected.py"), str(reflected)])
        self.start("envoy.log", [envoy, "-c", self.file("envoy.yml"), "--concurrency", "1", "--disable-hot-restart", "-l", "error"])
        self.start("clear.log", [os.environ["CARDEA_BIN"], "run", "-c", self.file("clear.yml")])
        self.start("secure.log", [os.environ["CARDEA_BIN"], "run", "-c", self.file("secure.yml")])
        for port in (server, reflected, self.clear, self.secure, self.front, behind):
            await_port(port)

    def run(self, name, command, wanted=""):
        """Passes if the command ends well and prints what is wanted."""
        try:
            ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
            out = (ended.stdout + ended.stderr).decode("utf-8", "replace")
            passed = ended.returncode == 0 and wanted in out
        except subprocess.TimeoutExpired:
            passed, out = False, "no end within 60 s"
        if not passed:
            self.failed.append(name)
        print(f"{'pass' if passed else 'FAIL'} {name}" + ("" if passed else ": " + out.strip()[-400:]), flush=True)

    def interop(self, way, port, *options):
        for case in CASES:
            client = [self.go_bin + "/interop_client", "-server_host", "127.0.0.1", "-server_port", str(port), "-test_case", case, *options]
            self.run(f"{way} {case}", client + (SOAK if "soak" in case else []))

    def all(self):
        tls = ["-use_tls", "-use_test_ca", "-ca_file", self.file("cert.pem"), "-server_host_override", "localhost"]
        self.interop("directly", self.server)
        self.interop("cardea", self.clear)
        self.interop("cardea-tls", self.secure, *tls)
        self.interop("envoy-cardea", self.front)
        self.interop("cardea-envoy", self.clear, "-additional_metadata", "cardea-agent:proxied")
        self.interop("envoy-cardea-envoy", self.front, "-additional_metadata", "cardea-agent:proxied")
        self.programs()

    def programs(self):
        card, echo = "/agents/echo/.well-known/agent-card.json", "/agents/echo/x"
        clear, secure = f"http://127.0.0.1:{self.clear}", f"https://localhost:{self.secure}"
        curl = ["curl", "-sS", "--fail", "--cacert", self.file("cert.pem"), "-w", " v%{http_version} %{http_code}"]
        self.run("curl --http2-prior-knowledge, card", [*curl, "--http2-prior-knowledge", clear + card], "v2 200")
        self.run("curl --http2-prior-knowledge, body", [*curl, "--http2-prior-knowledge", "-d", "hello", clear + echo], "hello v2 200")
        self.run("curl --http2, ALPN", [*curl, "--http2", "-d", "hello", secure + echo], "hello v2 200")
        self.run("curl --http2, Upgrade ignored", [*curl, "--http2", clear + card], "v1.1 200")
        self.run("curl --http1.1, ALPN", [*curl, "--http1.1", secure + card], "v1.1 200")
        self.run("curl, 3 MB", [*curl, "--http2", "-o", "/dev/null", "--data-binary", "@" + self.big(), secure + echo], "v2 200")
        self.run("nghttp, card", ["nghttp", "-ns", clear + card], "200")
        self.run("nghttp, upgrade and continuation", ["nghttp", "-v", "--continuation", clear + card], ":status: 200")
        load = ["h2load", "-n", "4000", "-c", "8", "-m", "32"]
        done = "4000 succeeded, 0 failed, 0 errored, 0 timeout"
        self.run("h2load, cards", [*load, clear + card], done)
        self.run("h2load, cards over TLS", [*load, secure + card], done)
        self.run("h2load, calls of HTTP/1.1", [*load, "-d", self.file("clear.yml"), clear + echo], done)
        named = ["-H", "cardea-agent: reflected"]
        grpcurl = [self.go_bin + "/grpcurl"]
        self.run("grpcurl list", [*grpcurl, "-plaintext", *named, f"127.0.0.1:{self.clear}", "list"], "grpc.health.v1.Health")
        self.run("grpcurl describe", [*grpcurl, "-plaintext", *named, f"127.0.0.1:{self.clear}", "describe", "grpc.health.v1.Health"], "rpc Watch")
        check = [f"localhost:{self.secure}", "grpc.health.v1.Health/Check"]
        self.run("grpcurl health over TLS", [*grpcurl, "-cacert", self.file("cert.pem"), *named, *check], "SERVING")

    def big(self):
        with open(self.file("big"), "wb") as file:
            file.write(b"x" * 3_000_000)
        return self.file("big")


def main():
    go_bin, python, envoy = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        strangers = Strangers(folder, go_bin, python, envoy)
        try:
            strangers.all()
        finally:
            strangers.stop()
    if strangers.failed:
        raise SystemExit(f"strangers: FAILED: {', '.join(strangers.failed)}")
    print("strangers: passed")


if __name__ == "__main__":
    main()
