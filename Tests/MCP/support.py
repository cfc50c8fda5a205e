"""A client of ``halcyon mcp`` over a pipe that holds every message against the schema of its version, and a web server."""

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
import time
import unittest
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import jsonschema
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("HALCYON_BIN") or str(ROOT / ".build/debug/halcyon")
FIXTURES = ROOT / "Tests/Fixtures"
STATELESS = "2026-07-28"
SESSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"]
#: The names of the results in the schemas, by method.
RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "ping": "EmptyResult",
}


@lru_cache(maxsize=None)
def _validator(version: str, name: str) -> Any:
    # There is no schema of 2025-03-26 as data; what we send is the same.
    version = "2025-06-18" if version == "2025-03-26" else version
    schema = json.loads((Path(__file__).parent / "schemas" / f"{version}.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    place = "$defs" if "$defs" in schema else "definitions"
    return kind({"$ref": f"#/{place}/{name}", place: schema[place]})


def check(version: str, name: str, value: Any) -> None:
    """Fails unless ``value`` is a ``name`` of that version of the protocol."""
    _validator(version, name).validate(value)


def is_there(version: str, name: str) -> bool:
    """Whether that version has the type ``name``."""
    schema = _validator(version, "RequestId").schema
    return name in (schema.get("$defs") or schema["definitions"])


class Agent:
    """One run of ``halcyon mcp``. ``version`` is that of a session, or the one without."""

    def __init__(self, *args: str, version: str = STATELESS, network: str = "any", cache: Optional[str] = None) -> None:
        self.version = version
        self.folder = tempfile.mkdtemp(prefix="mcp-")
        command = [BINARY, "mcp", "--cache-dir", cache or self.folder, "--network-policy", network, *args]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HALCYON_")}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        self.notes: List[Dict[str, Any]] = []
        self.length = 0
        self._last = 0
        if version != STATELESS:
            client = {"name": "tests", "version": "1"}
            self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
            self.tell("notifications/initialized")

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
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
        """Sends a message, or any text."""
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        """Sends a notification."""
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
        check(self.version, "JSONRPCNotification", message)
        self.write(message)

    def send(self, method: str, **params: Any) -> int:
        """Sends a request and returns its id."""
        self._last += 1
        if self.version == STATELESS and method != "initialize":
            meta = params.setdefault("_meta", {})
            meta["io.modelcontextprotocol/protocolVersion"] = STATELESS
            meta["io.modelcontextprotocol/clientCapabilities"] = {}
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        check(self.version, "JSONRPCRequest", message)
        self.write(message)
        return self._last

    def read(self) -> Dict[str, Any]:
        """The next message; a notification is checked."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(self.process.stderr.read().decode() if self.process.stderr else "")
        self.length = len(line)
        message = json.loads(line)
        assert message.get("id", "") is not None, message
        if "method" in message:
            assert "id" not in message, message
            check(self.version, "ServerNotification", {k: v for k, v in message.items()})
        return message  # type: ignore[no-any-return]

    def answer(self, number: int) -> Dict[str, Any]:
        """The response to a request; notifications before it are kept in ``notes``."""
        while True:
            message = self.read()
            if message.get("id") == number:
                return message
            self.notes.append(message)

    def ask(self, method: str, **params: Any) -> Dict[str, Any]:
        """The result of a request, which must succeed."""
        response = self.answer(self.send(method, **params))
        assert "result" in response, response
        check(self.version, "JSONRPCResponse", response)
        check(self.version, RESULTS[method], response["result"])
        return response["result"]  # type: ignore[no-any-return]

    def fail(self, method: str, **params: Any) -> Dict[str, Any]:
        """The error of a request, which must fail."""
        response = self.answer(self.send(method, **params))
        assert "error" in response, response
        name = "JSONRPCErrorResponse" if is_there(self.version, "JSONRPCErrorResponse") else "JSONRPCError"
        check(self.version, name, response)
        return response["error"]  # type: ignore[no-any-return]

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
        self.arrived = threading.Event()
        self.gate = threading.Event()
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
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.path.startswith("/slow"):
                    self.wfile.write(body[: len(body) // 2])
                    self.wfile.flush()
                    web.gate.wait(30)
                    body = body[len(body) // 2 :]
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
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
        kind = {"jpg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WEBP"}[name.rsplit(".", 1)[1]]
        (self.root / name).write_bytes(encoded(picture, kind, **options))
        return name
