#!/usr/bin/env python3
"""Writes the types and tables of the editors' clients from protocol/openrpc.json.

Usage: generate.py [--check] [neovim|vscode]…

Without names all are written. With --check nothing is written, and the exit code is 1 when a file is not what would be.
"""

import json
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

CLIENTS = Path(__file__).resolve().parent
Schema = Dict[str, Any]


def first_upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def type_name(method: str) -> str:
    """`downloader/modifyRequest` → `DownloaderModifyRequest`."""
    return "".join(first_upper(part) for part in method.replace("$/", "").replace("/", ".").split("."))


class Protocol:
    """The document, and what the clients need of it."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.schemas: Dict[str, Schema] = document["components"]["schemas"]
        self.errors: Dict[str, Any] = document["components"]["errors"]
        self.events: List[Dict[str, Any]] = document["x-events"]
        self.questions: List[Dict[str, Any]] = document["x-clientMethods"]
        self.limits: Dict[str, int] = document["x-limits"]
        self._lists: set = set()
        self.methods = [method for method in document["methods"] if method.get("result")]

    def params_schema(self, method: Dict[str, Any]) -> Schema:
        """The parameters of a method as one object."""
        properties = {
            param["name"]: {**param["schema"], "description": param.get("summary", "")}
            if isinstance(param["schema"], dict)
            else {"description": param.get("summary", "")}
            for param in method["params"]
        }
        required = [param["name"] for param in method["params"] if param.get("required")]
        return {"type": "object", "properties": properties, "required": required}

    def objects(self) -> List[str]:
        """The names of members that hold objects and never lists: where an empty table of Lua must become `{}`."""
        found, self._lists = set(), set()
        for method in self.methods:
            for name, schema in self.params_schema(method)["properties"].items():
                self._gather(name, schema, found, set())
        for question in self.questions:
            self._gather("", question["result"], found, set())
        return sorted(found - self._lists - {""})

    def _gather(self, name: str, schema: Any, found: set, seen: set) -> None:
        if not isinstance(schema, dict):
            return
        if "$ref" in schema:
            reference = schema["$ref"].rsplit("/", 1)[1]
            if (name, reference) not in seen:
                seen.add((name, reference))
                self._gather(name, self.schemas[reference], found, seen)
        if schema.get("type") == "object":
            found.add(name)
        if schema.get("type") == "array":
            self._lists.add(name)
        for inner in schema.get("oneOf", []):
            self._gather(name, inner, found, seen)
        for inner_name, inner in schema.get("properties", {}).items():
            self._gather(inner_name, inner, found, seen)
        self._gather("", schema.get("additionalProperties"), found, seen)
        self._gather("", schema.get("items"), found, seen)


class Language:
    """How a language writes the types of JSON schemas."""

    names: Dict[str, str]

    def reference(self, name: str) -> str:
        raise NotImplementedError

    def object(self, members: List[Tuple[str, bool, str]]) -> str:
        raise NotImplementedError

    def map(self, value: str) -> str:
        raise NotImplementedError

    def array(self, item: str) -> str:
        return "(%s)[]" % item if "|" in item else "%s[]" % item

    def type(self, schema: Any) -> str:
        if not isinstance(schema, dict):
            return self.names["any"]
        if "$ref" in schema:
            return self.reference(schema["$ref"].rsplit("/", 1)[1])
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return "|".join(json.dumps(value) for value in schema["enum"])
        if "oneOf" in schema:
            return "|".join(dict.fromkeys(self.type(inner) for inner in schema["oneOf"]))
        kind = schema.get("type")
        if isinstance(kind, list):
            return "|".join(self.type({**schema, "type": one}) for one in kind)
        if kind == "array":
            return self.array(self.type(schema.get("items")))
        if kind == "object":
            properties = schema.get("properties")
            if properties:
                required = schema.get("required", [])
                return self.object([(name, name in required, self.type(inner)) for name, inner in properties.items()])
            inner = schema.get("additionalProperties")
            return self.map(self.type(inner if isinstance(inner, dict) else None))
        return self.names.get(str(kind), self.names["any"])


class Lua(Language):
    names = {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "null": "nil", "any": "any"}

    def reference(self, name: str) -> str:
        return "halcyon." + name

    def object(self, members: List[Tuple[str, bool, str]]) -> str:
        return "{ %s }" % ", ".join("%s%s: %s" % (n, "" if needed else "?", t) for n, needed, t in members)

    def map(self, value: str) -> str:
        return "table<string, %s>" % value


class TypeScript(Language):
    names = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null", "any": "unknown"}

    def reference(self, name: str) -> str:
        return name

    def object(self, members: List[Tuple[str, bool, str]]) -> str:
        return "{ %s }" % "; ".join("%s%s: %s" % (n, "" if needed else "?", t) for n, needed, t in members)

    def map(self, value: str) -> str:
        return "Record<string, %s>" % value


NOTE = "Made by clients/generate.py from protocol/openrpc.json."


def description(schema: Any) -> str:
    text = str(schema.get("description", "")) if isinstance(schema, dict) else ""
    default = schema.get("default") if isinstance(schema, dict) else None
    if default is None or default == [] or default == {}:
        return text
    return "%s Default: %s." % (text, json.dumps(default))


def named_types(protocol: Protocol) -> Iterator[Tuple[str, Schema, str]]:
    """Every type with a name: its name, its schema, its summary."""
    for name, schema in protocol.schemas.items():
        yield name, schema, schema.get("description", "")
    for method in protocol.methods:
        if method["params"]:
            yield type_name(method["name"]) + "Params", protocol.params_schema(method), method["summary"]
    for event in protocol.events:
        yield type_name(event["name"]) + "Event", event["params"], event["summary"]
    for question in protocol.questions:
        yield type_name(question["name"]) + "Params", question["params"], question["summary"]
        yield type_name(question["name"]) + "Result", question["result"], ""


def lua_method(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def result_type(method: Dict[str, Any], language: Language) -> str:
    return language.type(method["result"]["schema"])


def lua_types(protocol: Protocol) -> str:
    lua = Lua()
    lines = ["---@meta", "-- " + NOTE, ""]
    for name, schema, summary in named_types(protocol):
        if summary:
            lines.append("--- " + summary)
        if schema.get("properties"):
            lines.append("---@class halcyon.%s" % name)
            required = schema.get("required", [])
            for member, inner in schema["properties"].items():
                mark = "" if member in required else "?"
                lines.append(("---@field %s%s %s %s" % (member, mark, lua.type(inner), description(inner))).rstrip())
        else:
            lines.append("---@alias halcyon.%s %s" % (name, lua.type(schema)))
        lines.append("")
    lines.append("---@alias halcyon.EventName %s" % "|".join(json.dumps(event["name"]) for event in protocol.events))
    lines.append("---@alias halcyon.ErrorName %s" % "|".join(json.dumps(name) for name in protocol.errors))
    lines += ["", "--- The questions of the server that a client may answer; nil leaves a matter to the server, vim.NIL is null."]
    lines.append("---@class halcyon.Delegates")
    for question in protocol.questions:
        name = type_name(question["name"])
        lines.append(
            "---@field [%s]? fun(params: halcyon.%sParams): halcyon.%sResult|vim.NIL|nil %s"
            % (json.dumps(question["name"]), name, name, question["summary"])
        )
    lines += ["", "--- Each method: `params` may be left out where none is needed, and so may `options`."]
    lines.append("---@class halcyon.Methods")
    for method in protocol.methods:
        if method["name"] in LIFE_CYCLE:
            continue
        schema = protocol.params_schema(method)
        params = "params: nil" if not method["params"] else "params: halcyon.%sParams" % type_name(method["name"])
        if schema["required"]:
            params += "|" + lua.type(schema["properties"][schema["required"][0]])
        elif method["params"]:
            params = params.replace("params:", "params?:")
        callback = "fun(err: halcyon.Error?, result: %s)" % result_type(method, lua)
        lines.append(
            "---@field %s fun(%s, options?: halcyon.CallOptions, callback?: %s): halcyon.Handle %s"
            % (lua_method(method["name"]), params, callback, method["summary"])
        )
    return "\n".join(lines) + "\n"


LIFE_CYCLE = {"initialize", "shutdown"}


def lua_protocol(protocol: Protocol) -> str:
    def listed(values: List[str]) -> str:
        return "{ %s }" % ", ".join(json.dumps(value) for value in values) if values else "{}"

    lines = ["-- " + NOTE, "return {", "  --- Every method that is answered: its parameters in their order, the one that stands alone, its summary."]
    lines.append("  methods = {")
    for method in protocol.methods:
        schema = protocol.params_schema(method)
        alone = json.dumps(schema["required"][0]) if schema["required"] else "nil"
        kind = schema["properties"][schema["required"][0]].get("type") if schema["required"] else None
        lines.append("    [%s] = {" % json.dumps(method["name"]))
        lines.append("      params = %s," % listed([param["name"] for param in method["params"]]))
        if schema["required"]:
            lines.append("      alone = %s," % alone)
            lines.append("      takes_list = %s," % ("true" if kind == "array" else "false"))
        lines.append("      summary = %s," % json.dumps(method["summary"], ensure_ascii=False))
        lines.append("    },")
    lines.append("  },")
    lines.append("  options = %s," % listed(list(protocol.schemas["ImageOptions"]["properties"])))
    lines.append("  events = %s," % listed([event["name"] for event in protocol.events]))
    lines.append("  delegates = %s," % listed([question["name"] for question in protocol.questions]))
    lines.append("  --- Members that hold objects: where an empty table must be written as {}.")
    lines.append("  objects = %s," % listed(protocol.objects()))
    lines.append("  errors = {")
    lines += ["    %s = %d," % (name, error["code"]) for name, error in protocol.errors.items()]
    lines.append("  },")
    lines.append("  message_bytes = %d," % protocol.limits["messageBytes"])
    lines.append("}")
    return "\n".join(lines) + "\n"


def typescript_types(protocol: Protocol) -> str:
    ts = TypeScript()
    lines = ["// " + NOTE, ""]
    for name, schema, summary in named_types(protocol):
        if summary:
            lines.append("/** %s */" % summary)
        if schema.get("properties"):
            lines.append("export interface %s {" % name)
            required = schema.get("required", [])
            for member, inner in schema["properties"].items():
                if description(inner):
                    lines.append("  /** %s */" % description(inner).replace("*/", "*\u2215"))
                lines.append("  %s%s: %s;" % (member, "" if member in required else "?", ts.type(inner)))
            lines.append("}")
        else:
            lines.append("export type %s = %s;" % (name, ts.type(schema)))
        lines.append("")
    lines.append("/** The parameters and the result of each method. */")
    lines.append("export interface Methods {")
    for method in protocol.methods:
        schema = protocol.params_schema(method)
        params = type_name(method["name"]) + "Params" if method["params"] else "undefined"
        if method["params"] and not schema["required"]:
            params += " | undefined"
        lines.append("  /** %s */" % method["summary"])
        lines.append("  %s: { params: %s; result: %s };" % (json.dumps(method["name"]), params, result_type(method, ts)))
    lines += ["}", "", "/** What comes with each event. */", "export interface Events {"]
    lines += ["  %s: %sEvent;" % (json.dumps(event["name"]), type_name(event["name"])) for event in protocol.events]
    lines += ["}", "", "/** The codes that errors of the server have, by name. */", "export interface ErrorCodes {"]
    lines += ["  %s: %d;" % (name, error["code"]) for name, error in protocol.errors.items()]
    lines.append("}")
    return "\n".join(lines) + "\n"


FILES: Dict[str, Dict[str, Callable[[Protocol], str]]] = {
    "neovim": {"lua/halcyon/types.lua": lua_types, "lua/halcyon/protocol.lua": lua_protocol},
    "vscode": {"types/protocol.d.ts": typescript_types},
}


def main(arguments: List[str]) -> int:
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"] or list(FILES)
    protocol = Protocol(json.loads((CLIENTS.parent / "protocol" / "openrpc.json").read_text("utf-8")))
    stale = []
    for client in names:
        for file, make in FILES[client].items():
            path = CLIENTS / client / file
            text = make(protocol)
            if check:
                if not path.exists() or path.read_text("utf-8") != text:
                    stale.append(str(path.relative_to(CLIENTS.parent)))
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    for path in stale:
        print("%s is not what protocol/openrpc.json says: run clients/generate.py." % path, file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
