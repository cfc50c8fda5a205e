#!/usr/bin/env python3
"""Runs each recipe against the real server: an image, the same again, and one that is not there.

Usage: HALCYON_BIN=path/to/halcyon python3 -m unittest discover -s clients/recipes
"""

import http.server
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Dict, List

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parents[1] / "Tests" / "Fixtures" / "jpeg-photo.jpg"

PATIENCE = 120.0
"""Seconds after which a recipe counts as hanging; never reached by one that works."""

UNTESTED = "vscode_jsonrpc.mjs"
"""Needs a package of npm, which the tests do not install."""


class Pictures(http.server.BaseHTTPRequestHandler):
    """Has one picture, /cat.jpg."""

    def do_GET(self) -> None:
        found = self.path == "/cat.jpg"
        body = PICTURE.read_bytes() if found else b"There is nothing here."
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "image/jpeg" if found else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class RecipeTests(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="halcyon-recipes-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.base = "http://127.0.0.1:%d" % server.server_port

    def check(self, command: List[str], *, urls_by_environment: bool = False, in_order: bool = True) -> None:
        cat = self.base + "/cat.jpg"
        urls = [cat, cat, self.base + "/gone.jpg"]
        environment: Dict[str, str] = {
            **os.environ,
            "HALCYON_BIN": os.path.abspath(os.environ["HALCYON_BIN"]),
            "HALCYON_CACHE_DIR": self.folder,
            "HOME": self.folder,
        }
        if urls_by_environment:
            environment["URLS"] = " ".join(urls)
        done = subprocess.run(
            command if urls_by_environment else command + urls,
            env=environment,
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(lines), 3, done.stdout + done.stderr)
        first, again = (re.fullmatch(r"320 240 (\w+) (/.*\.jpg)", line) for line in lines[:2])
        assert first and again, done.stdout
        self.assertEqual(Path(first[2]).read_bytes(), PICTURE.read_bytes())
        self.assertEqual(again[2], first[2])
        # Sent without waiting, both share one download.
        self.assertEqual((first[1], again[1]), ("none", "memory") if in_order else ("none", "none"))
        self.assertEqual(lines[2], "error invalidStatusCode")

    def test_shell_and_jq(self) -> None:
        self.check(["sh", "shell.sh"], in_order=False)

    def test_perl(self) -> None:
        self.check(["perl", "perl.pl"])

    def test_ruby(self) -> None:
        self.check(["ruby", "ruby.rb"])

    def test_python_lsp_jsonrpc(self) -> None:
        self.check(["/usr/bin/python3", "pylsp_jsonrpc_client.py"])

    def test_jsonrpc_of_emacs(self) -> None:
        self.check(["emacs", "--batch", "-Q", "-l", "jsonrpc.el"])

    def test_rpc_of_neovim(self) -> None:
        command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile vim_lsp_rpc.lua"]
        self.check(command, urls_by_environment=True)

    def test_pygls_when_it_is_installed(self) -> None:
        if subprocess.run(["python3", "-c", "import pygls.client"], capture_output=True).returncode != 0:
            self.skipTest("pygls of PyPI is not installed")
        self.check(["python3", "pygls_client.py"])

    def test_every_recipe_is_listed_and_tested_or_said_not_to_be(self) -> None:
        recipes = sorted(path.name for path in HERE.iterdir() if path.is_file() and path.name != "README.md" and not path.name.startswith("test_"))
        readme = (HERE / "README.md").read_text("utf-8")
        tests = Path(__file__).read_text("utf-8")
        for recipe in recipes:
            self.assertIn("(%s)" % recipe, readme)
            self.assertIn(recipe, tests)


if __name__ == "__main__":
    unittest.main()
