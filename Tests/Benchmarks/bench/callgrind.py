"""Reads what callgrind writes: instructions by function and by library, and calls."""

from __future__ import annotations

import collections
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable

_NAME = re.compile(r"(ob|fn|cob|cfn)=\((\d+)\)(?: (.*))?")


@dataclass
class Counts:
    """Instructions and calls of one run, or the difference of two divided by a number of requests.

    ``own`` and ``whole`` are instructions of a function without and with those that it calls, ``calls`` how often it is called,
    ``libraries`` instructions by the name of the file that the function is in. A function that calls itself is in ``whole`` with
    its outermost calls only where callgrind tells them apart.
    """

    own: collections.Counter[str] = field(default_factory=collections.Counter)
    whole: collections.Counter[str] = field(default_factory=collections.Counter)
    calls: collections.Counter[str] = field(default_factory=collections.Counter)
    libraries: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def total(self) -> float:
        """All instructions."""
        return sum(self.libraries.values())

    def beyond(self, less: Counts, requests: int) -> Counts:
        """What each of ``requests`` requests cost that this run had more than ``less``."""

        def each(more: collections.Counter[str], base: collections.Counter[str]) -> collections.Counter[str]:
            return collections.Counter({name: (count - base[name]) / requests for name, count in more.items()})

        return Counts(
            each(self.own, less.own),
            each(self.whole, less.whole),
            each(self.calls, less.calls),
            each(self.libraries, less.libraries),
        )


def read(path: Path) -> Counts:
    """The counts of one file. Names stand in it once and are numbers from there."""
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    counts = Counts()
    library = function = callee = ""
    called: int | None = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = _NAME.match(line)
            if found:
                kind, number, text = found.groups()
                known = names[kind[-2:]]
                if text is not None:
                    known[number] = text
                name = known.get(number, "?")
                if kind == "ob":
                    library = Path(name).name
                elif kind == "fn":
                    function = name
                elif kind == "cfn":
                    callee = name
            elif line.startswith("calls="):
                called = int(line[6:].split()[0])
            elif line[:1].isdigit() or line[:1] in "+-*":
                fields = line.split()
                if len(fields) < 2:
                    continue
                count = int(fields[1])
                counts.whole[function] += count
                if called is None:
                    counts.own[function] += count
                    counts.libraries[library] += count
                else:
                    counts.calls[callee] += called
                    called = None
    return counts


def readable(names: Iterable[str]) -> dict[str, str]:
    """Swift's names as a programmer writes them, where the toolchain is there to tell them; others as they are."""
    known = list(names)
    if shutil.which("swift") is None:
        return {name: name for name in known}
    done = subprocess.run(
        ["swift", "demangle", "--compact"], input="\n".join(known), capture_output=True, text=True, check=True
    )
    return dict(zip(known, done.stdout.split("\n")))
