"""The protocol as protocol/openrpc.json tells it, and what the clients need of it."""

import json
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

Schema = Dict[str, Any]

NOTE = "Made by clients/generate.py from protocol/openrpc.json."

JSON_RPC_ERRORS = {
    "parseError": {"code": -32700, "message": "The server could not read a message as JSON."},
    "invalidRequest": {"code": -32600, "message": "A message was JSON but no request, or came after shutdown."},
    "methodNotFound": {"code": -32601, "message": "The server has no method of that name."},
}
"""The errors that JSON-RPC 2.0 defines for every method, which the document therefore omits."""

LIFE_CYCLE = {"initialize", "shutdown"}
"""Methods that clients call by themselves."""


def first_upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def type_name(method: str) -> str:
    """`downloader/modifyRequest` → `DownloaderModifyRequest`."""
    return "".join(first_upper(part) for part in method.replace("$/", "").replace("/", ".").split("."))


def without_null(schema: Any) -> Any:
    """The schema without the null that says the same as leaving the member out."""
    if isinstance(schema, list):
        return [without_null(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: without_null(value) for name, value in schema.items() if name != "x-omittable"}
    if not schema.get("x-omittable"):
        return found
    if isinstance(found.get("type"), list):
        kinds = [kind for kind in found["type"] if kind != "null"]
        found["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in found:
        found["enum"] = [value for value in found["enum"] if value is not None]
    if "oneOf" in found:
        kinds = [kind for kind in found["oneOf"] if kind != {"type": "null"}]
        found = {**found, "oneOf": kinds}
        if len(kinds) == 1:
            del found["oneOf"]
            found.update(kinds[0])
    return found


def with_former_names(schema: Any) -> Any:
    """The schema whose objects have the former name of a member wherever they have the member, as the server sends it."""
    if isinstance(schema, list):
        return [with_former_names(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: with_former_names(value) for name, value in schema.items()}
    properties, required = found.get("properties"), found.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        found["required"] = required + [name for name, one in properties.items() if former_of(one) in required]
    return found


def former_of(schema: Any) -> Optional[str]:
    """The name that a member has now, if the schema is that of its former name."""
    return schema.get("x-formerNameOf") if isinstance(schema, dict) else None


class Protocol:
    """The document, and what the clients need of it."""

    def __init__(self, document: Dict[str, Any]) -> None:
        document = with_former_names(without_null(document))
        self.schemas: Dict[str, Schema] = document["components"]["schemas"]
        self.errors: Dict[str, Any] = document["components"]["errors"]
        self.events: List[Dict[str, Any]] = document["x-events"]
        self.questions: List[Dict[str, Any]] = document["x-clientMethods"]
        self.limits: Dict[str, int] = document["x-limits"]
        self._lists: Set[str] = set()
        self.methods = [method for method in document["methods"] if method.get("result")]

    def all_errors(self) -> Dict[str, Dict[str, Any]]:
        """The errors of JSON-RPC itself and those of the methods, by name."""
        return {**{name: error for name, error in JSON_RPC_ERRORS.items() if name not in self.errors}, **self.errors}

    def params_schema(self, method: Dict[str, Any]) -> Schema:
        """The parameters of a method as one object."""
        properties = {
            param["name"]: (
                {**param["schema"], "description": param.get("summary", "")}
                if isinstance(param["schema"], dict)
                else {"description": param.get("summary", "")}
            )
            for param in method["params"]
        }
        required = [param["name"] for param in method["params"] if param.get("required")]
        return {"type": "object", "properties": properties, "required": required}

    @staticmethod
    def leading(method: Dict[str, Any]) -> Optional[str]:
        """The parameter that stands for all when one is given alone; None when every one may be left out."""
        needed = [param["name"] for param in method["params"] if param.get("required")] or method.get("x-anyOf", [])
        return str(needed[0]) if needed else None

    def objects(self) -> List[str]:
        """The names of members that hold objects and never lists: where an empty table of Lua must become `{}`."""
        found: Set[str] = set()
        self._lists = set()
        for method in self.methods:
            for name, schema in self.params_schema(method)["properties"].items():
                self._gather(name, schema, found, set())
        for question in self.questions:
            self._gather("", question["result"], found, set())
        return sorted(found - self._lists - {""})

    def _gather(self, name: str, schema: Any, found: Set[str], seen: Set[Tuple[str, str]]) -> None:
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
