"""The targets of Package.swift, and the arrows between them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, Set

#: Modules of the system and of the toolchain, which every target may import.
SYSTEM = {"Glibc", "Synchronization", "Foundation", "Testing"}

_TARGET = re.compile(r"\.(target|executableTarget|testTarget|systemLibrary)\(\s*name: \"([\w-]+)\"")
_PRODUCT = re.compile(r"\.product\(name: \"([\w-]+)\"")


class Target:
    """One target: its kind, and what it depends on."""

    def __init__(self, kind: str, text: str) -> None:
        self.is_test = kind == "testTarget" or '"Tests/' in text
        listed = re.search(r"dependencies: \[(.*?)\]", text, re.DOTALL)
        body = listed.group(1) if listed else ""
        self.depends: Set[str] = set(_PRODUCT.findall(body))
        self.depends |= set(re.findall(r"\"([\w-]+)\"", re.sub(r"\.product\(.*?\)", "", body, flags=re.DOTALL)))


def targets(path: Path) -> Dict[str, Target]:
    """The targets by name."""
    text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    found = list(_TARGET.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    return {one.group(2): Target(one.group(1), text[one.start() : end]) for one, end in zip(found, ends)}
