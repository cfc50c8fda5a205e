"""Holds what one process of a crowd served against the ledger."""

from __future__ import annotations

import heapq
import random
import time

from .crowd import Crowd, split
from .ledger import Read
from .pictures import NotWhole, stamp


class Judge:
    """Judges for one worker; ``number`` is the worker's."""

    def __init__(self, crowd: Crowd, number: int, chance: random.Random) -> None:
        self._crowd, self._number, self._random = crowd, number, chance
        self._held: list[tuple[float, str, str, Read]] = []

    def hold(self, path: str, read: Read, way: str) -> None:
        """Looks at the path again in a while, within its lease."""
        if self._random.random() < 0.3 and not self._crowd.over.is_set():
            heapq.heappush(self._held, (time.monotonic() + self._random.random() * 5, path, way, read))

    def look_again(self) -> None:
        """Looks at the paths whose time has come."""
        while self._held and self._held[0][0] < time.monotonic():
            _, path, way, read = heapq.heappop(self._held)
            self.look(path, read, f"{way}, held for a while")

    def look(self, path: str, read: Read, way: str) -> None:
        """Reads the file at a path that was handed out."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            # A path that `cachePath` tells is lent to nobody, nor is that of a store which asked for no lease or got none.
            is_lent = self._crowd.has_leases and not way.startswith(("cachePath", "unleased"))
            lasts = self._crowd.keeps(read.key) or is_lent
            if lasts and "brief" not in read.key and self._crowd.ledger.is_untouched(read):
                self._crowd.report.breach("paths gone", f"{read.key}: {path} was given by {way}, and nobody removed it")
            else:
                self._crowd.report.count("paths gone after a removal")
            return
        self._crowd.report.count("files read")
        self.check(data, read.key, read)

    def check(self, data: bytes, name: str, read: Read | None) -> None:
        """The bytes must be a whole picture of that name, of a version that may be served."""
        try:
            found = stamp(data)
        except NotWhole as error:
            self._crowd.report.breach("wrong", f"{name}: {error}")
            return
        if found.key != (split(name)[1] if "|http" in name else name):
            self._crowd.report.breach("wrong", f"{name}: the picture of {found.key} was served")
        elif read is not None and "|http" not in name:
            said = self._crowd.ledger.judge(read, found.version)
            if said:
                self._crowd.report.breach("old", said)

    def missing(self, read: Read, way: str) -> None:
        """A miss must not be a loss."""
        said = self._crowd.ledger.judge_missing(read)
        if said:
            self._crowd.report.breach("lost", f"{said} ({way}, worker {self._number})")
