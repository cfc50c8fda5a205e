"""The program that shows the client at work."""

import os
import subprocess
import sys
import unittest
from typing import List

from halcyon import find_binary
from halcyon.__main__ import _line
from halcyon.results import image_result_from_wire

from .support import REPOSITORY, Case


class MainTests(Case):
    def run_main(self, arguments: List[str], binary: str = "") -> "subprocess.CompletedProcess[str]":
        environment = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY / "clients" / "python" / "src"),
            "HALCYON_BIN": binary or str(find_binary()),
            "HALCYON_CACHE_DIR": str(self.cache),
        }
        return subprocess.run(
            [sys.executable, "-m", "halcyon", *arguments], env=environment, capture_output=True, text=True, timeout=60
        )

    def test_without_urls_it_shows_what_a_cache_is_good_for(self) -> None:
        shown = self.run_main([])
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for words in ("downloaded   png, 200×200", "from memory  png, 200×200", "downloads: 1\n", "not a usable image"):
            self.assertIn(words, shown.stdout)
        self.assertFalse(self.cache.exists(), "the demonstration has touched the user's cache")

    def test_with_urls_it_fetches_them_and_tells_what_failed(self) -> None:
        picture = REPOSITORY / "Tests" / "Fixtures" / "png-rgb.png"
        shown = self.run_main([picture.as_uri(), "file:///nowhere.png"])
        self.assertEqual(shown.returncode, 1)
        self.assertIn("png, 61×37, 669 bytes\n             %s\n" % picture, shown.stdout)
        self.assertIn("nowhere.png", shown.stderr)

    def test_every_origin_of_an_image_has_words(self) -> None:
        for origin, words in (("remote", "from the remote tier png"), ("brandNew", "brandNew     png")):
            line = _line(image_result_from_wire({"key": "k", "cacheType": origin, "format": "png"}))
            self.assertTrue(line.startswith(words), line)

    def test_without_a_server_it_says_where_it_looked(self) -> None:
        shown = self.run_main([], binary="/nonexistent/halcyon")
        self.assertEqual((shown.returncode, shown.stdout), (2, ""))
        self.assertIn("HALCYON_BIN", shown.stderr)


if __name__ == "__main__":
    unittest.main()
