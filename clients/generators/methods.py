"""The methods of the protocol as a client offers them, as plain values that a language then writes in its own way."""

from dataclasses import dataclass
from typing import Any, List, Optional

from .catalog import Array, Catalog, Type
from .protocol import LIFE_CYCLE, Protocol, type_name
from .words import MEMBERS

BY_NUMBER = {"stopPrefetch", "setPriority"}
"""Methods about a request by its id, which clients in languages with their own way to cancel keep to themselves."""

REPORTING = {"retrieve", "download", "prefetch"}
"""Methods that tell how far they are."""

IN_NUMBERS = {"retrieve", "isCached", "cachePath"}
"""Methods that are asked for many images in one write."""

AS_COMPLETED = {"retrieve"}
"""Methods that are asked for many images, each told as soon as it is there."""


@dataclass(frozen=True)
class Param:
    """A parameter, by its name on the wire."""

    name: str
    type: Type
    required: bool
    doc: str
    default: Any


@dataclass(frozen=True)
class Method:
    """A method: `alone` is the parameter that may be given by itself.

    When the result has one `member` only, `result` is the type of that.
    """

    name: str
    summary: str
    params: List[Param]
    result: Type
    alone: Optional[str]
    member: Optional[str]
    is_needed: bool
    """True when at least one parameter is given."""

    @property
    def short(self) -> str:
        return self.name.rsplit(".", 1)[-1]

    @property
    def is_paged(self) -> bool:
        """True when it answers in pages, each with the cursor of the next."""
        return any(param.name == "cursor" for param in self.params)

    @property
    def is_about_one_image(self) -> bool:
        """True when it names an image that is cached: by its key, and nothing is put there."""
        return bool(self.params) and self.params[0].name == "key" and self.params[0].required and self.name != "store"

    @property
    def items(self) -> Type:
        """The type of the items, for a method whose only parameter is a list."""
        assert isinstance(self.params[0].type, Array)
        return self.params[0].type.item

    @property
    def takes_any_number(self) -> bool:
        """True when its only parameter is a list."""
        return len(self.params) == 1 and self.params[0].required and isinstance(self.params[0].type, Array)


def methods(protocol: Protocol, catalog: Catalog) -> List[Method]:
    """The methods of a client; types that first occur here are added to the catalog."""
    found = []
    for method in protocol.methods:
        if method["name"] in LIFE_CYCLE or method["name"] in BY_NUMBER:
            continue
        path = type_name(method["name"]) + "Params"
        schema = protocol.params_schema(method)
        params = [
            Param(
                name,
                catalog.type(inner, "%s.%s" % (path, name)),
                name in schema["required"],
                MEMBERS.get("%s.%s" % (path, name)) or inner.get("description", ""),
                inner.get("default"),
            )
            for name, inner in schema["properties"].items()
        ]
        first = params[0].name if params else None
        result = method["result"]["schema"]
        result_path = result["$ref"].rsplit("/", 1)[1] if "$ref" in result else path[:-6] + "Result"
        members = list(protocol.schemas[result_path]["properties"]) if "$ref" in result else []
        member = members[0] if len(members) == 1 else None
        found.append(
            Method(
                method["name"],
                method["summary"],
                params,
                catalog.at("%s.%s" % (result_path, member)) if member else catalog.type(result, result_path),
                None if first == "cache" else first,
                member,
                protocol.leading(method) is not None,
            )
        )
    return found
