"""The maps of the repository are true: ``python3 -m unittest discover -s Tests/Structure``."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, Set

import limits
from structure import package, swift
from structure.page import Page, Step, unknown
from structure.swift import SwiftFile

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources"
TESTS = ROOT / "Tests"
#: Names with a capital in the maps that are no types of ours.
WORDS = {"BREACH", "HALCYON_BIN", "Vary"}


def members(files: List[SwiftFile]) -> Dict[str, Set[str]]:
    """The members in the files of each type."""
    found: Dict[str, Set[str]] = {}
    for file in files:
        for name in file.all_types:
            found.setdefault(name, set()).update(file.members)
    return found


def missing(steps: List[Step], files: Dict[str, SwiftFile]) -> List[str]:
    """The steps whose function is not in their file."""
    wrong = []
    for step in steps:
        file = files.get(step.file)
        names = step.function.split(".")
        if file is None or names[-1] not in file.members or not set(names[:-1]) <= file.all_types:
            wrong.append(f"{step.function} in {step.file}")
    return wrong


class MapTests(unittest.TestCase):
    def setUp(self) -> None:
        self.sources = {str(file.path.relative_to(SOURCES)): file for file in swift.read(SOURCES)}
        self.targets = package.targets(ROOT / "Package.swift")
        self.map = Page(SOURCES / "README.md")

    def test_what_the_maps_name_is_there(self) -> None:
        tests = swift.read(TESTS)
        types = members(list(self.sources.values()) + tests)
        for page in (self.map, Page(TESTS / "README.md")):
            with self.subTest(page=str(page.path)):
                words = WORDS | set(self.targets)
                self.assertEqual(unknown(page, [SOURCES, TESTS, TESTS / "Campaigns", ROOT], types, words), [])

    def test_the_drawing_has_the_targets_and_arrows_of_the_package(self) -> None:
        ours = {name: one for name, one in self.targets.items() if not one.is_test and any((SOURCES / name).rglob("*.swift"))}
        drawn = self.map.arrows
        self.assertEqual({name: set(to) for name, to in drawn.items()}, {name: one.depends for name, one in ours.items()})
        order = list(drawn)
        for name, to in drawn.items():
            up = [other for other in to if other in order and order.index(other) <= order.index(name)]
            self.assertEqual(up, [], f"an arrow of {name} leads up")

    def test_the_ways_are_short_and_their_functions_are_in_their_files(self) -> None:
        for heading, most in limits.WAYS.items():
            with self.subTest(way=heading):
                steps = self.map.steps(heading)
                self.assertTrue(0 < len(steps) <= most, f"{len(steps)} functions")
                self.assertEqual(missing(steps, self.sources), [])

    def test_what_the_map_says_to_be_in_a_file_is_in_it(self) -> None:
        said = re.findall(r"`([A-Za-z]\w*(?:\.\w+)?)`\s*(?:in|\()\s*`([\w+/]+\.swift)`", self.map.text)
        self.assertGreater(len(said), 10)
        wrong = []
        for name, path in said:
            file = self.sources.get(path)
            cases = {word for line in re.findall(r"^ *case (\w.*)", file.code, re.M) for word in re.findall(r"\w+", line)} if file else set()
            if file is None or not set(name.split(".")) <= file.all_types | file.members | cases:
                wrong.append(f"{name} in {path}")
        self.assertEqual(wrong, [])

    def test_every_folder_of_tests_is_on_the_map(self) -> None:
        text = Page(TESTS / "README.md").text
        for folder in sorted(path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"):
            with self.subTest(folder=folder):
                self.assertIn(f"`{folder}", text)


class CheckTests(unittest.TestCase):
    """The checks themselves must be able to fail."""

    def page(self, text: str) -> Page:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "README.md"
        path.write_text(text, encoding="utf-8")
        return Page(path)

    def test_names_that_are_not_there_are_found(self) -> None:
        page = self.page("`A/a.swift` `A/b.swift` `Known` `Unknown.f` `Known.f(_:)` `Known.g` `word` [b](b.md)\n```\n`No`\n```\n")
        (page.path.parent / "A").mkdir()
        (page.path.parent / "A" / "a.swift").write_text("")
        found = unknown(page, [page.path.parent], {"Known": {"f"}}, set())
        self.assertEqual(found, ["A/b.swift", "Unknown.f", "Known.g", "b.md"])

    def test_a_step_that_is_elsewhere_is_found(self) -> None:
        page = self.page("## Way\n\n| function | file | thread |\n|---|---|---|\n| `A.f` | a.swift | reader |\n| `A.g` | a.swift | pool |\n")
        steps = page.steps("Way")
        self.assertEqual([step.thread for step in steps], ["reader", "pool"])
        files = {"a.swift": SwiftFile(Path("a.swift"), "extension A {\n    func f() {}\n    // func g()\n}\n")}
        self.assertEqual(missing(steps, files), ["A.g in a.swift"])
        self.assertEqual(missing([Step("B.f", "a.swift", "")], files), ["B.f in a.swift"])

    def test_a_drawing_is_read(self) -> None:
        page = self.page("```\nA ──▶ B C\nB ─────▶\n```\n")
        self.assertEqual(page.arrows, {"A": ["B", "C"], "B": []})


if __name__ == "__main__":
    unittest.main()
