"""The packages under test, a web server for them, and what an installed halcyon has to do."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "Tests/Fixtures"
#: The width and height of a picture that each client loads, and those of the small one that it has made of it.
CLIENT_SIZES = [320, 240, 16, 16]
BINARIES = Path(os.environ.get("HALCYON_BIN", str(ROOT / ".build/debug/halcyon"))).resolve().parent


class Made:
    """The packages of the build under test, made twice at the same time under different circumstances."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="halcyon-packages-")
        self.folder = Path(self._folder.name, "first")
        self.again = Path(self._folder.name, "second")
        #: What the command printed, unless the packages were made before.
        self.printed = ""
        given = os.environ.get("HALCYON_PACKAGES")
        if given:
            # The packages of a release, made before.
            self.folder = self.again = Path(given).resolve()
            return
        odd = {**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7", "HOME": self._folder.name}
        near = Path(os.path.relpath(BINARIES))
        runs = [self._make(self.folder, "022", dict(os.environ)), self._make(self.again, "077", odd, near)]
        for run in runs:
            self.printed, _ = run.communicate()
            if run.returncode != 0:
                raise AssertionError(self.printed)

    @staticmethod
    def _make(
        folder: Path, mask: str, environment: Dict[str, str], binaries: Path = BINARIES
    ) -> "subprocess.Popen[str]":
        command = f'umask {mask}; exec "$0" --toolchain --binaries "$1" "$2"'
        return subprocess.Popen(
            ["sh", "-c", command, str(ROOT / ".ci/package"), str(binaries), str(folder)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def one(self, pattern: str) -> Path:
        """The package whose name the pattern matches."""
        (found,) = self.folder.glob(pattern)
        return found


@functools.lru_cache(maxsize=None)
def made() -> Made:
    """The packages, made by the first test that asks."""
    return Made()


class PackageTest(unittest.TestCase):
    """A test with a folder of its own, in which an environment is clean: no settings, no executable on PATH."""

    #: What stands before a command that is to run in another root.
    entering: List[str] = []

    def outside(self, path: str) -> Path:
        """The file that a server under test means by a path."""
        return Path(path)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="halcyon-place-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.environment = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run_there(
        self, *command: object, status: Optional[int] = 0, cwd: Optional[Path] = None, patience: int = 120, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a program in the clean environment to its end."""
        done = subprocess.run(
            [str(word) for word in command],
            env={**self.environment, **variables},
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=patience,
        )
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def ask(self, program: Path, *requests: Dict[str, Any], **variables: str) -> List[Dict[str, Any]]:
        """The answers of a server to requests, each sent when the one before is answered."""
        server = subprocess.Popen(
            [*self.entering, str(program), "--cache-dir", str(self.folder / "cache")],
            env={**self.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdin is not None and server.stdout is not None
        answers = []
        for number, request in enumerate(requests):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n")
            server.stdin.flush()
            answers.append(next(answer for answer in map(json.loads, server.stdout) if answer.get("id") == number))
        server.stdin.close()
        server.stdout.read()
        server.stdout.close()
        self.assertEqual(server.wait(60), 0)
        return answers

    def expect_work(self, program: Path, **variables: str) -> None:
        """Has an installed server download a picture and make small forms of pictures of several formats."""
        with web() as address:
            requests = [{"method": "retrieve", "params": {"url": f"{address}/jpeg-photo.jpg"}}]
            for name in ("jpeg-photo.jpg", "avif-rgb.avif", "heic-rgb.heic", "webp-lossy.webp", "svg-sized.svg"):
                steps = [{"resize": {"width": 16, "height": 16, "mode": "aspectFit"}}, {"format": {"to": "png"}}]
                requests.append({"method": "retrieve", "params": {"url": f"{address}/{name}", "processors": steps}})
            first, *small = self.ask(program, *requests, **variables)
        self.assertEqual((first["result"]["width"], first["result"]["height"]), (320, 240), first)
        self.assertEqual(self.outside(first["result"]["path"]).read_bytes(), (FIXTURES / "jpeg-photo.jpg").read_bytes())
        for answer in small:
            self.assertIn("result", answer)
            self.assertEqual(max(answer["result"]["width"], answer["result"]["height"]), 16, answer)
            self.assertTrue(self.outside(answer["result"]["path"]).read_bytes().startswith(b"\x89PNG"), answer)


class ClientTest(PackageTest):
    """A test of a client, which finds the server that was built by the environment."""

    def setUp(self) -> None:
        super().setUp()
        self.environment["HALCYON_BIN"] = str(BINARIES / "halcyon")


def without_libvips(codec: Path) -> None:
    """Changes a codec worker so that it asks the loader for a library of another name, which no machine has."""
    codec.write_bytes(codec.read_bytes().replace(b"libvips.so.42", b"libvipz.so.42"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def web() -> Iterator[str]:
    """The address of a web server with the pictures of the tests."""
    handler = functools.partial(_Quiet, directory=str(FIXTURES))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def needs(program: str) -> Any:
    """Leaves out a test on machines without a program."""
    return unittest.skipUnless(shutil.which(program), f"there is no {program}")
