"""Rows of the result and the table they make."""

from __future__ import annotations

import statistics
import unicodedata
from dataclasses import asdict, dataclass, field
from typing import Any, Sequence


@dataclass(frozen=True)
class Limit:
    """A bound on a ratio or a figure: ``Limit("≤", 1.25)``."""

    sign: str
    bound: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}{self.unit}"

    def holds(self, value: float) -> bool:
        """Whether ``value`` is within the bound."""
        return value <= self.bound if self.sign == "≤" else value >= self.bound


@dataclass
class Row:
    """One line of the table. Without a target it is there for comparison only; ``met`` is then ``None``."""

    test: str
    work: str
    ours: float | None = None
    yardstick: float | None = None
    yardstick_name: str = ""
    unit: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None
    note: str = ""
    doubted: bool = False
    rounds: dict[str, list[float]] = field(default_factory=dict)

    def doubt(self, note: str) -> Row:
        """Marks the row as not measuring what it says: its target counts as missed."""
        self.note = f"{self.note}; {note}" if self.note else note
        self.met = False if self.target else None
        self.doubted = True
        return self

    def as_json(self) -> dict[str, Any]:
        """The row with every round, for ``--json``."""
        return asdict(self)


def compare(
    test: str,
    work: str,
    ours: Sequence[float],
    yardstick_name: str,
    yardstick: Sequence[float],
    unit: str,
    limit: Limit | None = None,
    target: str = "",
) -> Row:
    """A row from the rounds of both sides.

    The figures are medians over the rounds; the ratio is the median of the ratios of each round to its neighbour, so that a
    machine that slows down between rounds does not move it.
    """
    ratio = statistics.median(a / b for a, b in zip(ours, yardstick))
    return Row(
        test,
        work,
        statistics.median(ours),
        statistics.median(yardstick),
        yardstick_name,
        unit,
        ratio,
        target or (str(limit) if limit else ""),
        limit.holds(round(ratio, 3)) if limit else None,
        rounds={"ours": list(ours), "yardstick": list(yardstick)},
    )


def absolute(test: str, work: str, ours: Sequence[float], unit: str, limit: Limit | None = None) -> Row:
    """A row whose target is a figure of ours, without a yardstick."""
    value = statistics.median(ours)
    met = limit.holds(value) if limit else None
    return Row(test, work, value, unit=unit, target=str(limit) if limit else "", met=met, rounds={"ours": list(ours)})


def missing(test: str, work: str, note: str, target: str = "") -> Row:
    """A row that could not be measured, and why."""
    return Row(test, work, note=note, target=target)


def render(rows: Sequence[Row]) -> str:
    """The table as text: ours, yardstick, ratio, target, met or not; notes below it."""
    head = ["", "work", "ours", "yardstick", "", "ratio", "target", "met"]
    notes: list[str] = []
    cells = [head]
    for row in rows:
        mark = ""
        if row.note:
            if row.note not in notes:
                notes.append(row.note)
            mark = f" [{notes.index(row.note) + 1}]"
        unmeasured = row.ours is None
        cells.append(
            [
                row.test,
                row.work + mark,
                "not measured" if unmeasured else _figure(row.ours, row.unit),
                _figure(row.yardstick, row.unit),
                row.yardstick_name,
                "" if row.ratio is None else f"{row.ratio:.2f}",
                row.target or "–",
                "–" if row.met is None else ("yes" if row.met else "NO"),
            ]
        )
    widths = [max(_width(line[column]) for line in cells) for column in range(len(head))]
    right = {2, 3, 5}
    lines = ["  ".join(_pad(cell, widths[i], i in right) for i, cell in enumerate(line)).rstrip() for line in cells]
    lines.insert(1, "  ".join("─" * width for width in widths))
    lines += [f"[{number}] {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines)


def markdown(rows: Sequence[Row]) -> str:
    """What was measured as a table in Markdown, for a page that people read: a line for each work, ours beside the others."""
    lines = ["| | work | halcyon | beside |", "|---|---|--:|---|"]
    others: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row.ours is not None and not row.doubted:
            beside = others.setdefault((row.test, row.work, _figure(row.ours, row.unit)), [])
            if row.yardstick is not None:
                beside.append(f"{row.yardstick_name}: {_figure(row.yardstick, row.unit)}")
    lines += [f"| {test} | {work} | {ours} | {'; '.join(beside)} |" for (test, work, ours), beside in others.items()]
    return "\n".join(lines) + "\n"


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    digits = 0 if value >= 1000 or value == int(value) else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {unit}".strip()


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
