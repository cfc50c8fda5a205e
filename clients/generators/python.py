"""The files of the Python client."""

from typing import Dict, List

from . import methods, python_methods, python_types
from .catalog import Catalog
from .protocol import NOTE, Protocol
from .python_text import module

FOLDER = "src/halcyon/"

DICTIONARIES = {
    "options": "The options of a call, named as the protocol names them.",
    "settings": "The settings of caches, named as the protocol names them.",
    "events": "What comes with each event.",
    "questions": "What the server asks about downloads, and what it may be answered.",
}
"""The modules of TypedDicts, and what is in them."""


def results_module(catalog: Catalog, offered: List[methods.Method]) -> str:
    """The results: dataclasses with decoders, and the dictionaries they and some methods answer with."""
    body: List[str] = []
    definitions = [one for one in catalog.of_module("results") if one.name != "ListResult"]
    for definition in definitions:
        is_class = definition.name in python_types.DATACLASSES
        lines = python_types.data_class(definition, catalog) if is_class else python_types.typed_dict(definition)
        body += ["", ""] + lines if definition.type is None else [""] + lines
    body += ["", ""] + python_methods.decoders(offered)
    known = python_types.homes(catalog)
    known.update({name: "decoding" for name in ("as_it_is", "bytes_from_wire", "member", "page_decoder")})
    known.update({"ImageFile": "files", "LocalFile": "files", "image_decoder": "decoding", "plain_decoder": "decoding"})
    exported = [definition.name for definition in definitions]
    summary = "What the calls return, with the protocol's names in Python's spelling."
    text = module([summary, NOTE], body, known, "results", exported)
    return text.replace("\nfrom typing", "\nfrom dataclasses import dataclass, field\nfrom typing", 1)


def files(protocol: Protocol) -> Dict[str, str]:
    """The files of the client, by their paths in its folder."""
    catalog = python_types.catalog(protocol)
    offered = methods.methods(protocol, catalog)
    catalog.check()
    made = {name: python_types.types_module(summary, name, catalog) for name, summary in DICTIONARIES.items()}
    made["results"] = results_module(catalog, offered)
    made["codes"] = python_types.errors_module(protocol)
    made["methods"] = python_methods.methods_module(offered, catalog, is_async=False)
    made["async_methods"] = python_methods.methods_module(offered, catalog, is_async=True)
    made["submitting"] = python_methods.submitting_module(offered, catalog)
    return {FOLDER + name + ".py": text for name, text in made.items()}
