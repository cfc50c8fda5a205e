"""The base of languages that write each type of a JSON schema as one expression."""

import json
from typing import Any, Dict, List, Tuple


class Language:
    """A language that can write the types of JSON schemas."""

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
