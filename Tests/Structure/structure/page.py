"""A map in Markdown: the names in its text, its drawing and its ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, NamedTuple, Set


class Step(NamedTuple):
    """One row of a way."""

    function: str
    file: str
    thread: str


class Page:
    """One page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        #: The text without its blocks of code.
        self.prose = re.sub(r"^```.*?^```$", "", self.text, flags=re.DOTALL | re.MULTILINE)

    @property
    def names(self) -> List[str]:
        """What stands between backticks."""
        return re.findall(r"`([^`\n]+)`", self.prose)

    @property
    def links(self) -> List[str]:
        """The files that the page links to."""
        targets = re.findall(r"\]\(([^)#\s]+)", self.prose)
        return [target for target in targets if "://" not in target]

    @property
    def arrows(self) -> Dict[str, List[str]]:
        """The drawing: the targets in their order, and where the arrows of each lead."""
        rows = re.findall(r"^(\S+) ─*▶ ?(.*)$", self.text, re.MULTILINE)
        return {name: to.split() for name, to in rows}

    def steps(self, heading: str) -> List[Step]:
        """The rows of the table below a heading."""
        section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", self.prose, re.DOTALL | re.MULTILINE)
        rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]*) \|$", section.group(1) if section else "", re.MULTILINE)
        return [Step(function, file.strip(), thread.strip()) for function, file, thread in rows]


def is_path(name: str) -> bool:
    """`true` for what is a path of the repository by its form."""
    return bool(re.fullmatch(r"\.?[\w+@-][\w.+@/-]*", name)) and (
        "/" in name and "$" not in name or bool(re.search(r"\.(swift|py|json|md|el|c|h|sh|mjs)$", name))
    )


def identifier(name: str) -> List[str]:
    """The parts of the name of a type, or of a member of one; empty for anything else."""
    plain = re.sub(r"\(.*\)$", "", name)
    return plain.split(".") if re.fullmatch(r"[A-Z]\w+(\.\w+)*", plain) else []


def unknown(page: Page, roots: List[Path], types: Dict[str, Set[str]], words: Set[str]) -> List[str]:
    """What the page names and is not there.

    - roots: The folders that paths are relative to.
    - types: The members that stand in the files of each type.
    - words: Names with a capital that are no types.
    """
    found = []
    for name in page.names:
        if is_path(name):
            # What a build makes is not there before it.
            if not name.startswith(".build/") and not any((root / name).exists() for root in roots):
                found.append(name)
            continue
        parts = identifier(name)
        if not parts or parts[0] in words:
            continue
        known = all(part in types for part in parts if part[0].isupper())
        member = parts[-1]
        if not known or member[0].islower() and member not in types[parts[-2]]:
            found.append(name)
    return found + [link for link in page.links if not (page.path.parent / link).exists()]
