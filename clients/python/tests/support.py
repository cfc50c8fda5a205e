"""The helpers of the tests: pictures, a local HTTP server with gates, fresh folders, odd servers."""

from __future__ import annotations

import contextlib
import http.server
import os
import shlex
import signal
import struct
import sys
import tempfile
import threading
import unittest
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Optional

REPOSITORY = Path(__file__).resolve().parents[3]

PATIENCE = 30.0
"""Seconds after which a wait in a test counts as a hang; never reached by a test that passes."""


def png(width: int, height: int, shade: int = 0, filler: int = 0) -> bytes:
    """A grey PNG of that size; `filler` adds bytes of text to make the file larger."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes([shade]) * width for _ in range(height))
    text = chunk(b"tEXt", b"Comment\0" + b"x" * filler) if filler else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
        + text
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


class Page:
    """One answer of the local server; `gate` holds its second half back until it is set."""

    def __init__(
        self,
        body: bytes,
        *,
        status: int = 200,
        kind: str = "image/png",
        gate: Optional[threading.Event] = None,
    ) -> None:
        self.body = body
        self.status = status
        self.kind = kind
        self.gate = gate
        self.reached = threading.Event()


class LocalServer:
    """An HTTP server on a free port of this machine that counts what it is asked for."""

    def __init__(self, pages: Dict[str, Page], folder: Optional[Path] = None) -> None:
        self.pages = pages
        self.counts: "Counter[str]" = Counter()
        self.headers: Dict[str, Dict[str, str]] = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self, folder)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # the asker was ended while it downloaded

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def _answer(self, handler: http.server.BaseHTTPRequestHandler, folder: Optional[Path]) -> None:
        path = handler.path.split("?")[0]
        self.counts[path] += 1
        self.headers[path] = {name.lower(): value for name, value in handler.headers.items()}
        page = self.pages.get(path)
        if page is None and folder is not None:
            file = (folder / path.lstrip("/")).resolve()
            if file.is_file() and folder.resolve() in file.parents:
                page = Page(file.read_bytes(), kind="application/octet-stream")
        if page is None:
            page = Page(b"There is nothing here.", status=404, kind="text/plain")
        half = len(page.body) // 2 if page.gate is not None else 0
        try:
            handler.send_response(page.status)
            handler.send_header("Content-Type", page.kind)
            handler.send_header("Content-Length", str(len(page.body)))
            handler.end_headers()
            handler.wfile.write(page.body[:half])
            handler.wfile.flush()
            page.reached.set()
            if page.gate is not None:
                page.gate.wait(PATIENCE)
            handler.wfile.write(page.body[half:])
        except OSError:
            handler.close_connection = True  # the asker went away

    def close(self) -> None:
        for page in self.pages.values():
            if page.gate is not None:
                page.gate.set()
        self._server.shutdown()
        self._server.server_close()


class Case(unittest.TestCase):
    """A test with a scratch folder, an empty cache folder and helpers that clean up after."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="halcyon-test-")
        self.addCleanup(folder.cleanup)
        self.scratch = Path(folder.name).resolve()
        self.cache = self.scratch / "cache"

    def serve(self, pages: Dict[str, Page], folder: Optional[Path] = None) -> LocalServer:
        server = LocalServer(pages, folder)
        self.addCleanup(server.close)
        return server

    def odd_server(self, behaviour: str) -> str:
        """The path of an executable that behaves as a real server never should."""
        script, starts = self.scratch / ("halcyon-" + behaviour), self.scratch / "starts"
        source = Path(__file__).with_name("odd_server.py")
        script.write_text(
            "#!/bin/sh\necho >> %s\nexec %s %s %s %s\n"
            % (*(shlex.quote(str(path)) for path in (starts, sys.executable, source)), behaviour, shlex.quote(str(starts)))
        )
        script.chmod(0o755)
        return str(script)

    def starts(self) -> int:
        """How many odd servers were started."""
        return len((self.scratch / "starts").read_text().splitlines())

    def kill(self, pid: int) -> None:
        """Kills a child of this program, and returns when it has ended; whoever started it collects it."""
        os.kill(pid, signal.SIGKILL)
        self.await_end(pid)

    def await_end(self, pid: int) -> None:
        """Returns when a child of this program has ended; whoever started it collects it."""
        with contextlib.suppress(ChildProcessError):  # that has been done already
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

    def assert_gone(self, pid: int) -> None:
        """The process has ended and was waited for."""
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
