"""Many processes on one cache folder that are killed at any time: what all threads of one run share."""

from __future__ import annotations

import argparse
import os
import threading

from .ledger import Ledger
from .report import Report
from .server import Server, methods
from .web import Web

OWN, SHARED, BRIEF, URLS = 12, 10, 4, 12


class Crowd:
    """What all threads of one run share."""

    def __init__(self, options: argparse.Namespace, report: Report, home: str) -> None:
        self.options, self.report, self.home = options, report, home
        self.folder = os.path.join(home, "cache")
        self.known = methods(self.folder)
        self.web = Web(4000, 0.01)
        self.over = threading.Event()
        can_choose = "configure" in self.known
        self.has_limit = options.limit > 0 and (can_choose or options.only_limited)
        self.has_leases = "lease" in self.known["retrieve"]
        self.caches = ["default"] if options.only_limited else ["kept", "swept", "default"]
        own = [f"own-{one}-{number}" for one in range(options.processes) for number in range(OWN)]
        keys = own + [f"shared-{number}" for number in range(SHARED)] + [f"brief-{number}" for number in range(BRIEF)]
        keys += [f"{self.web.base}/{number}" for number in range(URLS)]
        self.ledger = Ledger(f"{cache}|{key}" for cache in self.caches for key in keys)

    def serve(self, patience: float = 40) -> Server:
        """A new process; the caches without a limit are told so."""
        limit = self.options.limit if self.has_limit else 0
        server = Server(self.folder, "--disk-limit", str(limit), patience=patience)
        if self.has_limit and not self.options.only_limited:
            for cache in ("kept", "swept"):
                server.result("configure", {"cache": cache, "disk": {"bytesLimit": 0}})
        return server

    def keeps(self, name: str) -> bool:
        """Whether an image stays until it is removed."""
        return "brief" not in name and not (self.has_limit and split(name)[0] == "default")


def split(name: str) -> tuple[str, str]:
    """Cache and key of a name in the ledger."""
    cache, _, key = name.partition("|")
    return cache, key
