"""Collects what broke a promise, and what was counted."""

from __future__ import annotations

import collections
import threading


class Report:
    """Breaches and tallies of one run; callable from any thread."""

    def __init__(self, replay: str) -> None:
        self._lock = threading.Lock()
        self._replay = replay
        self.breaches: list[str] = []
        self.tallies: collections.Counter[str] = collections.Counter()

    def count(self, what: str, by: int = 1) -> None:
        """Counts something that happened."""
        with self._lock:
            self.tallies[what] += by

    def breach(self, kind: str, text: str) -> None:
        """Notes a broken promise; the first of each kind are printed at once."""
        with self._lock:
            self.tallies[kind] += 1
            self.breaches.append(f"{kind}: {text}")
            if self.tallies[kind] <= 3:
                print(f"BREACH {kind}: {text}", flush=True)

    def close(self, title: str) -> int:
        """Prints the tallies; the exit code."""
        text = ", ".join(f"{count:,} {what}" for what, count in sorted(self.tallies.items()))
        print(f"{title}: {text or 'nothing done'}; {len(self.breaches)} breaches", flush=True)
        if self.breaches:
            print(f"replay with: {self._replay}", flush=True)
        return 1 if self.breaches else 0
