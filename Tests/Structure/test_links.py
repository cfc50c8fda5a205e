"""The links between the pages lead somewhere: ``python3 -m unittest discover -s Tests/Structure``."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from structure import links

ROOT = Path(__file__).resolve().parents[2]


class LinkTests(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading_that_are_there(self) -> None:
        pages = links.pages(ROOT)
        self.assertGreater(len(pages), 20)
        for page in pages:
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertEqual(links.broken(page), [])


class CheckTests(unittest.TestCase):
    """The check itself must be able to fail."""

    def test_a_missing_file_and_a_missing_heading_are_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "b.md").write_text("# One `two`, three\n\n## Again\n\n## Again\n\n```\n# Code\n```\n", encoding="utf-8")
            page = folder / "a.md"
            page.write_text(
                "# A\n[1](b.md) [2](b.md#one-two-three) [3](b.md#again-1) [4](#a) [5](https://a/b.md#c) `[6](c.md)`\n"
                "[`7`](c.md) [8](b.md#again-2) [9](#b) [10](b.md#code)\n```\n[11](d.md)\n```\n",
                encoding="utf-8",
            )
            self.assertEqual(links.broken(page), ["c.md", "b.md#again-2", "#b", "b.md#code"])


if __name__ == "__main__":
    unittest.main()
