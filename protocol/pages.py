#!/usr/bin/env python3
"""Writes the page of each method, that of formats and processors, and the JSON Schemas of params and results, from openrpc.json.

``python3 protocol/pages.py`` writes them, ``--check`` ends with 1 when one is out of date. openrpc.json is itself made from the
server's table of methods (``halcyon discover``). What stands in a page below the line that says so is written by hand
and kept. Needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

HERE = Path(__file__).resolve().parent
MARK = "<!-- Above: made by protocol/pages.py. Below: written by hand. -->"
REF = "#/components/schemas/"
#: Where the shared schemas that have a table of their own are explained.
HOMES = {
    "ImageOptions": "../options.md",
    "Processor": "../processors.md",
    "MemorySettings": "../configuration.md#settings-of-a-cache",
    "DiskSettings": "../configuration.md#settings-of-a-cache",
    "DownloaderSettings": "../configuration.md#settings-of-the-downloader",
    "RemoteSettings": "../remote.md#settings",
    "Settings": "../configuration.md",
    "EntryDetails": "inspect.md#result",
}
#: The page of formats and processors, which is made whole.
FORMATS = "formats.md"
#: The result whose members others have too, with the page of its table, and how many of them make a reference worth it.
COMMON, COMMON_PAGE, COMMON_LEAST = "ImageResult", "retrieve.md#result", 4

Json = Dict[str, Any]


def slug(method: str) -> str:
    """The name of a method's files: no slash and no dollar sign."""
    return method.replace("$/", "").replace("/", "-")


# --- Schemas ----------------------------------------------------------------------------------------------------------


def references(schema: Any) -> Iterator[str]:
    """The names of the shared schemas that a schema refers to."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "$ref":
                yield str(value)[len(REF) :]
            else:
                yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def local(schema: Any) -> Any:
    """The schema with its references pointing into the document it will stand in."""
    if isinstance(schema, dict):
        return {
            name: "#/definitions/" + value[len(REF) :] if name == "$ref" else local(value)
            for name, value in schema.items()
        }
    return [local(value) for value in schema] if isinstance(schema, list) else schema


def standalone(schema: Json, title: str, shared: Dict[str, Json]) -> Json:
    """A schema with everything that it refers to, as a document of draft 7."""
    wanted: List[str] = []
    open_names = list(references(schema))
    while open_names:
        name = open_names.pop()
        if name not in wanted:
            wanted.append(name)
            open_names += references(shared[name])
    document: Json = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title, **local(schema)}
    if wanted:
        document["definitions"] = {name: local(shared[name]) for name in sorted(wanted)}
    return document


def described(schema: Any) -> Json:
    """The schema as an object: `true` allows everything."""
    return schema if isinstance(schema, dict) else {}


def params_schema(method: Json) -> Json:
    """The params of a method, given by name."""
    schema: Json = {
        "type": "object",
        "properties": {
            param["name"]: {**described(param["schema"]), "description": param["summary"]} for param in method["params"]
        },
        "patternProperties": {"^(_|x-)": True},
        "additionalProperties": method.get("x-lenient", False),
    }
    schema["properties"]["workDoneToken"] = {"type": ["string", "integer"], "description": "Where progress is reported."}
    required = [param["name"] for param in method["params"] if param["required"]]
    if required:
        schema["required"] = required
    if "x-anyOf" in method:
        schema["anyOf"] = [{"required": [name]} for name in method["x-anyOf"]]
    if "x-oneOf" in method:
        # Exactly one of them is given; null is not given.
        schema["oneOf"] = [
            {
                "required": [given],
                "properties": {name: {"type": "string" if name == given else "null"} for name in method["x-oneOf"]},
            }
            for given in method["x-oneOf"]
        ]
    return schema


# --- Pages ------------------------------------------------------------------------------------------------------------


def kind(schema: Any) -> str:
    """What a schema allows, in a word or two."""
    if not isinstance(schema, dict):
        return "any"
    if "$ref" in schema:
        name = str(schema["$ref"])[len(REF) :]
        return "[%s](%s)" % (name, HOMES[name]) if name in HOMES else name
    if schema.get("x-omittable"):
        return kind(without_null(schema))
    if "oneOf" in schema:
        return " or ".join(dict.fromkeys(kind(one) for one in schema["oneOf"]))
    if "const" in schema:
        return "`%s`" % json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join("`%s`" % json.dumps(one) for one in schema["enum"])
    types = schema.get("type", "any")
    if isinstance(types, list):
        return " or ".join(types)
    if types == "array":
        items = schema.get("items")
        return "array of %s" % kind(items) if items else "array"
    if types == "string" and schema.get("contentEncoding"):
        return "string, %s" % schema["contentEncoding"]
    if types in ("integer", "number"):
        bounds = [schema.get("minimum"), schema.get("maximum")]
        if None not in bounds:
            return "%s, %s to %s" % (types, *(f"{int(bound) if bound == int(bound) else bound:,}" for bound in bounds))
    return str(types)


def without_null(schema: Json) -> Json:
    """The schema of a member without the null that says the same as leaving it out."""
    found = {name: value for name, value in schema.items() if name != "x-omittable"}
    if isinstance(found.get("type"), list):
        kinds = [one for one in found["type"] if one != "null"]
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in found:
        found["enum"] = [one for one in found["enum"] if one is not None]
    if "oneOf" in found:
        found["oneOf"] = [one for one in found["oneOf"] if one != {"type": "null"}]
    return found


def table(head: List[str], rows: List[List[str]]) -> List[str]:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def rows_of_params(method: Json) -> Iterator[List[str]]:
    """The rows of a method's parameters."""
    for param in method["params"]:
        default = described(param["schema"]).get("default")
        given = "required" if param["required"] else "" if default is None else "`%s`" % json.dumps(default)
        if param["name"] in method.get("x-anyOf", []):
            others = ["`%s`" % name for name in method["x-anyOf"] if name != param["name"]]
            given = "this or %s" % " or ".join(others)
        yield ["`%s`" % param["name"], kind(param["schema"]), given, param["summary"]]


