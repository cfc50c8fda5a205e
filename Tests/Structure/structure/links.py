"""The links of Markdown, and the anchors that they may lead to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, List, Set

#: Folders with what others wrote or a build made.
FOREIGN = {".build", ".git", "node_modules"}


def without_code(text: str) -> str:
    """The text without blocks of code."""
    return re.sub(r"^(```+).*?^\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading: its words in small letters, joined by hyphens."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text: str) -> Set[str]:
    """The anchors of a page; a heading that comes again has a number."""
    found: Set[str] = set()
    counts: Dict[str, int] = {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", without_code(text), re.MULTILINE):
        name = anchor(heading)
        found.add(name if name not in counts else f"{name}-{counts[name]}")
        counts[name] = counts.get(name, 0) + 1
    return found


def pages(root: Path) -> List[Path]:
    """The Markdown of the repository."""
    return sorted(path for path in root.rglob("*.md") if not FOREIGN.intersection(path.relative_to(root).parts))


def broken(page: Path) -> List[str]:
    """The links of a page to files and anchors that are not there."""
    prose = re.sub(r"`[^`\n]*`", "`", without_code(page.read_text(encoding="utf-8")))
    wrong = []
    for target in re.findall(r"\]\(<?([^)\s>]+)", prose):
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        name, _, fragment = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or fragment and fragment not in anchors(file.read_text(encoding="utf-8")):
            wrong.append(target)
    return wrong
