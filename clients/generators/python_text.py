"""Text of Python: names, wrapped annotations and docstrings, imports."""

import re
import textwrap
from typing import Dict, List, Sequence

from .catalog import NULL, Array, Constants, Either, Map, Named, Scalar, Type, is_nullable, without_null

WIDTH = 100
TYPING = (
    *("Any", "AsyncIterator", "Callable", "Dict", "Iterable", "Iterator", "List", "Literal", "Mapping", "Optional"),
    *("Sequence", "Tuple", "Type", "TypedDict", "TypeVar", "Union", "overload"),
)
"""The names that are imported from `typing` when they are used."""

_SCALARS = {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None", "any": "Any"}


def snake(name: str) -> str:
    """`fromMemory` → `from_memory`; `as`, which is a word of the language, → `as_`."""
    found = re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)
    return found + "_" if found in ("as", "from") else found


def in_words(doc: str) -> str:
    """The protocol's words with the values of the language."""
    for json, python in (("null", "None"), ("true", "True"), ("false", "False")):
        doc = re.sub(r"\b%s\b" % json, python, doc)
    return doc


def literal(value: object) -> str:
    return '"%s"' % value if isinstance(value, str) else repr(value)


def annotation(type: Type, is_argument: bool = False, is_frozen: bool = False) -> str:
    """The annotation of a type: arguments accept any sequence or mapping, and so do the fields of frozen classes."""
    if isinstance(type, Scalar):
        if type.kind == "bytes":
            return "Bytes" if is_argument else "bytes"
        return _SCALARS[type.kind]
    if isinstance(type, Constants):
        return "Literal[%s]" % ", ".join(literal(value) for value in type.values)
    if isinstance(type, Named):
        return type.name
    if isinstance(type, Array):
        head = "Sequence" if is_argument or is_frozen else "List"
        return "%s[%s]" % (head, annotation(type.item))
    if isinstance(type, Map):
        head = "Mapping" if is_argument or is_frozen else "Dict"
        return "%s[str, %s]" % (head, annotation(type.value))
    parts = [annotation(part, is_argument, is_frozen) for part in type.parts if part != NULL]
    inner = parts[0] if len(parts) == 1 else "Union[%s]" % ", ".join(parts)
    return "Optional[%s]" % inner if is_nullable(type) else inner


def optional(text: str) -> str:
    """The same, or None."""
    return text if text.startswith("Optional[") or text == "None" else "Optional[%s]" % text


def wrapped(prefix: str, text: str, suffix: str = "", indent: str = "") -> List[str]:
    """`prefix text suffix` on one line if it fits, else with what is in brackets one line each."""
    line = indent + prefix + text + suffix
    start = min((place for place in map(text.find, "[({") if place >= 0), default=-1)
    if len(line) <= WIDTH or start < 0 or text[-1] not in "])}":
        return [line]
    head, body, tail = text[: start + 1], text[start + 1 : -1], text[-1]
    lines = [indent + prefix + head]
    for part in _parts(body):
        lines += wrapped("", part, ",", indent + "    ")
    return lines + [indent + tail + suffix]


def _parts(body: str) -> List[str]:
    parts, depth, start, quoted = [], 0, 0, False
    for place, letter in enumerate(body):
        if letter == '"':
            quoted = not quoted
        elif letter in "[({" and not quoted:
            depth += 1
        elif letter in "])}" and not quoted:
            depth -= 1
        elif letter == "," and depth == 0 and not quoted:
            parts.append(body[start:place].strip())
            start = place + 1
    return parts + [body[start:].strip()]


def docstring(paragraphs: Sequence[str], indent: str = "") -> List[str]:
    """A docstring of paragraphs; those that hold lines are taken as they are."""
    paragraphs = [paragraph.replace("\\", "\\\\").replace('"""', '\\"""') for paragraph in paragraphs if paragraph]
    if len(paragraphs) == 1 and len(indent + paragraphs[0]) <= WIDTH - 6 and not paragraphs[0].endswith('"'):
        return ['%s"""%s"""' % (indent, paragraphs[0])]
    lines: List[str] = []
    for paragraph in paragraphs:
        if lines:
            lines.append("")
        if "\n" in paragraph:
            lines += [(indent + line).rstrip() for line in paragraph.split("\n")]
        else:
            first = WIDTH - (0 if lines else 3)
            filled = textwrap.wrap(paragraph, first - len(indent), break_long_words=False, break_on_hyphens=False)
            lines += [indent + line for line in filled]
    lines[0] = indent + '"""' + lines[0][len(indent) :]
    return lines + [indent + '"""']


def listed(name: str, text: str) -> str:
    """One entry of a list of arguments, its later lines indented."""
    return "\n".join(textwrap.wrap("%s: %s" % (name, text), 92, initial_indent="    ", subsequent_indent="        "))


def imports(body: str, homes: Dict[str, str], own: str) -> List[str]:
    """The imports that a body needs: of `typing`, and of the modules of this package that `homes` tells."""
    code = re.sub(r'""".*?"""', "", body, flags=re.S)
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"\n]*"', "", code)))
    lines = []
    typing = sorted((name for name in TYPING if name in words), key=str.lower)
    if typing:
        names = ", ".join(typing)
        line = "from typing import " + names
        lines += [line] if len(line) <= WIDTH else wrapped("from typing import ", "(%s)" % names)
    found: Dict[str, List[str]] = {}
    for name, module in homes.items():
        if name in words and module != own:
            found.setdefault(module, []).append(name)
    if typing and found:
        lines.append("")
    for module in sorted(found):
        names = ", ".join(sorted(found[module], key=str.lower))
        line = "from .%s import %s" % (module, names)
        lines += [line] if len(line) <= WIDTH else wrapped("from .%s import " % module, "(%s)" % names)
    return lines


def module(
    summary: Sequence[str], body: List[str], homes: Dict[str, str], own: str, exported: Sequence[str] = ()
) -> str:
    """A whole module."""
    text = "\n".join(body).strip("\n")
    lines = docstring(summary) + ["", "from __future__ import annotations", ""]
    needed = imports(text, homes, own)
    lines += needed + [""] if needed else []
    if exported:
        lines += wrapped(
            "__all__ = ", "[%s]" % ", ".join('"%s"' % name for name in sorted(exported, key=str.lower))
        ) + [""]
    if text.startswith(("class", "@")):
        lines.append("")
    return "\n".join(lines) + "\n" + text + "\n"
