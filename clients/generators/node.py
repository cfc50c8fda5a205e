"""The files of the Node client."""

from typing import Dict

from . import methods, node_methods, node_types
from .catalog import Catalog, Naming
from .protocol import Protocol


def files(protocol: Protocol) -> Dict[str, str]:
    """The files of the client, by their paths in its folder."""
    paths = node_methods.request_paths(methods.methods(protocol, Catalog(protocol, Naming({}, {}))))
    catalog = node_types.catalog(protocol, paths)
    offered = methods.methods(protocol, catalog)
    catalog.check()
    return {
        "types/options.d.ts": node_types.types_module(catalog, "options"),
        "types/settings.d.ts": node_types.types_module(catalog, "settings"),
        "types/requests.d.ts": node_types.types_module(catalog, "requests"),
        "types/results.d.ts": node_types.types_module(catalog, "results"),
        "types/events.d.ts": node_types.types_module(catalog, "events", node_types.events(protocol, catalog)),
        "types/questions.d.ts": node_types.types_module(catalog, "questions", node_types.questions(protocol, catalog)),
        "types/codes.d.ts": node_types.codes(protocol),
        "types/methods.d.ts": node_methods.declarations(offered, catalog),
        "lib/codes.mjs": node_methods.codes(protocol),
        "lib/methods.mjs": node_methods.code(offered),
    }
