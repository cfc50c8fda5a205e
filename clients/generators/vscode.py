"""Types of the VS Code extension: the protocol as it is."""

import json
from typing import Dict, List, Tuple

from .language import Language
from .protocol import NOTE, Protocol, description, former_of, named_types, type_name


class TypeScript(Language):
    names = {
        "string": "string",
        "number": "number",
        "integer": "number",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
    }

    def reference(self, name: str) -> str:
        return name

    def object(self, members: List[Tuple[str, bool, str]]) -> str:
        return "{ %s }" % "; ".join("%s%s: %s" % (n, "" if needed else "?", t) for n, needed, t in members)

    def map(self, value: str) -> str:
        return "Record<string, %s>" % value


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
                    mark = "@deprecated " if former_of(inner) else ""
                    lines.append("  /** %s%s */" % (mark, description(inner).replace("*/", "*\u2215")))
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
        if method["params"] and not protocol.leading(method):
            params += " | undefined"
        lines.append("  /** %s */" % method["summary"])
        lines.append(
            "  %s: { params: %s; result: %s };"
            % (json.dumps(method["name"]), params, ts.type(method["result"]["schema"]))
        )
    lines += ["}", "", "/** What comes with each event. */", "export interface Events {"]
    lines += ["  %s: %sEvent;" % (json.dumps(event["name"]), type_name(event["name"])) for event in protocol.events]
    lines += ["}", "", "/** The codes that errors of the server have, by name. */", "export interface ErrorCodes {"]
    lines += ["  %s: %d;" % (name, error["code"]) for name, error in protocol.errors.items()]
    lines.append("}")
    return "\n".join(lines) + "\n"


def files(protocol: Protocol) -> Dict[str, str]:
    """The files of the client, by their paths in its folder."""
    names = ", ".join(json.dumps(event["name"]) for event in protocol.events)
    events = "// %s\n\n/** The events that can be listened to. */\nmodule.exports = { events: [%s] };\n" % (NOTE, names)
    return {"types/protocol.d.ts": typescript_types(protocol), "lib/protocol.js": events}
