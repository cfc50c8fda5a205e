"""The cases of protocol/conformance, spoken to the real server byte by byte, by the runner that stands beside them.

The framing there is written anew, so that an error of the client cannot hide one of the server.
"""

import importlib.util
import sys
import unittest
from typing import Any

from halcyon import find_binary

from .support import REPOSITORY


def _runner() -> Any:
    spec = importlib.util.spec_from_file_location("conformance_run", REPOSITORY / "protocol" / "conformance" / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


runner = _runner()


class ConformanceTests(unittest.TestCase):
    def test_the_server_passes_every_case_in_both_framings(self) -> None:
        web = runner.Web(runner.FIXTURES)
        self.addCleanup(web.close)
        ran = 0
        for file, case, framing in runner.cases(runner.all_files()):
            with self.subTest(file=file.name, case=case["name"], framing=framing):
                try:
                    runner.run_case(case, framing, [find_binary()], web.base)
                except runner.Failed as failure:
                    self.fail(str(failure))
            ran += 1
        self.assertGreater(ran, 0, "the files hold no cases")

    def test_a_server_that_answers_otherwise_fails(self) -> None:
        case = {"name": "odd", "steps": [{"send": {"id": 1}, "expect": {"id": 2}}]}
        with self.assertRaises(runner.Failed):
            runner.run_case(case, "lines", ["sh", "-c", 'while read line; do echo "$line"; done'], "")
        quiet = {"name": "quiet", "steps": [{"send": {"id": 1}}]}
        with self.assertRaises(runner.Failed):
            runner.run_case(quiet, "lines", ["sh", "-c", 'while read line; do echo "$line"; done'], "")


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
                self.assertIsNone(runner.mismatch(pattern, good))
                self.assertIsNotNone(runner.mismatch(pattern, bad))
        self.assertIsNotNone(runner.mismatch({"$unheardOf": 1}, 1))


if __name__ == "__main__":
    unittest.main()
