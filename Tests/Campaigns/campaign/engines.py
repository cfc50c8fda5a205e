"""Engines of the remote tier, and a relay before them that spoils what they say."""

from __future__ import annotations

import http.server
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from typing import Optional

from .server import drop, fresh
from .web import QuietServer


class Relay:
    """Hands connections on to an engine; ``fault`` says what becomes of its answers.

    ``None``: nothing. ``"stall"``: they do not come. ``"reset"``: half of one comes, then the connection is reset. ``"cut"``: half
    of one comes, then the connection is closed. ``"garbage"``: other bytes come. ``"refuse"``: connections are closed at once.
    """

    FAULTS = ("stall", "reset", "cut", "garbage", "refuse")

    def __init__(self, target: "tuple[str, int] | str") -> None:
        self.fault: Optional[str] = None
        self.connections = 0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.fault == "refuse":
                client.close()
                continue
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        kind = socket.AF_UNIX if isinstance(self._target, str) else socket.AF_INET
        engine = socket.socket(kind)
        try:
            engine.connect(self._target)
        except OSError:
            client.close()
            return
        threading.Thread(target=self._pump, args=(client, engine), daemon=True).start()
        try:
            while data := engine.recv(1 << 16):
                fault = self.fault
                while fault == "stall":
                    time.sleep(0.05)
                    if self.fault != "stall":
                        return  # What was held up does not come late.
                if fault == "garbage":
                    data = os.urandom(len(data))
                if fault in ("reset", "cut", "refuse"):
                    client.sendall(data[: len(data) // 2])
                    if fault == "reset":
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                client.sendall(data)
        except OSError:
            pass
        finally:
            for end in (client, engine):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        self._listener.close()


class Redis:
    """A real ``redis-server``."""

    name = "Redis"
    claims = True

    def __init__(self) -> None:
        self._home = fresh("redis")
        self._socket = os.path.join(self._home, "s")
        command = ["redis-server", "--port", "0", "--unixsocket", self._socket, "--save", "", "--dir", self._home]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while self.command("ping") != "PONG":
            time.sleep(0.01)
        self.relay = Relay(self._socket)
        self.url = f"redis://127.0.0.1:{self.relay.port}/0"

    @staticmethod
    def lacks() -> Optional[str]:
        return None if shutil.which("redis-server") and shutil.which("redis-cli") else "there is no redis-server"

    def command(self, *words: str) -> str:
        """What ``redis-cli`` prints."""
        done = subprocess.run(["redis-cli", "-s", self._socket, "--raw", *words], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace").strip()

    def names(self) -> list[str]:
        """The objects."""
        return [one for one in self.command("keys", "halcyon:*").split() if not one.endswith(".claim")]

    def mix(self) -> None:
        """Gives every object the bytes of another one."""
        names = sorted(self.names())
        self.command("rename", names[0], "spare")
        for one, other in zip(names, names[1:]):
            self.command("rename", other, one)
        self.command("rename", "spare", names[-1])

    def refuse(self, how: Optional[str]) -> None:
        """Refuses to write (``"full"``, ``"read-only"``) or everything (``"denied"``); ``None``: nothing."""
        self.command("config", "set", "maxmemory", "1" if how == "full" else "0")
        self.command("config", "set", "min-replicas-to-write", "1" if how == "read-only" else "0")
        if how == "denied":
            self.command("acl", "setuser", "default", "-@all", "+config|set", "+acl", "+client|kill")
            self.command("client", "kill", "type", "normal")
        elif how is None:
            self.command("acl", "setuser", "default", "+@all")

    def close(self) -> None:
        self.relay.close()
        self.process.kill()
        self.process.wait()
        drop(self._home)


class Web:
    """An HTTP server with GET, PUT and DELETE, spoken to as such or as object storage."""

    claims = False

    def __init__(self, style: str = "http") -> None:
        self.name = "HTTP" if style == "http" else "S3"
        self.objects: dict[str, bytes] = {}
        self._how: Optional[str] = None
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status: int, body: bytes = b"") -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def refused(self) -> bool:
                writes = self.command != "GET"
                if web._how == "denied":
                    self.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
                elif web._how == "skew":
                    self.answer(403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>")
                elif web._how == "full" and writes:
                    self.answer(507)
                elif web._how == "read-only" and writes:
                    self.answer(405)
                else:
                    return False
                return True

            def do_GET(self) -> None:
                if not self.refused():
                    body = web.objects.get(self.path)
                    self.answer(404 if body is None else 200, body or b"")

            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not self.refused():
                    web.objects[self.path] = body
                    self.answer(200)

            def do_DELETE(self) -> None:
                if not self.refused():
                    web.objects.pop(self.path, None)
                    self.answer(204)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.relay = Relay(("127.0.0.1", self._server.server_address[1]))
        place = f"127.0.0.1:{self.relay.port}"
        self.url = (
            f"http://{place}/images"
            if style == "http"
            else f"s3://id:key@bucket/images?region=us-east-1&endpoint=http://{place}&style=path"
        )

    @staticmethod
    def lacks() -> Optional[str]:
        return None

    def names(self) -> list[str]:
        """The objects."""
        return list(self.objects)

    def mix(self) -> None:
        """Gives every object the bytes of another one."""
        names = sorted(self.objects)
        bodies = [self.objects[name] for name in names]
        self.objects.update(zip(names, bodies[1:] + bodies[:1]))

    def refuse(self, how: Optional[str]) -> None:
        """Refuses to write (``"full"``, ``"read-only"``) or everything (``"denied"``, ``"skew"``); ``None``: nothing."""
        self._how = how

    def close(self) -> None:
        self.relay.close()
        self._server.shutdown()
        self._server.server_close()
