"""What a client told its server and tells the next one too: settings, folders, a pause, subscriptions."""

from __future__ import annotations

import json
import threading
from typing import Any, Dict, FrozenSet, List, Mapping, Set, Tuple

from .framing import to_json

RESTORED: FrozenSet[str] = frozenset(
    ("initialize", "configure", "addReadOnlyCachePath", "pause", "resume", "subscribe", "unsubscribe")
)
"""The methods whose effect outlives the server that they were called on."""


class Restored:
    """The calls that put a new server into the state that the last one was brought into.

    Settings are told in the order in which they were set, without those that were set again later:
    however often `configure` is called, no more is kept than there are settings.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: Dict[str, str] = {}
        self._settings: List[Tuple[str, str]] = []
        self._pause: List[Tuple[str, str]] = []
        self._events: List[str] = []

    def note(self, method: str, wire: str) -> None:
        """The server has done this."""
        with self._lock:
            if method == "initialize":
                self._first[method] = wire
            elif method in ("configure", "addReadOnlyCachePath"):
                self._set(method, wire)
            elif method in ("pause", "resume"):
                self._pause = [(method, wire)] if method == "pause" else []
            else:
                names = _events(wire)
                kept = [name for name in self._events if name not in names]
                self._events = kept + names if method == "subscribe" else kept

    def calls(self) -> List[Tuple[str, str]]:
        """The methods and their params, as JSON text, in the order in which a new server is told."""
        with self._lock:
            events = [("subscribe", to_json({"events": self._events}))] if self._events else []
            return [*self._first.items(), *self._settings, *self._pause, *events]

    def _set(self, method: str, wire: str) -> None:
        now = _settings(wire)
        if not now:  # it only asked
            return
        self._settings = [
            (other, text)
            for other, text in self._settings
            if other != method or not _settings(text) <= now
        ]
        self._settings.append((method, wire))


def _settings(wire: str) -> Set[Tuple[str, ...]]:
    """The settings that a call sets, each as the names that lead to it, with the cache before them."""
    params = json.loads(wire)
    if not isinstance(params, Mapping):
        return {(wire,)}
    cache = str(params.get("cache") or "default")
    found: Set[Tuple[str, ...]] = set()
    for section, value in params.items():
        if section == "path":
            found.add((cache, section, str(value)))
        elif isinstance(value, Mapping):
            found.update((cache, section, str(name)) for name in value)
        elif section != "cache":
            found.add((cache, section))
    return found


def _events(wire: str) -> List[str]:
    params: Any = json.loads(wire)
    events = params.get("events") if isinstance(params, dict) else (params or [[]])[0]
    return [events] if isinstance(events, str) else list(events or [])
