"""The oracle: which versions of a key may be served, and when a miss is a loss.

Every operation is noted before it is sent and after it was answered (or its process is dead), so what overlaps in time
is known to overlap, and only what no order of the overlapping operations can explain is called wrong.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Iterable


@dataclass
class _Entry:
    started: int = 0
    possible: set[int] = field(default_factory=set)
    flying: set[int] = field(default_factory=set)
    removals: int = 0
    # Whether some version must be there; and how often that stopped being so.
    sure: bool = False
    serial: int = 0


@dataclass(frozen=True)
class Operation:
    """A store, or a removal of some keys, that has been sent."""

    keys: tuple[str, ...]
    version: int
    others: dict[str, frozenset[int]]
    started: dict[str, int]
    serial: int
    counts: bool


@dataclass(frozen=True)
class Read:
    """What was known when a read was sent."""

    key: str
    possible: frozenset[int]
    started: int
    sure: bool
    serial: int
    quiet: bool


class Ledger:
    """What the stores and removals of all processes allow; callable from any thread.

    All keys are named at the beginning, so that what empties a whole cache is known to concern each.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._entries = {key: _Entry() for key in keys}

    def _entry(self, key: str) -> _Entry:
        return self._entries[key]

    def keys(self) -> list[str]:
        """Every key there is."""
        return sorted(self._entries)

    def begin_store(self, key: str, keeps: bool = True) -> Operation:
        """A store is about to be sent; ``version`` is the number its picture must carry.

        ``keeps`` says whether the entry must stay until it is removed: not where images expire or are evicted.
        """
        with self._lock:
            entry = self._entry(key)
            entry.started += 1
            others = frozenset(entry.flying)
            entry.flying.add(entry.started)
            entry.possible.add(entry.started)
            counts = keeps and entry.removals == 0
            return Operation((key,), entry.started, {key: others}, {}, entry.serial, counts)

    def end_store(self, store: Operation, acknowledged: bool) -> None:
        """The store was answered, or its process is dead."""
        with self._lock:
            key = store.keys[0]
            entry = self._entry(key)
            entry.flying.discard(store.version)
            if acknowledged:
                others = store.others[key]
                entry.possible = {one for one in entry.possible if one >= store.version or one in others}
                if store.counts and entry.serial == store.serial:
                    entry.sure = True

    def begin_remove(self, keys: Iterable[str]) -> Operation:
        """A removal of these keys is about to be sent."""
        with self._lock:
            chosen = tuple(keys)
            for key in chosen:
                entry = self._entry(key)
                entry.removals += 1
                entry.serial += 1
                entry.sure = False
            others = {key: frozenset(self._entry(key).flying) for key in chosen}
            started = {key: self._entry(key).started for key in chosen}
            return Operation(chosen, 0, others, started, 0, False)

    def end_remove(self, removal: Operation, acknowledged: bool) -> None:
        """The removal was answered, or its process is dead."""
        with self._lock:
            for key in removal.keys:
                entry = self._entry(key)
                entry.removals -= 1
                if acknowledged:
                    others, started = removal.others[key], removal.started[key]
                    entry.possible = {one for one in entry.possible if one > started or one in others}

    def begin_read(self, key: str) -> Read:
        """A read is about to be sent."""
        with self._lock:
            entry = self._entry(key)
            return Read(key, frozenset(entry.possible), entry.started, entry.sure, entry.serial, entry.removals == 0)

    def judge(self, read: Read, version: int) -> str | None:
        """What is wrong with having been served ``version``; nothing if it may be."""
        with self._lock:
            started = self._entry(read.key).started
        if version in read.possible or read.started < version <= started:
            return None
        return f"{read.key}: version {version} was served where {sorted(read.possible)} or above {read.started} may be"

    def judge_missing(self, read: Read) -> str | None:
        """What is wrong with a miss; nothing if there may be none."""
        if read.sure and self.is_untouched(read):
            return f"{read.key}: acknowledged version {sorted(read.possible)} is gone, and nobody removed it"
        return None

    def is_untouched(self, read: Read) -> bool:
        """Whether no removal was sent since the read was, nor was any on its way then."""
        with self._lock:
            entry = self._entry(read.key)
            return read.quiet and entry.serial == read.serial and entry.removals == 0