def members(name: str, definition: Json, shared: Dict[str, Json]) -> List[str]:
    """The members of a result: a table, and a line for those that stand in the table of the image."""
    required = definition.get("required", [])
    labels = {field: "`%s`%s" % (field, "" if field in required else "?") for field in definition["properties"]}
    image = shared[COMMON]["properties"] if name != COMMON else {}
    common = [field for field, one in definition["properties"].items() if image.get(field) == one]
    if len(common) < COMMON_LEAST:
        common = []
    own = {field: one for field, one in definition["properties"].items() if field not in common}
    rows = [[labels[field], kind(one), one.get("description", "")] for field, one in own.items()]
    lines = table(["member", "type", "meaning"], rows) + [""] if rows else []
    if common:
        first = "Also, as in" if rows else "As in"
        lines += ["%s [%s](%s): %s." % (first, COMMON, COMMON_PAGE, ", ".join(labels[field] for field in common)), ""]
    return lines


def generated(method: Json, document: Json) -> str:
    """The part of a page that the table of methods knows."""
    shared = document["components"]["schemas"]
    name = method["name"]
    lines = ["# " + name, "", method["summary"], "", "## Parameters", ""]
    if method["params"]:
        lines += ["By name, or in this order:", ""]
        lines += table(["name", "type", "default", "meaning"], list(rows_of_params(method))) + [""]
    else:
        lines += ["None.", ""]
    lines += ["## Result", ""]
    if "result" not in method:
        lines += ["None: a notification is never answered.", ""]
    else:
        schema = method["result"]["schema"]
        definition = shared[schema["$ref"][len(REF) :]] if "$ref" in schema else schema
        if definition.get("properties"):
            lines += members(method["result"]["name"], definition, shared)
        else:
            lines += ["%s." % method["result"]["name"], ""]
    files = ["[params](../schemas/%s.params.json)" % slug(name)]
    if "result" in method:
        files.append("[result](../schemas/%s.result.json)" % slug(name))
    lines += ["Schemas: %s. [All methods](../README.md#methods)" % ", ".join(files), "", MARK]
    return "\n".join(lines) + "\n"


def pages(document: Json) -> Iterator[Tuple[Path, str]]:
    """Every file that is made, with its text."""
    shared = document["components"]["schemas"]
    for method in document["methods"]:
        name = method["name"]
        path = HERE / "methods" / (slug(name) + ".md")
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        by_hand = old.partition(MARK)[2].lstrip("\n")
        yield path, generated(method, document) + ("\n" + by_hand if by_hand else "")
        schemas = [("params", params_schema(method))]
        if "result" in method:
            schemas.append(("result", method["result"]["schema"]))
        for part, schema in schemas:
            text = json.dumps(standalone(schema, "%s %s" % (name, part), shared), indent=2, ensure_ascii=False)
            yield HERE / "schemas" / ("%s.%s.json" % (slug(name), part)), text + "\n"
    yield HERE / FORMATS, formats_page(document)


