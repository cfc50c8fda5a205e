"""A real ``halcyon`` process that is asked over its standard streams, with an end to every wait."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Mapping, Sequence

Json = Any
ROOT = Path(__file__).resolve().parents[3]


def binary() -> str:
    """The server's executable: HALCYON_BIN, else the debug build of this project."""
    found = os.environ.get("HALCYON_BIN") or str(ROOT / ".build" / "debug" / "halcyon")
    if not os.access(found, os.X_OK):
        sys.exit(f"There is no executable {found}: run `swift build`, or set HALCYON_BIN.")
    return found


class Dead(Exception):
    """The server ended before it answered."""


class Hangs(Exception):
    """The server did not answer in time."""


class Server:
    """One process on one cache folder."""

    def __init__(
        self,
        folder: str,
        *arguments: str,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        patience: float = 30.0,
    ) -> None:
        self._patience = patience
        self._next = 0
        self._buffer = b""
        self._log = open(os.path.join(os.path.dirname(folder) or ".", "server.log"), "ab")
        self.process = subprocess.Popen(
            [*prefix, binary(), "--cache-dir", folder, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})},
            bufsize=0,
        )

    # -- asking

    def send(self, method: str, params: Json = None) -> int:
        """Sends a request and does not wait for its answer; its id."""
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}}
        rest = memoryview(json.dumps(message).encode() + b"\n")
        assert self.process.stdin is not None
        try:
            while rest:
                rest = rest[self.process.stdin.write(rest) or 0 :]
        except OSError as error:
            raise Dead(self._end()) from error
        return self._next

    def replies(self, ids: Sequence[int]) -> dict[int, Json]:
        """The answers to the requests, by id; those that came before the process died are in ``Dead.args[1]``."""
        missing = set(ids)
        found: dict[int, Json] = {}
        end = time.monotonic() + self._patience
        while missing:
            line = self._line(end)
            if line is None:
                raise Dead(self._end(), found)
            reply = json.loads(line)
            if reply.get("id") in missing:
                missing.discard(reply["id"])
                found[reply["id"]] = reply
        return found

    def ask(self, method: str, params: Json = None) -> Json:
        """The whole answer to one request."""
        number = self.send(method, params)
        return self.replies([number])[number]

    def result(self, method: str, params: Json = None) -> Json:
        """The result of a request that must succeed."""
        reply = self.ask(method, params)
        if "result" not in reply:
            raise AssertionError(f"{method} {params}: {reply.get('error')}")
        return reply["result"]

    def _line(self, end: float) -> bytes | None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while True:
            line, mark, rest = self._buffer.partition(b"\n")
            if mark:
                self._buffer = rest
                return line
            left = end - time.monotonic()
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if left <= 0 or not poll.poll(left * 1000):
                raise Hangs(f"no answer within {self._patience:.0f} s")
            data = os.read(descriptor, 1 << 20)
            if not data:
                return None
            self._buffer += data

    # -- ending

    def _end(self) -> str:
        try:
            return f"ended with {self.process.wait(5)}"
        except subprocess.TimeoutExpired:
            return "closed its output but lives on"

    def kill(self) -> None:
        """Sends SIGKILL; the end is taken note of by ``close``."""
        self.process.send_signal(signal.SIGKILL)

    def close(self) -> int:
        """Ends the input, waits for the end and returns the exit code; what hangs is killed."""
        for stream in (self.process.stdin,):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        try:
            code = self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()
        return code

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# -- the methods, as the campaigns use them


def store(key: str, data: bytes, **more: Json) -> Json:
    """The params of ``store`` with the bytes inline."""
    return {"key": key, "data": base64.b64encode(data).decode(), **more}


def cached(key: str, answer: str = "data", **more: Json) -> Json:
    """The params of a ``retrieve`` that never asks the network."""
    options = {"onlyFromCache": True, **more.pop("options", {})}
    return {"url": "http://127.0.0.1:1/", "key": key, "options": options, "as": answer, **more}


def inline(result: Json) -> bytes:
    """The bytes of an answer to ``retrieve``."""
    return base64.b64decode(result["data"])


def methods(folder: str) -> dict[str, str]:
    """The methods the server knows, each with its whole description as text; so a campaign uses what there is."""
    with Server(folder) as server:
        found = server.result("rpc.discover")
    schemas = json.dumps(found.get("components", {}))
    return {method["name"]: json.dumps(method) + schemas for method in found["methods"]}


def fresh(name: str, under: str | None = None) -> str:
    """An empty folder for one run; the caches go into its ``cache``."""
    import tempfile

    return tempfile.mkdtemp(prefix=f"halcyon-{name}-", dir=under)


def drop(folder: str) -> None:
    """Removes a folder of a run."""
    shutil.rmtree(folder, ignore_errors=True)
