"""The types of the protocol by name, as plain values that a language then writes in its own way.

A schema without a name gets one from the path that leads to it, such as `ImageOptions.retry`, unless a table says
otherwise; equal schemas share their name, so that "the same shape" is one type in a program.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Union

from .protocol import Protocol, Schema, description, first_upper, former_of, named_types
from .words import MEMBERS, SUMMARIES


@dataclass(frozen=True)
class Scalar:
    """A value without parts: string, number, integer, boolean, null or any; bytes and url are strings on the wire."""

    kind: str


@dataclass(frozen=True)
class Constants:
    """One of some values."""

    values: Tuple[Any, ...]


@dataclass(frozen=True)
class Array:
    item: "Type"


@dataclass(frozen=True)
class Map:
    """An object with any names."""

    value: "Type"


@dataclass(frozen=True)
class Either:
    parts: Tuple["Type", ...]


@dataclass(frozen=True)
class Named:
    name: str


Type = Union[Scalar, Constants, Array, Map, Either, Named]
NULL = Scalar("null")


def without_null(type: Type) -> Type:
    """The type without null."""
    if not isinstance(type, Either) or NULL not in type.parts:
        return type
    parts = tuple(part for part in type.parts if part != NULL)
    return parts[0] if len(parts) == 1 else Either(parts)


def is_nullable(type: Type) -> bool:
    return type == NULL or isinstance(type, Either) and NULL in type.parts


@dataclass(frozen=True)
class Member:
    """A member of an object."""

    name: str
    type: Type
    required: bool
    doc: str
    is_former: bool = False
    """Whether it is the former name of another member."""


@dataclass
class Definition:
    """A named type: an object with members, or another name for `type`."""

    name: str
    path: str
    module: str
    doc: str
    members: List[Member] = field(default_factory=list)
    type: Optional[Type] = None
    base: Optional[str] = None
    replaced: List[str] = field(default_factory=list)
    """The members of the base that have another type here."""


_NOT_OF_THE_SHAPE = {
    *("description", "default", "title", "minimum", "maximum", "exclusiveMinimum", "pattern", "minLength", "minItems"),
    *("maxItems", "additionalProperties", "patternProperties", "deprecated", "x-formerNameOf"),
}


def _shape(schema: Any) -> Any:
    """The parts of a schema that define its type, as a value that can be compared and hashed."""
    if isinstance(schema, dict):
        kept = {name: value for name, value in schema.items() if name not in _NOT_OF_THE_SHAPE}
        if "properties" not in schema and schema.get("additionalProperties") is not None:
            kept["values"] = schema["additionalProperties"]
        if "properties" in schema:
            kept["properties"] = [[name, inner] for name, inner in sorted(schema["properties"].items())]
            kept["required"] = sorted(schema.get("required", []))
        return tuple(sorted((name, _shape(value)) for name, value in kept.items()))
    if isinstance(schema, list):
        return tuple(_shape(value) for value in schema)
    return repr(schema)


@dataclass(frozen=True)
class Naming:
    """The names of types in a language, and the files that contain them.

    `names` has those of paths; `modules` the files, in the order in which each may use the ones before it, with the paths
    of what they begin with; `bases` the types that have all members of another, by path; `scalars` what single members
    are instead of strings, by path; `rest` the file of what is met later.
    """

    names: Dict[str, str]
    modules: Dict[str, List[str]]
    bases: Dict[str, str] = field(default_factory=dict)
    scalars: Dict[str, str] = field(default_factory=dict)
    rest: str = ""


class Catalog:
    """All named types that can be reached from the roots of `naming`."""

    def __init__(self, protocol: Protocol, naming: Naming) -> None:
        self._naming = naming
        self._roots = dict(_roots(protocol))
        self._shapes: Dict[Any, str] = {}
        self._named: Dict[str, str] = {}
        self._module = ""
        self._met: Set[str] = set()
        self._modules = {path: module for module, paths in naming.modules.items() for path in paths}
        self.definitions: Dict[str, Definition] = {}
        for module, paths in naming.modules.items():
            for path in paths:
                self._module = module
                self.at(path)
        self._module = naming.rest

    def at(self, path: str) -> Type:
        """The type at a path that begins with a root, such as `RetrieveParams.as` or `ImageOptions`."""
        if path in self._roots:
            return self._root(path)
        root, rest = re.match(r"(\w+)(.*)", path).groups()  # type: ignore[union-attr]
        schema = self._roots[root]
        for separator, name in re.findall(r"(\.|\[\])(\w*)", rest):
            schema = schema["properties"][name] if separator == "." else schema["items"]
        return self.type(schema, path)

    def check(self) -> None:
        """Raises ValueError for names of paths that the protocol does not have, and whose types have others now."""
        stale = sorted({*self._naming.names, *self._naming.scalars, *self._naming.bases} - self._met)
        if stale:
            raise ValueError("The protocol has no %s any more: correct the names." % ", ".join(stale))

    def of_module(self, module: str) -> List[Definition]:
        return [definition for definition in self.definitions.values() if definition.module == module]

    def _root(self, path: str) -> Type:
        if path not in self._named:
            self._named[path] = self._naming.names.get(path, path)
            outer, self._module = self._module, self._modules.get(path, self._module)
            found = self.type(self._roots[path], path)
            self._module = outer
            if isinstance(found, Named):
                self._named[path] = found.name
            else:
                self._shapes.setdefault(_shape(self._roots[path]), self._named[path])
                self._define(self._named[path], path, self._roots[path], found)
        return Named(self._named[path])

    def type(self, schema: Any, path: str) -> Type:
        """The type of a schema that is found at `path`; what needs a name gets it on the way."""
        self._met.add(path)
        if path in self._naming.scalars:
            return Scalar(self._naming.scalars[path])
        if not isinstance(schema, dict):
            return Scalar("any")
        if schema.get("type") == "null":
            return NULL
        if "$ref" in schema:
            return self._root(schema["$ref"].rsplit("/", 1)[1])
        explicit, shape = self._naming.names.get(path), _shape(schema)
        if shape in self._shapes and explicit in (None, self._shapes[shape]):
            return Named(self._shapes[shape])
        is_object = schema.get("type") == "object" and "properties" in schema
        if not is_object and (explicit is None or path in self._roots):
            return self._unnamed(schema, path)
        name = explicit or "".join(first_upper(part) for part in re.findall(r"\w+", path))
        if shape != _shape({"type": "object"}):  # which says nothing, and is not the same everywhere
            self._shapes.setdefault(shape, name)
        if is_object:
            self._define_object(name, schema, path)
        else:
            self._define(name, path, schema, self._unnamed(schema, path))
        return Named(name)

    def _unnamed(self, schema: Schema, path: str) -> Type:
        if "const" in schema:
            return Constants((schema["const"],))
        if "enum" in schema:
            return Constants(tuple(schema["enum"]))
        if "oneOf" in schema:
            return _either(self.type(inner, path + _alternative(inner)) for inner in schema["oneOf"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return _either(self.type({**schema, "type": one}, path + "|") for one in kind)
        if kind == "array":
            return Array(self.type(schema.get("items"), path + "[]"))
        if kind == "object":
            return Map(self.type(schema.get("additionalProperties"), path + "{}"))
        return Scalar(str(kind or "any"))

    def _define(self, name: str, path: str, schema: Schema, type: Type) -> None:
        self.definitions[name] = Definition(name, path, self._module, _doc(schema, path), type=type)

    def _define_object(self, name: str, schema: Schema, path: str) -> None:
        base = self._naming.bases.get(path)
        inherited = self._roots[base]["properties"] if base else {}
        base_name = self._naming.names.get(base, base) if base else None
        required = schema.get("required", [])
        members = [
            Member(
                *(key, self.type(inner, "%s.%s" % (path, key)), key in required),
                *(member_doc(path, key, inner), former_of(inner) is not None),
            )
            for key, inner in schema["properties"].items()
            if key not in inherited or _shape(inner) != _shape(inherited[key])
        ]
        replaced = [member.name for member in members if member.name in inherited]
        self.definitions[name] = Definition(
            name, path, self._module, _doc(schema, path), members, base=base_name, replaced=replaced
        )


def member_doc(path: str, name: str, schema: Any) -> str:
    """The documentation of a member of the object at `path`."""
    return MEMBERS.get("%s.%s" % (path, name)) or description(schema)


def _doc(schema: Schema, path: str) -> str:
    return SUMMARIES.get(path) or str(schema.get("description", ""))


def _alternative(schema: Any) -> str:
    """The name of one of several objects in a path: the member that distinguishes it from the others."""
    if isinstance(schema, dict) and "oneOf" in schema:
        return ""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "|"
    return "|" + str((schema.get("required") or list(schema.get("properties", {})) or [""])[0])


def _either(types: Iterable[Type]) -> Type:
    parts: List[Type] = []
    for type in types:
        parts += type.parts if isinstance(type, Either) else (type,)
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def _roots(protocol: Protocol) -> Iterable[Tuple[str, Schema]]:
    for name, schema, summary in named_types(protocol):
        yield name, schema if schema.get("description") or not summary else {**schema, "description": summary}
    names = [event["name"] for event in protocol.events]
    yield "EventName", {"type": "string", "enum": names, "description": "An event that can be subscribed to."}
