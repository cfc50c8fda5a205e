"""Whether the benchmarks can be run at all, and measure what they say: for a change of what the server or its worker says."""

from __future__ import annotations

from typing import Iterable, Sequence

from .table import Row


def benchmarks(names: Iterable[str]) -> list[str]:
    """What a self-check runs: T11 is T10 with large files, A18 is what T9 and T9R do with many at once, and T16 needs an engine."""
    return [name for name in names if name not in ("T11", "A18", "T16")]


def faults(names: Iterable[str], rows: Sequence[Row]) -> list[str]:
    """A sentence for each benchmark without a figure of ours, and for each that measured another thing than it says.

    What took how long is nothing to a self-check, nor that a target was missed.
    """
    found = []
    for name in names:
        own = [row for row in rows if row.test == name]
        if all(row.ours is None for row in own):
            reasons = "; ".join(row.note for row in own) or "it has no rows"
            found.append(f"{name} measured nothing of ours: {reasons}")
        found += [f"{name} measured another thing, {row.work}: {row.note}" for row in own if row.doubted]
    return found
