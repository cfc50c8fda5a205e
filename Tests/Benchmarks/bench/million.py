"""An index of a million entries, made from one entry that the server stored itself."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from . import messages, pictures, scene
from .context import BenchError, Context

Maker = Callable[[str], Any]


@dataclass
class Million:
    """A cache folder with a large index; ``key`` is the one entry that also has its file."""

    folder: Path
    index: Path
    key: str

    def rows(self) -> int:
        """How many rows the largest table of the index has now."""
        database = sqlite3.connect(self.index)
        try:
            return max(_count(database, table) for table in _tables(database))
        finally:
            database.close()


def make(context: Context, count: int) -> Million:
    """A cache folder whose index holds ``count`` entries.

    The server makes the folder and the first row; the other rows copy it with their own key, hash and place in the order of
    use, through the server's own schema and triggers. They have no files: only the index is large.
    """
    folder = context.path("million")
    key = f"{scene.BASE}/original.jpg"
    messages.ask(context, folder, messages.stores([key], pictures.make(context, 1)))
    index = next(iter(sorted(folder.rglob("index.sqlite"))), None)
    if index is None:
        raise BenchError("The server made no index.sqlite in its cache folder, so it cannot be filled.")
    database = sqlite3.connect(index)
    try:
        database.execute("PRAGMA cache_size = -262144")
        _fill(database, key, count)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
    return Million(folder, index, key)


def _tables(database: sqlite3.Connection) -> list[str]:
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [row[0] for row in names]


def _count(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])


def _fill(database: sqlite3.Connection, key: str, count: int) -> None:
    for table in _tables(database):
        for template in database.execute(f'SELECT * FROM "{table}"').fetchall():
            if key in template:
                makers = _makers(database, table, template, key)
                _insert(database, table, makers, count)
                return
    raise BenchError("No table of the index has a row with the key that was stored, so it cannot be filled.")


def _insert(database: sqlite3.Connection, table: str, makers: Sequence[Maker], count: int) -> None:
    def values() -> Iterator[tuple[Any, ...]]:
        for number in range(1, count):
            key = f"{scene.BASE}/{number:07d}.jpg"
            yield tuple(make_value(key) for make_value in makers)

    marks = ", ".join("?" * len(makers))
    with database:
        database.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values())


def _makers(database: sqlite3.Connection, table: str, template: Sequence[Any], key: str) -> list[Maker]:
    """For every column how a new row gets its value."""
    columns = database.execute(f'PRAGMA table_info("{table}")').fetchall()
    indexes = [row[1] for row in database.execute(f'PRAGMA index_list("{table}")').fetchall()]
    ordered = {row[2] for name in indexes for row in database.execute(f'PRAGMA index_info("{name}")').fetchall()}
    makers = []
    for (_, name, _, _, _, primary), value in zip(columns, template):
        maker = _maker(value, key, name in ordered)
        if primary and maker is None:
            raise BenchError(
                f"The primary key {name} of the index does not follow from the key, so rows cannot be added."
            )
        makers.append(maker or _constant(value))
    return makers


def _constant(value: Any) -> Maker:
    return lambda key: value


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _number(key: str) -> int:
    """The first eight bytes of the hash as a positive 64-bit number, which may serve as a row's number."""
    return int.from_bytes(_digest(key)[:8], "big") >> 1


def _maker(value: Any, key: str, ordered: bool) -> Maker | None:
    """How ``value``, which belongs to ``key``, is made for another key; ``None`` when it does not depend on the key."""
    if value == key:
        return str
    if value == _number(key):
        return _number
    if isinstance(value, int) and ordered:
        numbers = itertools.count(value + 1)
        return lambda other: next(numbers)
    digest = _digest(key)
    if isinstance(value, bytes) and digest in value:
        return lambda other: value.replace(digest, _digest(other))
    if isinstance(value, str) and digest.hex() in value:
        return lambda other: value.replace(digest.hex(), _digest(other).hex())
    if isinstance(value, str) and key in value:
        return lambda other: value.replace(key, other)
    if isinstance(value, bytes) and len(value) == 32:  # a checksum of the picture
        return lambda other: _digest("checksum of " + other)
    return None
