"""A client of ``halcyon mcp`` over a pipe that holds every message to the protocol, and a web server."""

from __future__ import annotations

import base64
import http.server
import io
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
import zlib
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import jsonschema
from PIL import Image, ImageDraw

from wire import META, STATELESS, Wire

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("HALCYON_BIN") or str(ROOT / ".build/debug/halcyon")
FIXTURES = ROOT / "Tests/Fixtures"


class Agent:
    """One run of ``halcyon mcp``. ``version`` is that of a session, or the one without.

    All that it sends is held against the type of its method, unless ``hostile`` is said; all that it reads is too. A server
    that a test has not done with after ``patience`` seconds is killed, so that the test fails and does not hang.
    """

    def __init__(
        self, *args: str, version: str = STATELESS, network: str = "any", cache: Optional[str] = None, patience: float = 120
    ) -> None:
        self.version = version
        self.folder = tempfile.mkdtemp(prefix="mcp-")
        command = [BINARY, "mcp", "--cache-dir", cache or self.folder, "--network-policy", network, *args]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HALCYON_")}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.notes: List[Dict[str, Any]] = []
        self.length = 0
        self.wire = Wire(version)
        self._last = 0
        self._patience = patience
        self._watch = threading.Timer(patience, self.process.kill)
        self._watch.daemon = True
        self._watch.start()
        if version != STATELESS:
            client = {"name": "tests", "version": "1"}
            self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
            self.tell("notifications/initialized")

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, message: Any) -> None:
        """Sends anything, without a look at it: a message, or any text."""
        self.wire.is_hostile = True
        self._write(message)

    def deliver(self, message: Dict[str, Any]) -> None:
        """Sends a message, which must be valid."""
        self.wire.version = self.version
        self.wire.sent(message)
        self._write(message)

    def _write(self, message: Any) -> None:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        """Sends a notification."""
        self.deliver({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def send(self, method: str, hostile: bool = False, **params: Any) -> int:
        """Sends a request and returns its id."""
        self._last += 1
        if self.version == STATELESS:
            params["_meta"] = {**META, **params.get("_meta", {})}
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        if hostile:
            self.wire.expect(self._last, self.version, method)
            self._write(message)
        else:
            self.deliver(message)
        return self._last

    def read(self) -> Dict[str, Any]:
        """The next message, which is held against its type."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            told = self.process.stderr.read().decode() if self.process.stderr else ""
            # A watch that has rung is no longer alive.
            raise EOFError(told if self._watch.is_alive() else f"The server was killed after {self._patience} s. {told}")
        self.length = len(line)
        message = json.loads(line)
        self.wire.received(message)
        return message  # type: ignore[no-any-return]

    def answer(self, number: int) -> Dict[str, Any]:
        """The response to a request; other messages before it are kept in ``notes``."""
        while True:
            message = self.read()
            if message.get("id") == number:
                return message
            self.notes.append(message)

    def answers(self, numbers: List[int]) -> List[Dict[str, Any]]:
        """The responses to requests, which come in any order."""
        found: Dict[int, Dict[str, Any]] = {}
        while len(found) < len(numbers):
            message = self.read()
            if message.get("id") in numbers:
                found[message["id"]] = message
            else:
                self.notes.append(message)
        return [found[number] for number in numbers]

    def ask(self, method: str, hostile: bool = False, **params: Any) -> Dict[str, Any]:
        """The result of a request, which must succeed."""
        response = self.answer(self.send(method, hostile, **params))
        assert "result" in response, response
        return response["result"]  # type: ignore[no-any-return]

    def fail(self, method: str, hostile: bool = False, **params: Any) -> Dict[str, Any]:
        """The error of a request, which must fail."""
        response = self.answer(self.send(method, hostile, **params))
        assert "error" in response, response
        return response["error"]  # type: ignore[no-any-return]

    def check_alive(self) -> None:
        """Asks something small: there is no ping in the newest version, and nothing else as small in the others."""
        self.ask("server/discover" if self.version == STATELESS else "ping")

    def call(self, tool: str, **arguments: Any) -> Outcome:
        """The result of a tool."""
        return Outcome(self.ask("tools/call", name=tool, arguments=arguments))

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The sentence with which a tool fails."""
        outcome = self.call(tool, **arguments)
        assert outcome.result.get("isError") is True, outcome.result
        assert [block["type"] for block in outcome.result["content"]] == ["text"], outcome.result
        return outcome.text

    def end(self, seconds: float = 5) -> int:
        """Closes the input and waits for the end of the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(seconds)

    def rest(self) -> List[Dict[str, Any]]:
        """Closes the input; all that comes before the end of the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        found = []
        while True:
            try:
                found.append(self.read())
            except EOFError:
                return found


class Outcome:
    """The result of a tool, taken apart."""

    def __init__(self, result: Dict[str, Any]) -> None:
        self.result = result
        self.values: Dict[str, Any] = result.get("structuredContent", {})
        blocks = result["content"]
        self.text: str = next(block["text"] for block in blocks if block["type"] == "text")
        pictures = [block for block in blocks if block["type"] == "image"]
        self.bytes = base64.b64decode(pictures[0]["data"]) if pictures else b""
        self.type = pictures[0]["mimeType"] if pictures else ""
        self.links = [block for block in blocks if block["type"] == "resource_link"]

    @property
    def picture(self) -> Image.Image:
        """What a model would see."""
        return Image.open(io.BytesIO(self.bytes))


class Web:
    """A web server on this machine. A path that begins with ``/slow`` sends its beginning and no more until the end."""

    def __init__(self) -> None:
        self.files: Dict[str, Tuple[str, bytes]] = {}
        self.redirects: Dict[str, str] = {}
        self.requests: List[str] = []
        #: The paths of the files that were sent; what a client has is not sent again.
        self.sent: List[str] = []
        #: The status of every answer, when it is not that of the file.
        self.status: Optional[int] = None
        self.arrived = threading.Event()
        self.gate = threading.Event()
        #: Counts the downloads that have got their beginning and wait.
        self.stalled = threading.Semaphore(0)
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web.requests.append(self.path)
                web.arrived.set()
                if self.path in web.redirects:
                    self.send_response(302)
                    self.send_header("Location", web.redirects[self.path])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                kind, body = web.files.get(self.path, ("text/plain", b""))
                if web.status:
                    body = b""
                tag = f'"{zlib.crc32(body)}"'
                is_known = body and self.headers["If-None-Match"] == tag
                self.send_response(web.status or (304 if is_known else 200 if body else 404))
                self.send_header("ETag", tag)
                if is_known:
                    self.end_headers()
                    return
                web.sent.append(self.path)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.path.startswith("/slow"):
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    web.stalled.release()
                    web.gate.wait(30)
                    body = body[len(body) // 2 :]
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Passes by: a client that is gone is what some tests are about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def add(self, path: str, body: bytes, kind: str = "image/png") -> str:
        """Serves ``body`` at ``path``; the URL of it."""
        self.files[path] = (kind, body)
        return self.url + path

    def close(self) -> None:
        """Lets go of what waits, and ends."""
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


def encoded(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The file of a picture."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def data_url(body: bytes, kind: str) -> str:
    """The file as a URL."""
    return f"data:{kind};base64," + base64.b64encode(body).decode()


def noise(width: int, height: int) -> Image.Image:
    """A picture that no format makes much smaller."""
    channels = [Image.effect_noise((width, height), 90) for _ in range(3)]
    return Image.merge("RGB", channels)


def screenshot(color: str = "#3366cc") -> Image.Image:
    """A page with text, and a box of that colour at (150, 50)."""
    picture = Image.new("RGB", (320, 200), "white")
    draw = ImageDraw.Draw(picture)
    for line in range(6):
        draw.text((5, 20 + 30 * line), f"Line {line}: a brown fox", fill="black")
    draw.rectangle((150, 50, 249, 99), fill=color)
    return picture


class MCPCase(unittest.TestCase):
    """A test with a web server and a folder that is a root."""

    def setUp(self) -> None:
        self.web = Web()
        self.addCleanup(self.web.close)
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="root-")))
        self.addCleanup(shutil.rmtree, self.root, True)

    def agent(self, *args: str, **options: Any) -> Agent:
        """A server whose root is the folder."""
        agent = Agent("--root", str(self.root), *args, **options)
        self.addCleanup(agent.__exit__)
        return agent

    def put(self, name: str, picture: Image.Image, **options: Any) -> str:
        """Saves a picture below the root; its name."""
        kind = {"jpg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WEBP", "bmp": "BMP"}[name.rsplit(".", 1)[1]]
        (self.root / name).write_bytes(encoded(picture, kind, **options))
        return name

    def names(self) -> List[str]:
        """What there is below the root."""
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))

    def checked(self, agent: Agent, tool: str, **arguments: Any) -> Outcome:
        """The outcome of a tool, whose structured result has the promised form and is its text too."""
        outcome = agent.call(tool, **arguments)
        self.assertNotIn("isError", outcome.result, outcome.text)
        length = agent.length
        schemas = {one["name"]: one["outputSchema"] for one in agent.ask("tools/list")["tools"]}
        agent.length = length
        jsonschema.validate(outcome.values, schemas[tool])
        self.assertEqual(json.loads(outcome.text), outcome.values)
        return outcome
