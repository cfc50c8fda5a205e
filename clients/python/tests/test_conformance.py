"""The cases of protocol/conformance, spoken to the real server byte by byte.

The framing here is written anew, so that an error of the client cannot hide one of the server.
"""

import json
import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import IO, Any, Dict, List, Optional

from halcyon import find_binary

from .support import PATIENCE, REPOSITORY, LocalServer, Page

CASES = REPOSITORY / "protocol" / "conformance"
FIXTURES = REPOSITORY / "Tests" / "Fixtures"

TYPES: Dict[str, Any] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


def mismatch(pattern: Any, value: Any, where: str = "reply") -> Optional[str]:
    """Why `value` does not match `pattern`, or None when it does."""
    said = "%s is %s" % (where, json.dumps(value)[:300])
    if isinstance(pattern, dict):
        if "$any" in pattern:
            return None
        if "$type" in pattern:
            kind = pattern["$type"]
            fits = isinstance(value, TYPES[kind])
            if isinstance(value, bool) and kind != "boolean":
                fits = False
            return None if fits else "%s, no %s" % (said, kind)
        if "$regex" in pattern:
            if isinstance(value, str) and re.search(pattern["$regex"], value):
                return None
            return "%s, which does not match %s" % (said, pattern["$regex"])
        if "$length" in pattern:
            if isinstance(value, (list, str, dict)) and len(value) == pattern["$length"]:
                return None
            return "%s, not of length %s" % (said, pattern["$length"])
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


class Wire:
    """A server started for one case, and its messages as they come."""

    def __init__(self, framing: str, cache: str, args: List[str]) -> None:
        self.framing = framing
        self.child = subprocess.Popen(
            [find_binary(), "serve", "--cache-dir", cache, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
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
                if self.framing == "lines":
                    self.messages.put(json.loads(line))
                    continue
                header = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
                if header is None or output.readline() != b"\r\n":
                    self.messages.put({"not a frame": repr(line)})
                    return
                self.messages.put(json.loads(output.read(int(header.group(1)))))

    def send(self, body: bytes) -> None:
        if self.framing == "lines":
            self.input.write(body + b"\n")
        else:
            self.input.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def next(self) -> Any:
        return self.messages.get(timeout=PATIENCE)

    def finish(self) -> int:
        self.input.close()
        code = self.child.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def stop(self) -> None:
        self.child.kill()
        self.child.wait()
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                stream.close()


class ConformanceTests(unittest.TestCase):
    def test_the_server_passes_every_case_in_both_framings(self) -> None:
        files = sorted(CASES.glob("*.json"))
        self.assertTrue(files, "there are no cases in %s" % CASES)
        server = LocalServer(
            {
                "/status/404": Page(b"There is nothing here.", status=404, kind="text/plain"),
                "/html": Page(b"<!doctype html><p>Not a picture.", kind="text/html"),
            },
            FIXTURES,
        )
        self.addCleanup(server.close)
        ran = 0
        for file in files:
            for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
                framing = case.get("framing", "both")
                for chosen in ("lines", "content-length") if framing == "both" else (framing,):
                    with self.subTest(file=file.name, case=case["name"], framing=chosen):
                        self.run_case(case, chosen, server.base)
                    ran += 1
        self.assertGreater(ran, 0, "the files hold no cases")

    def run_case(self, case: Dict[str, Any], framing: str, http: str) -> None:
        with tempfile.TemporaryDirectory(prefix="halcyon-test-") as folder:
            places = {
                "fixtures": str(FIXTURES),
                "cache": os.path.join(folder, "cache"),
                "work": os.path.join(folder, "work"),
                "http": http,
            }
            os.mkdir(places["work"])
            wire = Wire(framing, places["cache"], filled_in(case.get("args", []), places))
            try:
                for number, step in enumerate(filled_in(case["steps"], places), start=1):
                    self.run_step(step, wire, "step %d" % number)
                self.assertEqual(wire.finish(), case.get("exit", 0), "exit code")
                self.assertTrue(wire.messages.empty(), "a message that no step expects")
            finally:
                wire.stop()

    def run_step(self, step: Dict[str, Any], wire: Wire, where: str) -> None:
        if "send" in step:
            wire.send(json.dumps(step["send"], ensure_ascii=False).encode())
        elif "raw" in step:
            wire.send(step["raw"].encode())
        if "file" in step:
            shutil.copyfile(FIXTURES / step["file"]["copy"], step["file"]["to"])
        if "delete" in step:
            Path(step["delete"]).unlink()
        if "write" in step:
            Path(step["write"]["path"]).write_text(step["write"]["text"], encoding="utf-8")
        if step.get("expect") is not None:
            self.assertIsNone(mismatch(step["expect"], wire.next()), where)
        if "expectAny" in step:
            open_patterns = list(step["expectAny"])
            while open_patterns:
                message = wire.next()
                fitting = [one for one in open_patterns if mismatch(one, message) is None]
                self.assertTrue(fitting, "%s: nothing expects %s" % (where, json.dumps(message)))
                open_patterns.remove(fitting[0])


class PatternTests(unittest.TestCase):
    def test_patterns_tell_what_matches_from_what_does_not(self) -> None:
        for pattern, good, bad in (
            ({"a": 1}, {"a": 1, "b": 2}, {"a": 2}),
            ({"a": {"$absent": True}}, {"b": 1}, {"a": None}),
            ([1, {"$any": True}], [1, None], [1]),
            ({"$type": "integer"}, 3, True),
            ({"$type": "number"}, 3.5, "3.5"),
            ({"$type": "null"}, None, 0),
            ({"$regex": "^a+$"}, "aaa", "ab"),
            ({"$length": 2}, [1, 2], [1]),
            (True, True, 1),
            ("x", "x", "y"),
        ):
            with self.subTest(pattern=pattern):
                self.assertIsNone(mismatch(pattern, good))
                self.assertIsNotNone(mismatch(pattern, bad))


if __name__ == "__main__":
    unittest.main()
