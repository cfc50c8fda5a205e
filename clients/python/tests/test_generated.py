"""The files generated from protocol/openrpc.json: current, complete, the same for both clients, with valid types."""

import importlib.util
import inspect
import json
import subprocess
import sys
import tempfile
import typing
import unittest
from typing import Any, Dict, List, Set

import halcyon
from halcyon import AsyncClient, Client

from .support import PATIENCE, REPOSITORY

DOCUMENT: Dict[str, Any] = json.loads((REPOSITORY / "protocol" / "openrpc.json").read_text("utf-8"))

OWN = {"list": "list_entries", "rpc.discover": "discover"}
"""Methods that have another name here."""

ELSEWHERE = {"initialize", "shutdown", "stopPrefetch", "setPriority"}
"""Methods that the client calls by itself, and those about requests by their ids: `submit` and `call` are for these."""


def functions(client: type) -> Dict[str, Any]:
    found = inspect.getmembers(client, inspect.isfunction)
    return {name: function for name, function in found if not name.startswith("_")}


class GeneratedTests(unittest.TestCase):
    def test_it_is_what_the_protocol_says(self) -> None:
        command = [sys.executable, str(REPOSITORY / "clients" / "generate.py"), "--check", "python"]
        finished = subprocess.run(command, stderr=subprocess.PIPE, universal_newlines=True, timeout=PATIENCE)
        self.assertEqual((finished.returncode, finished.stderr), (0, ""))

    def test_both_clients_have_every_method_with_every_parameter(self) -> None:
        for method in DOCUMENT["methods"]:
            if not method.get("result") or method["name"] in ELSEWHERE:
                continue
            name = OWN.get(method["name"]) or _snake(method["name"])
            wanted = {_snake(param["name"]) for param in method["params"]} - {"cursor", "limit", "as"}
            for client in (Client, AsyncClient):
                with self.subTest(client=client.__name__, method=name):
                    given = set(inspect.signature(getattr(client, name)).parameters)
                    self.assertLessEqual(wanted, given)
                    self.assertIn("timeout", given)

    def test_both_clients_say_the_same_of_the_same_methods(self) -> None:
        ours, theirs = functions(Client), functions(AsyncClient)
        self.assertEqual(set(ours) - set(theirs), {"submit"})
        self.assertEqual(set(theirs) - set(ours), {"start"})
        for name in sorted(set(ours) & set(theirs) - {"events", "close", "call", "notify", "next_event"}):
            with self.subTest(name):
                one, other = inspect.signature(ours[name]), inspect.signature(theirs[name])
                self.assertEqual(one.parameters, other.parameters)
                self.assertEqual(_plain(one.return_annotation), _plain(other.return_annotation))
                self.assertEqual(ours[name].__doc__, theirs[name].__doc__)
                self.assertTrue(ours[name].__doc__)

    def test_the_annotations_of_everything_public_can_be_looked_up(self) -> None:
        for client in (Client, AsyncClient):
            for name, function in functions(client).items():
                with self.subTest(client=client.__name__, method=name):
                    self.assertIn("return", typing.get_type_hints(function))
        for name in halcyon.__all__:
            value = getattr(halcyon, name)
            if isinstance(value, type):
                with self.subTest(name):
                    typing.get_type_hints(value)

    def test_no_name_is_exported_twice_and_every_one_is_there(self) -> None:
        self.assertEqual(len(halcyon.__all__), len(set(halcyon.__all__)))
        self.assertEqual([name for name in halcyon.__all__ if not hasattr(halcyon, name)], [])

    def test_the_options_and_results_have_every_member(self) -> None:
        schemas = DOCUMENT["components"]["schemas"]
        self.assertEqual(set(halcyon.ImageOptions.__annotations__), set(schemas["ImageOptions"]["properties"]))
        self.assertEqual(set(halcyon.MemorySettings.__annotations__), set(schemas["MemorySettings"]["properties"]))
        for kind, schema in ((halcyon.ImageResult, "ImageResult"), (halcyon.VerifyResult, "VerifyResult")):
            wanted = {_snake(name) for name in schemas[schema]["properties"]}
            self.assertEqual(set(_fields(kind)) - {"extra"}, wanted)

    def test_there_is_a_class_for_every_code(self) -> None:
        for name, error in DOCUMENT["components"]["errors"].items():
            made = halcyon.errors.error_from_wire({"code": error["code"], "message": "m"})
            self.assertIsNot(type(made), halcyon.HalcyonError, name)
            self.assertEqual((made.name, type(made).__name__.lower()), (name, name.lower()))

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_a_type_checker_finds_nothing_and_finds_what_is_wrong(self) -> None:
        cache = tempfile.TemporaryDirectory(prefix="halcyon-test-")
        self.addCleanup(cache.cleanup)
        for text, complaints in (
            ('c.retrieve("u", processors=[{"resize": {"width": 9}}], options={"maxBytes": 5}).width + 1', 0),
            ('c.retrieve("u", processors="resize:9x/format:webp").width + 1', 0),
            ('c.subscribe("log"); [entry.key for entry in c.list_entries(host="h")]', 0),
            ('c.retrieve("u", options={"maxByte": 5})', 1),
            ('c.retrieve("u", processors=[{"resize": {"widht": 200}}])', 1),
            ('c.retrieve("u", processors=[{"resise": {"width": 200}}])', 1),
            ('c.submit("retrieve", {"url": "u"}).result().width + 1', 0),
            ('c.submit("retrieve", {"url": "u"}).result().widht', 1),
            ('[image.width + 1 for url, image in c.retrieve_iter(["u"])]', 0),
            ('[image.width for url, image in c.retrieve_iter(["u"], return_exceptions=True)]', 1),
            ('c.retrieve("u", as_="bytes")', 1),
            ('c.configure(memory={"totalBytesLimit": "much"})', 1),
        ):
            with self.subTest(text):
                program = "from halcyon import Client\nc = Client()\n" + text
                command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "-c", program]
                finished = subprocess.run(
                    command + ["--config-file", "", "--cache-dir", cache.name],
                    cwd=REPOSITORY / "clients" / "python" / "src",
                    stdout=subprocess.PIPE,
                    universal_newlines=True,
                    timeout=10 * PATIENCE,
                )
                self.assertEqual(finished.stdout.count("error:"), complaints, finished.stdout)


def _snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def _plain(annotation: str) -> str:
    return annotation.replace("AsyncIterator", "Iterator")


def _fields(kind: type) -> List[str]:
    names: Set[str] = set()
    for base in kind.__mro__:
        names |= set(getattr(base, "__dataclass_fields__", ()))
    return sorted(names)


if __name__ == "__main__":
    unittest.main()
