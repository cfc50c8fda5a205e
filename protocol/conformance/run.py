#!/usr/bin/env python3
"""Runs the conformance cases against a server, byte by byte, over pipes: ``python3 run.py [-- COMMAND…]``.

The command is a server that keeps its cache where ``HALCYON_CACHE_DIR`` says; ``halcyon`` from the PATH, or what
``HALCYON_BIN`` names, when left out. Needs Python 3.9 and nothing else. How cases are written: README.md beside this file.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, Any, Dict, Iterator, List, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "Tests" / "Fixtures"

PATIENCE = 60.0
"""Seconds after which a wait counts as a hang."""

TYPES: Dict[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


class Failed(Exception):
    """A case that did not go as it says."""


# --- Patterns ---------------------------------------------------------------------------------------------------------


def mismatch(pattern: Any, value: Any, where: str = "reply") -> Optional[str]:
    """Why `value` does not match `pattern`, or None when it does."""
    said = "%s is %s" % (where, json.dumps(value)[:300])
    if isinstance(pattern, dict):
        if any(name.startswith("$") for name in pattern):
            return _special(pattern, value, said)
        if not isinstance(value, dict):
            return "%s, not an object" % said
        for name, wanted in pattern.items():
            inner = "%s.%s" % (where, name)
            if isinstance(wanted, dict) and wanted.get("$absent"):
                if name in value:
                    return "%s is there" % inner
            elif name not in value:
                return "%s is missing in %s" % (inner, json.dumps(value)[:300])
            else:
                wrong = mismatch(wanted, value[name], inner)
                if wrong is not None:
                    return wrong
        return None
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return "%s, not an array of %d" % (said, len(pattern))
        for index, wanted in enumerate(pattern):
            wrong = mismatch(wanted, value[index], "%s[%d]" % (where, index))
            if wrong is not None:
                return wrong
        return None
    same = pattern == value and isinstance(pattern, bool) == isinstance(value, bool)
    return None if same else "%s, not %s" % (said, json.dumps(pattern))


def _special(pattern: Dict[str, Any], value: Any, said: str) -> Optional[str]:
    if "$any" in pattern:
        return None
    if "$type" in pattern:
        kind = pattern["$type"]
        fits = isinstance(value, TYPES[kind]) and (not isinstance(value, bool) or kind == "boolean")
        return None if fits else "%s, no %s" % (said, kind)
    if "$regex" in pattern:
        fits = isinstance(value, str) and re.search(pattern["$regex"], value) is not None
        return None if fits else "%s, which does not match %s" % (said, pattern["$regex"])
    if "$length" in pattern:
        fits = isinstance(value, (list, str, dict)) and len(value) == pattern["$length"]
        return None if fits else "%s, not of length %s" % (said, pattern["$length"])
    return "%s, and the case has a pattern that nobody knows: %s" % (said, json.dumps(pattern))


def filled_in(value: Any, places: Dict[str, str]) -> Any:
    """`value` with the placeholders in all its strings replaced."""
    if isinstance(value, str):
        for name, place in places.items():
            value = value.replace("${%s}" % name, place)
        return value
    if isinstance(value, list):
        return [filled_in(item, places) for item in value]
    if isinstance(value, dict):
        return {name: filled_in(item, places) for name, item in value.items()}
    return value


# --- The server under test --------------------------------------------------------------------------------------------


class Wire:
    """A server started for one case, and its messages as they come."""

    def __init__(self, command: Sequence[str], cache: str, framing: str) -> None:
        self.framing = framing
        self.child = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "HALCYON_CACHE_DIR": cache},
        )
        assert self.child.stdin is not None and self.child.stdout is not None
        self.input = self.child.stdin
        self.messages: "queue.Queue[Any]" = queue.Queue()
        buffered: IO[bytes] = os.fdopen(os.dup(self.child.stdout.fileno()), "rb")
        self.reader = threading.Thread(target=self._read, args=(buffered,), daemon=True)
        self.reader.start()

    def _read(self, output: IO[bytes]) -> None:
        with output:
            while True:
                line = output.readline()
                if not line:
                    return
                try:
                    if self.framing == "lines":
                        self.messages.put(json.loads(line))
                        continue
                    # Nothing else than this header, in these letters: some clients read no other.
                    header = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
                    if header is None or output.readline() != b"\r\n":
                        raise ValueError("not a frame")
                    self.messages.put(json.loads(output.read(int(header.group(1)))))
                except ValueError:
                    self.messages.put({"what is no message": repr(line[:300])})
                    return

    def send(self, body: bytes) -> None:
        """Sends a message in the framing of the case."""
        if self.framing == "lines":
            self.write(body + b"\n")
        else:
            self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write(self, data: bytes) -> None:
        """Sends bytes as they are."""
        try:
            while data:
                data = data[self.input.write(data) or 0 :]
        except OSError:
            pass  # a server that has ended: what it said before is judged

    def next(self) -> Any:
        try:
            return self.messages.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed("no message came in %d s" % PATIENCE) from None

    def finish(self) -> int:
        """Ends the input; returns the exit code once everything has been read."""
        self.input.close()
        try:
            code = self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed("the server did not end within %d s of its input" % PATIENCE) from None
        self.reader.join(PATIENCE)
        return code

    def stop(self) -> None:
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                stream.close()


# --- The web ----------------------------------------------------------------------------------------------------------


class Web:
    """A web server with the pictures of a folder; `/status/404` and `/html` answer what they are called."""

    def __init__(self, folder: Path) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status, kind, body = Web.answer(folder, self.path.split("?")[0])
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True  # the asker went away

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a server under test that was ended while it downloaded

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @staticmethod
    def answer(folder: Path, path: str) -> Tuple[int, str, bytes]:
        if path.startswith("/status/"):
            return int(path[8:]), "text/plain", b"There is nothing here."
        if path == "/html":
            return 200, "text/html", b"<!doctype html><p>Not a picture."
        file = (folder / path.lstrip("/")).resolve()
        if file.is_file() and folder.resolve() in file.parents:
            return 200, "application/octet-stream", file.read_bytes()
        return 404, "text/plain", b"There is nothing here."

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


# --- Cases ------------------------------------------------------------------------------------------------------------


def cases(files: Sequence[Path]) -> Iterator[Tuple[Path, Dict[str, Any], str]]:
    """Every case of the files with every framing that it is for."""
    for file in files:
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
            framing = case.get("framing", "both")
            for chosen in ("lines", "content-length") if framing == "both" else (framing,):
                yield file, case, chosen


def all_files() -> List[Path]:
    """The files with cases that belong to this runner."""
    return sorted(HERE.glob("*.json")) + sorted(HERE.glob("bytes/*.json"))


def run_case(case: Dict[str, Any], framing: str, command: Sequence[str], http_base: str) -> None:
    """Runs a case against a server of its own.

    Raises `Failed` with what was wrong.
    """
    with tempfile.TemporaryDirectory(prefix="halcyon-conformance-") as folder:
        places = {
            "fixtures": str(FIXTURES),
            "cache": os.path.join(folder, "cache"),
            "work": os.path.join(folder, "work"),
            "http": http_base,
        }
        os.mkdir(places["work"])
        args = filled_in(case.get("args", []), places)
        wire = Wire([*command, *args], places["cache"], framing)
        try:
            for number, step in enumerate(filled_in(case["steps"], places), start=1):
                try:
                    _run_step(step, wire)
                except Failed as failure:
                    raise Failed("step %d: %s" % (number, failure)) from None
            code = wire.finish()
            for pattern in filled_in(case.get("endsWith", []), places):
                if wire.messages.empty():
                    raise Failed("nothing was said at the end of the input")
                wrong = mismatch(pattern, wire.messages.get(), "last word")
                if wrong is not None:
                    raise Failed(wrong)
            if code != case.get("exit", 0):
                raise Failed("the exit code is %d, not %d" % (code, case.get("exit", 0)))
            if not wire.messages.empty():
                raise Failed("a message that no step expects: %s" % json.dumps(wire.messages.get())[:300])
        finally:
            wire.stop()


def _run_step(step: Dict[str, Any], wire: Wire) -> None:
    if "send" in step:
        wire.send(json.dumps(step["send"], ensure_ascii=False).encode())
    elif "raw" in step:
        wire.send(step["raw"].encode())
    for piece in step.get("bytes", []):
        wire.write(_bytes(piece))
    if "file" in step:
        shutil.copyfile(FIXTURES / step["file"]["copy"], step["file"]["to"])
    if "delete" in step:
        Path(step["delete"]).unlink()
    if "write" in step:
        Path(step["write"]["path"]).write_text(step["write"]["text"], encoding="utf-8")
    if step.get("expect") is not None:
        wrong = mismatch(step["expect"], wire.next())
        if wrong is not None:
            raise Failed(wrong)
    if "expectAny" in step:
        open_patterns = list(step["expectAny"])
        while open_patterns:
            message = wire.next()
            fitting = [one for one in open_patterns if mismatch(one, message) is None]
            if not fitting:
                raise Failed("nothing expects %s" % json.dumps(message)[:300])
            open_patterns.remove(fitting[0])


def _bytes(piece: Any) -> bytes:
    """A piece of a step `bytes`: text, or `{"hex": …}`, or either many times over."""
    if isinstance(piece, str):
        return piece.encode()
    data = bytes.fromhex(piece["hex"]) if "hex" in piece else str(piece["text"]).encode()
    return data * int(piece.get("times", 1))


# --- The command line -------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the conformance cases against a server.")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose file or name contains this")
    parser.add_argument("--framing", choices=("lines", "content-length"), help="only in this framing")
    parser.add_argument("--verbose", action="store_true", help="name every case")
    parser.add_argument("command", nargs="*", help="the server; default: halcyon")
    arguments = parser.parse_args()
    command = arguments.command or [os.environ.get("HALCYON_BIN", "halcyon")]
    if shutil.which(command[0]) is None:
        parser.error("%s is not there; name the server, or its binary in HALCYON_BIN" % command[0])
    web = Web(FIXTURES)
    passed = failed = 0
    for file, case, framing in cases(all_files()):
        if arguments.only not in "%s: %s" % (file.stem, case["name"]) or framing != (arguments.framing or framing):
            continue
        title = "%s: %s (%s)" % (file.stem, case["name"], framing)
        try:
            run_case(case, framing, command, web.base)
            passed += 1
            if arguments.verbose:
                print("passed  %s" % title)
        except Failed as failure:
            failed += 1
            print("FAILED  %s\n        %s" % (title, failure))
    web.close()
    print("%d passed, %d failed" % (passed, failed))
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
