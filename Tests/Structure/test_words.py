"""The words of sources and tests: ``python3 -m unittest discover -s Tests/Structure``."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path
from typing import List

import limits

ROOT = Path(__file__).resolve().parents[2]
#: The files in which people read words.
SUFFIXES = {".swift", ".py", ".c", ".h", ".md"}


def ids(folder: Path) -> List[str]:
    """The places of ids of a design."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and ".build" not in path.parts):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path}:{number}: {one}" for one in re.findall(limits.IDS, line)]
    return found


class WordTests(unittest.TestCase):
    def test_no_comment_and_no_name_of_a_test_has_an_id_of_a_design(self) -> None:
        self.assertEqual(ids(ROOT / "Sources") + ids(ROOT / "Tests"), [])

    def test_an_id_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "a.swift"
            path.write_text(f"// UTF-8, SHA-256, RFC 9110\n/// As it says ({'B'}-007, {'E2'} 83).\n", encoding="utf-8")
            self.assertEqual(ids(Path(name)), [f"{path}:2: {'B'}-007", f"{path}:2: {'E2'} 83"])


if __name__ == "__main__":
    unittest.main()
