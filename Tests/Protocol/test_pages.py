"""The pages of the methods are current, and their examples are true: ``python3 -m unittest discover -s Tests/Protocol``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import jsonschema

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = ROOT / "protocol"
BINARY = os.environ.get("HALCYON_BIN", str(ROOT / ".build" / "debug" / "halcyon"))

Json = Dict[str, Any]


def examples() -> Iterator[Tuple[Path, Json, List[Json]]]:
    """Every request in an example of a page, and the answers that stand with it; what is left out there is `…`."""
    for page in sorted((PROTOCOL / "methods").glob("*.md")):
        for block in re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            messages = [json.loads(line.replace("…", "")) for line in block.splitlines() if "…" not in _outside(line)]
            for request in [one for one in messages if "method" in one]:
                yield page, request, [one for one in messages if "method" not in one and one["id"] == request.get("id")]


def _outside(line: str) -> str:
    """A line without its strings."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', "", line)


class PageTests(unittest.TestCase):
    def test_every_page_and_schema_is_what_the_table_of_methods_says(self) -> None:
        check = subprocess.run([sys.executable, str(PROTOCOL / "pages.py"), "--check"], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_every_schema_is_one(self) -> None:
        files = sorted((PROTOCOL / "schemas").glob("*.json"))
        self.assertGreater(len(files), 20)
        for file in files:
            with self.subTest(file=file.name):
                jsonschema.Draft7Validator.check_schema(json.loads(file.read_text(encoding="utf-8")))

    def test_every_method_that_is_a_request_has_an_example(self) -> None:
        document = json.loads((PROTOCOL / "openrpc.json").read_text(encoding="utf-8"))
        shown = {request["method"] for _, request, _ in examples()}
        self.assertEqual({one["name"] for one in document["methods"] if "result" in one} - shown, set())

    def test_the_tables_have_a_row_for_every_method_and_every_option_of_the_server(self) -> None:
        document = json.loads((PROTOCOL / "openrpc.json").read_text(encoding="utf-8"))
        readme = (PROTOCOL / "README.md").read_text(encoding="utf-8")
        methods = re.findall(r"^\| \[([^\]]+)\]\(methods/", readme, re.MULTILINE)
        self.assertEqual(sorted(methods), sorted(one["name"] for one in document["methods"]))
        table, _, without_effect = (PROTOCOL / "options.md").read_text(encoding="utf-8").partition("\n## Options without effect\n")
        rows = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE) + [re.sub(r"\([^)]*\)", "", without_effect)]
        options = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(sorted(options), sorted(document["components"]["schemas"]["ImageOptions"]["properties"]))

    def test_every_example_fits_the_schemas(self) -> None:
        for page, request, answers in examples():
            name = request["method"].replace("$/", "").replace("/", "-")
            with self.subTest(page=page.name, request=request):
                if isinstance(request.get("params", {}), dict):
                    self._fits(request.get("params", {}), name + ".params.json")
                for answer in answers:
                    if "result" in answer:
                        self._fits(answer["result"], name + ".result.json")

    def _fits(self, value: Any, schema: str) -> None:
        content = json.loads((PROTOCOL / "schemas" / schema).read_text(encoding="utf-8"))
        jsonschema.Draft7Validator(content).validate(value)

    def test_every_example_is_understood_by_the_server(self) -> None:
        requests = [request for _, request, _ in examples() if "id" in request]
        with tempfile.TemporaryDirectory(prefix="halcyon-test-") as folder:
            for request in requests:
                with self.subTest(request=request):
                    answers = self._ask(request, folder)
                    self.assertEqual(len(answers), 1)
                    # What it is about is not there; that it was understood shows in the kind of error.
                    code = answers[0].get("error", {}).get("code", 0)
                    self.assertNotIn(code, (-32700, -32600, -32601, -32602, -32603), answers[0])

    def _ask(self, request: Json, folder: str) -> List[Json]:
        run = subprocess.run(
            [BINARY],
            input=json.dumps(request) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HALCYON_CACHE_DIR": folder, "HALCYON_OFFLINE": "true"},
        )
        return [json.loads(line) for line in run.stdout.splitlines()]


if __name__ == "__main__":
    unittest.main()
