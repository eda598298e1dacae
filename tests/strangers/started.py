"""Programs that a test starts, in a folder of their own."""
import os
import signal
import socket
import subprocess
import time


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def await_port(port):
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nobody listens on port {port}")


class Started:
    def __init__(self, folder):
        self.folder, self.running = folder, []

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(content)

    def start(self, log, command):
        with open(self.file(log), "wb") as out:
            self.running.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))

    def stop(self):
        for each in reversed(self.running):
            each.send_signal(signal.SIGTERM)
        for each in reversed(self.running):
            try:
                each.wait(5)
            except subprocess.TimeoutExpired:
                each.kill()
