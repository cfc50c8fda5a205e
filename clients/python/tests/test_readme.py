"""The first example of the README runs as it stands, but for the address of the picture."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import halcyon

from .support import PATIENCE, Case, Page, png

README = Path(__file__).resolve().parents[1] / "README.md"
ADDRESS = "https://example.com/cat.png"


class ReadmeTests(Case):
    def test_the_first_example_prints_what_it_says(self) -> None:
        found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
        assert found is not None
        example = found.group(1)
        self.assertIn(ADDRESS, example)
        http = self.serve({"/cat.png": Page(png(320, 213))})
        finished = subprocess.run(
            [sys.executable, "-c", example.replace(ADDRESS, http.base + "/cat.png")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=PATIENCE,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(halcyon.__file__).parents[1]),
                "HALCYON_CACHE_DIR": str(self.cache),
            },
        )
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))
        lines = finished.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith(str(self.cache)), lines[0])
        self.assertTrue(lines[0].endswith(" 320 213 none"), lines[0])
        self.assertEqual(lines[1], "memory")
        self.assertEqual(http.counts["/cat.png"], 1)


if __name__ == "__main__":
    unittest.main()