# --- Formats and processors -------------------------------------------------------------------------------------------

READS = {"one": "one picture", "frames": "all frames", "pages": "pages"}


def rows_of_formats(formats: List[Json]) -> Iterator[List[str]]:
    """The rows of the formats: what is read of each, and what a file that is written holds."""

    def mark(value: bool) -> str:
        return "yes" if value else "–"

    for one in formats:
        row = ["`%s`" % one["name"], one["mimeType"], READS[one["reads"]]]
        made = one.get("writes")
        if made is None:
            yield row + ["–"] * 6
            continue
        quality = str(made["quality"]) if "quality" in made else "–"
        lossless = "–" if not made["lossless"] else "if asked for" if "quality" in made else "always"
        yield row + [
            "all frames" if made["frames"] else "one picture",
            mark(made["alpha"]),
            "more than 8" if made["sixteenBits"] else "8",
            mark(made["profile"]),
            lossless,
            quality,
        ]


def rows_of_processors(processors: List[Json]) -> Iterator[List[str]]:
    """The rows of the processors: their members, and their examples."""
    for one in processors:
        name, schema = next(iter(one["properties"].items()))
        required = schema.get("required", [])
        given = [
            "`%s%s`: %s" % (member, "" if member in required else "?", kind(value))
            for member, value in schema["properties"].items()
        ]
        examples = ", ".join("`%s`" % example for example in one["x-examples"])
        yield ["`%s`" % name, one["description"], "<br>".join(given) or "none", examples]


def formats_page(document: Json) -> str:
    """The page of formats and processors."""
    lines = ["# Formats and processors at a glance", ""]
    lines += ["Made by `pages.py` from the tables of the server. More words: [Processors and formats](processors.md).", ""]
    lines += ["## Formats", "", "`initialize` names what the worker of this machine has: `format.webp.decode`, `format.webp.encode`.", ""]
    head = ["format", "media type", "read", "written", "transparency", "bits", "colour profile", "lossless", "quality if not given"]
    lines += table(head, list(rows_of_formats(document["x-formats"])))
    lines += ["", "## Processors", "", "In the order of the document; the examples are [texts](processors.md#processors-as-a-text).", ""]
    processors = document["components"]["schemas"]["Processor"]["oneOf"]
    lines += table(["processor", "does", "members", "examples"], list(rows_of_processors(processors)))
    return "\n".join(lines) + "\n"


def offences(text: str) -> Iterator[str]:
    """What is wrong with the examples of a page: none, or one that is not JSON."""
    examples = [block.partition("\n")[2] for block in text.split("```")[1::2] if block.startswith("json\n")]
    if not examples:
        yield "has no example"
    for line in (line for example in examples for line in example.strip().split("\n")):
        try:
            json.loads(line)
        except ValueError:
            yield "has an example that is not JSON: %s" % line[:80]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the pages and schemas of all methods.")
    parser.add_argument("--check", action="store_true", help="change nothing; end with 1 when something is out of date")
    check = parser.parse_args().check
    document = json.loads((HERE / "openrpc.json").read_text(encoding="utf-8"))
    made = dict(pages(document))
    present = {path for folder in ("methods", "schemas") for path in (HERE / folder).glob("*.*")}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += sorted(present - set(made))
    methods = {path: text for path, text in made.items() if path.parent.name == "methods"}
    bare = [path for path, text in methods.items() if not text.partition(MARK)[2].strip()]
    if not check:
        for path, text in made.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for path in present - set(made):
            path.unlink()
        stale = []
    for path in stale:
        print("%s is out of date; run python3 protocol/pages.py" % path.relative_to(HERE.parent))
    wrong = [(path, what) for path, text in methods.items() for what in offences(text)]
    for path, what in wrong:
        print("%s %s" % (path.relative_to(HERE.parent), what))
    for path in bare:
        print("%s says nothing by hand" % path.relative_to(HERE.parent))
    return 1 if stale or bare or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
