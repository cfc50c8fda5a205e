"""Swift files as far as the structure needs them: the names that they declare and the names that they use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, FrozenSet, Iterator, List, Mapping, Set

_MODIFIERS = r"(?:(?:public|package|internal|private|fileprivate|final|indirect)\s+)*"
_TYPE = re.compile(rf"^{_MODIFIERS}(?:class|struct|enum|actor|protocol|typealias)\s+(\w+)", re.MULTILINE)
_INNER = re.compile(r"\b(?:class|struct|enum|actor|protocol|typealias)\s+(\w+)")
_EXTENSION = re.compile(rf"^{_MODIFIERS}extension\s+\[?([\w.]+)", re.MULTILINE)
_MEMBER = re.compile(r"\b(?:func|var|let|case|macro|associatedtype)\s+`?(\w+)|\b(init|subscript|deinit)\b")
_IMPORT = re.compile(r"^(?:@\w+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(\w+)", re.MULTILINE)


def code(text: str) -> str:
    """The text without comments and string literals; what a literal interpolates stays."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"""(.*?)"""', '""', text, flags=re.DOTALL)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', _interpolated, text)


def _interpolated(literal: "re.Match[str]") -> str:
    return " ".join(re.findall(r"\\\((.*?)\)", literal.group(0))) or '""'


class SwiftFile:
    """One file: its text, and the names in it."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.code = code(text)
        #: The types that the file declares at its top level, or extends.
        self.types: FrozenSet[str] = frozenset(_TYPE.findall(self.code)) | self.extended
        #: The types that it declares at its top level.
        self.declared: FrozenSet[str] = frozenset(_TYPE.findall(self.code))

    @property
    def extended(self) -> FrozenSet[str]:
        return frozenset(_EXTENSION.findall(self.code))

    @property
    def all_types(self) -> Set[str]:
        """The types that the file declares at any depth, or extends; of a nested one that is extended, each part."""
        return set(_INNER.findall(self.code)) | {part for name in self.extended for part in name.split(".")}

    @property
    def members(self) -> Set[str]:
        return {one or other for one, other in _MEMBER.findall(self.code)}

    @property
    def imports(self) -> Set[str]:
        return set(_IMPORT.findall(self.code))

    @property
    def lines(self) -> int:
        return self.text.count("\n")


def read(folder: Path) -> List[SwiftFile]:
    """The Swift files below a folder."""
    return [SwiftFile(path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.swift"))]


def spread(files: List[SwiftFile]) -> Dict[str, int]:
    """The number of files that declare or extend each type."""
    counts: Dict[str, int] = {}
    for file in files:
        for name in file.types:
            counts[name] = counts.get(name, 0) + 1
    return counts


def references(files: List[SwiftFile]) -> Dict[str, Set[str]]:
    """The other files whose types each file names."""
    homes: Dict[str, Set[str]] = {}
    for file in files:
        for name in file.declared:
            homes.setdefault(name, set()).add(str(file.path))
    return {
        str(file.path): {home for word in set(re.findall(r"\b[A-Z]\w*\b", file.code)) for home in homes.get(word, ())}
        - {str(file.path)}
        for file in files
    }


def cycles(graph: Mapping[str, Set[str]]) -> Iterator[List[str]]:
    """The strongly connected parts of a graph (Tarjan), each a list of its nodes."""
    index: Dict[str, int] = {}
    low: Dict[str, int] = {}
    stack: List[str] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, neighbours = work[-1]
            for other in neighbours:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    yield part
