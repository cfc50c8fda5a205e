"""The walls between the targets and the sizes of what is in them: ``python3 -m unittest discover -s Tests/Structure``."""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import Dict, List

import limits
from structure import package, swift
from structure.swift import SwiftFile

ROOT = Path(__file__).resolve().parents[2]


def wrong_imports(depends: Dict[str, List[str]], files: Dict[str, List[SwiftFile]]) -> List[str]:
    """The imports that no arrow allows, and the arrows that no import needs."""
    wrong = []
    for name, sources in files.items():
        imported = {module for file in sources for module in file.imports} - package.SYSTEM
        wrong += [f"{name} imports {module}" for module in sorted(imported - set(depends[name]))]
        wrong += [f"{name} needs no {module}" for module in sorted(set(depends[name]) - imported)]
    return wrong


def too_wide(files: List[SwiftFile]) -> List[str]:
    """The types that are spread over too many files."""
    counts = swift.spread(files)
    return [f"{name}: {count} files" for name, count in counts.items() if count > limits.WIDER.get(name, limits.SPREAD)]


def too_round(files: List[SwiftFile]) -> List[str]:
    """The circles of too many files."""
    parts = swift.cycles(swift.references(files))
    return [f"{len(part)} files: " + " ".join(sorted(part)) for part in parts if len(part) > limits.CYCLE]


def banned(files: List[SwiftFile]) -> List[str]:
    """The places of what no source contains."""
    return [f"{file.path}: {word}" for file in files for word in limits.BANNED if re.search(word, file.code)]


class WallTests(unittest.TestCase):
    def setUp(self) -> None:
        self.targets = {
            name: target
            for name, target in package.targets(ROOT / "Package.swift").items()
            if not target.is_test and any((ROOT / "Sources" / name).rglob("*.swift"))
        }
        self.files = {name: swift.read(ROOT / "Sources" / name) for name in self.targets}
        self.all = [file for sources in self.files.values() for file in sources]

    def test_a_target_imports_what_it_depends_on_and_nothing_else(self) -> None:
        self.assertEqual(wrong_imports({name: list(one.depends) for name, one in self.targets.items()}, self.files), [])

    def test_no_type_is_spread_over_more_than_six_files(self) -> None:
        self.assertEqual(too_wide(self.all), [])

    def test_no_circle_of_files_is_larger_than_one_can_hold_in_mind(self) -> None:
        for name, sources in self.files.items():
            with self.subTest(target=name):
                self.assertEqual(too_round(sources), [])

    def test_no_source_goes_around_the_checks_of_the_compiler(self) -> None:
        self.assertEqual(banned(self.all), [])

    def test_the_engine_does_not_grow(self) -> None:
        lines = sum(file.lines for name in limits.ENGINE for file in self.files[name])
        self.assertLessEqual(lines, limits.ENGINE_LINES)


class CheckTests(unittest.TestCase):
    """The checks themselves must be able to fail."""

    def file(self, name: str, text: str) -> SwiftFile:
        return SwiftFile(Path(name), text)

    def test_an_import_without_an_arrow_is_found_and_an_arrow_without_an_import(self) -> None:
        files = {"A": [self.file("a.swift", "internal import Glibc\n@_exported public import B\n// import D\n")]}
        self.assertEqual(wrong_imports({"A": ["C"]}, files), ["A imports B", "A needs no C"])
        self.assertEqual(wrong_imports({"A": ["B"]}, files), [])

    def test_a_type_over_seven_files_is_found(self) -> None:
        files = [self.file("0.swift", "public final class Wide {}\n")]
        files += [self.file(f"{number}.swift", "extension Wide {\n}\n") for number in range(1, 6)]
        self.assertEqual(too_wide(files), [])
        self.assertEqual(too_wide(files + [self.file("6.swift", "package extension Wide {\n}\n")]), ["Wide: 7 files"])

    def test_a_circle_of_too_many_files_is_found_and_a_chain_is_none(self) -> None:
        count = limits.CYCLE + 1
        chain = [self.file(f"{one}.swift", f"struct T{one} {{ let next: T{one + 1} }}\n") for one in range(count)]
        self.assertEqual(too_round(chain), [])
        circle = chain[:-1] + [self.file("end.swift", f"struct T{count - 1} {{ let next: T0? }} // T5\n")]
        self.assertEqual(len(too_round(circle)), 1)
        self.assertEqual(too_round(circle[1:]), [])

    def test_what_is_banned_is_found_but_not_in_comments_and_texts(self) -> None:
        for text in (
            "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1", "let a = try! f()", "fatalError()",
            "let a = Mutex<(() -> Void)?>(nil)",
        ):
            self.assertEqual(len(banned([self.file("a.swift", text)])), 1, text)
        self.assertEqual(banned([self.file("a.swift", '// try! f()\nlet a = "fatalError" // @unchecked Sendable\n')]), [])


if __name__ == "__main__":
    unittest.main()
