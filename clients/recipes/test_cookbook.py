#!/usr/bin/env python3
"""Runs the programs of the cookbook, of the troubleshooting page and of the top README against the real server, and compares what they print.

Usage: HALCYON_BIN=path/to/halcyon python3 -m unittest discover -s clients/recipes
"""

import functools
import http.server
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional

CLIENTS = Path(__file__).resolve().parents[1]
ROOT = CLIENTS.parent
FIXTURES = ROOT / "Tests" / "Fixtures"
STAND_INS = Path(__file__).resolve().parent / "stand_ins"

PATIENCE = 120.0
"""Seconds after which a program counts as hanging; never reached by one that works."""

PICTURES = {"/cat.jpg": FIXTURES / "jpeg-photo.jpg", "/boat.png": FIXTURES / "png-rgb.png"}

AFTER = {
    "A Flask route": """
client = app.test_client()
answers = [client.get("/thumbnails/" + name) for name in ("cat.jpg", "gone.jpg")]
print([answer.status_code for answer in answers], answers[0].mimetype, answers[0].data[:2] == b"\\xff\\xd8")
images.close()
""",
}
"""What is run behind a program that only defines something."""


class Origin(http.server.BaseHTTPRequestHandler):
    """Has the pictures, and counts what it is asked for."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path == "/silent":
            self.rfile.read(1)  # until the client has gone
            return
        picture = PICTURES.get(self.path)
        found = picture is not None or self.path == "/login"
        body = picture.read_bytes() if picture else b"<html>Please log in.</html>"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/octet-stream" if picture else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Snippet(NamedTuple):
    """A program of a page, and what it prints."""

    language: str
    code: str
    prints: Optional[str]


@functools.lru_cache(maxsize=None)
def snippets(page: Path, heading: Optional[str] = None) -> List[Snippet]:
    """The programs of a page, or of one of its sections; a block of text behind one is what it prints."""
    text = page.read_text("utf-8")
    if heading is not None:
        found = re.search(r"^## %s$(.*?)(?=^## |\Z)" % re.escape(heading), text, re.M | re.S)
        assert found, heading
        text = found[1]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    after = blocks[1:] + [("", "")]
    return [
        Snippet(language, code, then[1] if then[0] == "text" else None)
        for (language, code), then in zip(blocks, after)
        if language != "text"
    ]


def pattern(expected: str) -> str:
    """A regular expression for a text in which … stands for anything."""
    return ".*".join(re.escape(part) for part in expected.strip().split("…"))


class CookbookTests(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="halcyon-cookbook-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
        self.server.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.modules = self.folder / "node_modules"
        self.modules.mkdir()
        (self.modules / "halcyon-client").symlink_to(CLIENTS / "node")

    def local(self, code: str) -> str:
        """The program with the web server of the test in the place of example.com."""
        here = "127.0.0.1"
        code = code.replace("https://example.com", "http://%s:%d" % (here, self.server.server_port))
        return code.replace('"example.com"', '"%s"' % here).replace('"--allowed-schemes", "https"', '"--allowed-schemes", "http"')

    def environment(self, *paths: Path) -> Dict[str, str]:
        binary = Path(os.environ["HALCYON_BIN"]).resolve()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HALCYON_")}
        return {
            **kept,
            "PATH": "%s:%s" % (binary.parent, os.environ["PATH"]),
            "PYTHONPATH": ":".join(str(path) for path in (CLIENTS / "python" / "src", *paths)),
            "HALCYON_CACHE_DIR": str(self.folder / "cache"),
            "HOME": str(self.folder),
        }

    def command(self, language: str, code: str) -> List[str]:
        name, program = {"python": ("a.py", sys.executable), "js": ("a.mjs", "node"), "sh": ("a.sh", "sh")}[language]
        (self.folder / name).write_text(self.local(code), "utf-8")
        return [program, name]

    def symptom(self, code: str) -> str:
        """What a command prints that shows a problem, wherever it prints it and however it ends."""
        done = subprocess.run(
            self.command("sh", code),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout.strip()

    def output(self, language: str, code: str, *paths: Path) -> str:
        done = subprocess.run(
            self.command(language, code),
            cwd=self.folder,
            env=self.environment(*paths),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.strip()

    def check(self, heading: str, *, sorted_lines: bool = False) -> None:
        """Runs the programs of a section one after the other."""
        found = snippets(CLIENTS / "cookbook.md", heading)
        self.assertTrue(found)
        for snippet in found:
            printed = self.output(snippet.language, snippet.code)
            expected = snippet.prints
            assert expected is not None, snippet.code
            if sorted_lines:
                printed, expected = ("\n".join(sorted(text.strip().splitlines())) for text in (printed, expected))
            self.assertRegex(printed, re.compile(r"\A%s\Z" % pattern(expected), re.S))

    def asked(self, path: str) -> int:
        return self.server.asked.count(path)  # type: ignore[attr-defined]

    def test_thumbnails_at_2x(self) -> None:
        self.check("Thumbnails at 2x")
        self.assertEqual(self.asked("/cat.jpg"), 1)

    def test_a_gallery_with_progress(self) -> None:
        self.check("A gallery with progress", sorted_lines=True)

    def test_a_reader_prefetches_and_joins_the_download(self) -> None:
        self.check("Prefetch for a reader")
        self.assertEqual((self.asked("/cat.jpg"), self.asked("/boat.png")), (1, 1))

    def test_offline(self) -> None:
        self.check("Offline")
        self.assertEqual(self.asked("/other.jpg"), 0)

    def test_a_cache_in_ci_is_shared_saved_and_restored(self) -> None:
        self.check("Sharing a cache in CI")
        self.assertEqual(self.asked("/cat.jpg"), 1)

    def test_a_fake_origin(self) -> None:
        self.check("Tests with a fake origin")

    def flask(self, *paths: Path) -> None:
        (snippet,) = snippets(CLIENTS / "cookbook.md", "A Flask route")
        self.assertEqual(self.output("python", snippet.code + AFTER["A Flask route"], *paths), "[200, 404] image/jpeg True")

    def test_the_flask_route_with_a_stand_in(self) -> None:
        self.flask(STAND_INS)

    @unittest.skipUnless(importlib.util.find_spec("flask"), "Flask is not installed")
    def test_the_flask_route_with_flask(self) -> None:
        self.flask()

    def test_the_express_route_with_a_stand_in(self) -> None:
        (snippet,) = snippets(CLIENTS / "cookbook.md", "An Express route")
        (self.modules / "express").symlink_to(STAND_INS / "express")
        self.assertIn("app.listen(3000);", snippet.code)
        command = self.command("js", snippet.code.replace("app.listen(3000);", "app.listen(0);"))
        with subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                base = "http://127.0.0.1:%d/thumbnails/" % int(process.stdout.readline())
                with urllib.request.urlopen(base + "cat.jpg", timeout=PATIENCE) as answer:
                    self.assertEqual(answer.headers["Content-Type"], "image/jpeg")
                    self.assertEqual(answer.read(2), b"\xff\xd8")
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    urllib.request.urlopen(base + "gone.jpg", timeout=PATIENCE)
                self.assertEqual(raised.exception.code, 404)
                raised.exception.close()
            finally:
                process.terminate()

    def test_each_symptom_looks_as_the_page_says(self) -> None:
        found = snippets(CLIENTS / "troubleshooting.md")
        self.assertGreater(len(found), 10)
        for snippet in found:
            with self.subTest(command=snippet.code):
                assert snippet.prints is not None
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
                expected = pattern(self.local(snippet.prints))
                self.assertRegex(self.symptom(snippet.code), re.compile(r"\A%s\Z" % expected, re.S))

    def test_the_thumbnails_of_the_top_readme(self) -> None:
        first = ROOT.joinpath("README.md").read_text("utf-8").split("\n## ")[0]
        programs = [one for one in snippets(ROOT / "README.md") if one.code in first and "example.com" in one.code]
        self.assertEqual([one.language for one in programs], ["python", "js", "sh"])
        for program in programs:
            self.assertRegex(self.output(program.language, program.code), r"\A/.*\.jpg( 256 192 (none|disk))?\Z")

    def test_every_program_of_the_cookbook_has_a_test(self) -> None:
        headings = re.findall(r"^## (.*)$", (CLIENTS / "cookbook.md").read_text("utf-8"), re.M)
        tests = Path(__file__).read_text("utf-8")
        self.assertEqual([one for one in headings if '"%s"' % one not in tests], [])


if __name__ == "__main__":
    unittest.main()
