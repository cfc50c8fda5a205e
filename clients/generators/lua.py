"""Types and tables of the Neovim client."""

import json
from typing import Dict, List, Tuple

from .language import Language
from .protocol import LIFE_CYCLE, NOTE, Protocol, description, named_types, type_name


class Lua(Language):
    names = {
        "string": "string",
        "number": "number",
        "integer": "integer",
        "boolean": "boolean",
        "null": "nil",
        "any": "any",
    }

    def reference(self, name: str) -> str:
        return "halcyon." + name

    def object(self, members: List[Tuple[str, bool, str]]) -> str:
        return "{ %s }" % ", ".join("%s%s: %s" % (n, "" if needed else "?", t) for n, needed, t in members)

    def map(self, value: str) -> str:
        return "table<string, %s>" % value


def lua_method(name: str) -> str:
    return name.rsplit(".", 1)[-1]


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
    lines += [
        "",
        "--- The questions of the server that a client may answer; nil leaves a matter to the server, vim.NIL is null.",
    ]
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
        leading = protocol.leading(method)
        if leading:
            params += "|" + lua.type(schema["properties"][leading])
        elif method["params"]:
            params = params.replace("params:", "params?:")
        callback = "fun(err: halcyon.Error?, result: %s)" % lua.type(method["result"]["schema"])
        lines.append(
            "---@field %s fun(%s, options?: halcyon.CallOptions, callback?: %s): halcyon.Handle %s"
            % (lua_method(method["name"]), params, callback, method["summary"])
        )
    return "\n".join(lines) + "\n"


def lua_protocol(protocol: Protocol) -> str:
    def listed(values: List[str]) -> str:
        return "{ %s }" % ", ".join(json.dumps(value) for value in values) if values else "{}"

    lines = [
        "-- " + NOTE,
        "return {",
        "  --- Every method that is answered: its parameters in their order, the one that stands alone, its summary.",
    ]
    lines.append("  methods = {")
    for method in protocol.methods:
        schema = protocol.params_schema(method)
        leading = protocol.leading(method)
        lines.append("    [%s] = {" % json.dumps(method["name"]))
        lines.append("      params = %s," % listed([param["name"] for param in method["params"]]))
        if leading:
            kind = schema["properties"][leading].get("type")
            lines.append("      alone = %s," % json.dumps(leading))
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


def files(protocol: Protocol) -> Dict[str, str]:
    """The files of the client, by their paths in its folder."""
    return {"lua/halcyon/types.lua": lua_types(protocol), "lua/halcyon/protocol.lua": lua_protocol(protocol)}
