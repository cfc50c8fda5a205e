"""The decoding of results: the protocol's names become attributes, and unknown members go into `extra`."""

from __future__ import annotations

import base64
from dataclasses import fields
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type, TypeVar

T = TypeVar("T")


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _names_of(kind: Any) -> Dict[str, str]:
    return {_camel(name): name for name in kind.__dataclass_fields__ if name != "extra"}


def _factories_of(kind: Any) -> Dict[str, Callable[[], Any]]:
    """The factories of defaults that are not class attributes, except that of `extra`."""
    made: Dict[str, Any] = {field.name: field.default_factory for field in fields(kind)}
    return {name: factory for name, factory in made.items() if callable(factory) and name != "extra"}


def as_it_is(wire: Any) -> Any:
    """The JSON value unchanged."""
    return wire


def nothing(_: Any) -> None:
    """Takes no notice of an answer that tells nothing."""
    return None


def member(name: str) -> Callable[[Any], Any]:
    """Takes the one member of a result."""
    return lambda wire: wire[name]


def bytes_from_wire(wire: str) -> bytes:
    """The bytes that base64 stands for."""
    return base64.b64decode(wire)


def image_decoder(kind: Type[T], also_extra: Iterable[str] = ()) -> Callable[[Any], T]:
    """Makes what builds an image: this runs on every hit, so it fills the fields in one pass.

    Fields the server left out fall back to the defaults, which the dataclass keeps on the class.
    Members in `also_extra` are fields, and stay in `extra` as well, where they once were alone.
    """
    names = _names_of(kind)
    usual = {name: field for name, field in names.items() if name not in set(also_extra)}
    factories = _factories_of(kind)
    new = kind.__new__

    def build(wire: Any) -> T:
        try:
            values = {usual[name]: value for name, value in wire.items()}
            values["extra"] = {}
        except KeyError:
            values = {names[name]: value for name, value in wire.items() if name in names}
            values["extra"] = {name: value for name, value in wire.items() if name not in usual}
        if "data" in values and values["data"] is not None:
            values["data"] = base64.b64decode(values["data"])
        for name, factory in factories.items():
            if name not in values:
                values[name] = factory()
        image = new(kind)
        image.__dict__.update(values)
        return image

    return build


def plain_decoder(kind: Callable[..., T], **converters: Callable[[Any], Any]) -> Callable[[Any], T]:
    """Makes what builds any other result; `converters` are for the fields that are more than JSON."""
    names = _names_of(kind)

    def build(wire: Any) -> T:
        known = {names[name]: value for name, value in wire.items() if name in names}
        extra = {name: value for name, value in wire.items() if name not in names}
        for name, convert in converters.items():
            if known.get(name) is not None:
                known[name] = convert(known[name])
        return kind(extra=extra, **known)

    return build


def page_decoder(entry: Callable[[Any], T]) -> Callable[[Any], Tuple[List[T], Optional[str]]]:
    """Makes what builds one page of a list, and the cursor of the next."""
    return lambda wire: ([entry(one) for one in wire["entries"]], wire.get("cursor"))
