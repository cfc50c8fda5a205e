"""Cache folders with up to a million entries, filled without the server's help so that it takes seconds."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

from . import messages, pictures, scene
from .context import BenchError, Context, progress

#: A kept folder is used for so long; entries live for seven days.
_KEPT_SECONDS = 5 * 86400

#: How many entries of a large cache have their file: more than any benchmark evicts.
FILES = 12_000


@dataclass
class Filled:
    """A cache folder with ``count`` entries of 20,000 bytes.

    ``keys`` are those that have their file, each with bytes of its own, the least recently used first; they were used before all
    others, so they are what an eviction takes. The other entries are rows of the index only.
    """

    folder: Path
    index: Path
    count: int
    keys: list[str]

    @property
    def bytes(self) -> int:
        """What all entries take by the index: a limit of this much is just reached."""
        return self.count * pictures.SIZE

    def rows(self) -> int:
        """How many entries the index has now."""
        database = sqlite3.connect(self.index)
        try:
            return int(database.execute("SELECT count(*) FROM entries").fetchone()[0])
        finally:
            database.close()


def make(context: Context, count: int, files: int) -> Filled:
    """A new cache folder with ``count`` entries, ``files`` of them (at most all) with their file.

    The server makes the folder, its schema and a first entry; the other rows copy that one with their own key, hash,
    checksum and place in the order of use. Each shape is made once and then copied; with ``context.kept`` it also stays for
    later runs.
    """
    files = min(files, count)
    template = _template(context, count, files)
    folder = context.path(f"filled-{count}")
    subprocess.run(["cp", "-a", "--reflink=auto", str(template), str(folder)], check=True)
    return Filled(folder, _index(folder), count, [_key(number) for number in range(files)])


def key_of_no_entry(number: int) -> str:
    """A key that no filled folder has."""
    return f"{scene.BASE}/new/{number:07d}.jpg"


def _key(number: int) -> str:
    return f"{scene.BASE}/{number:07d}.jpg"


def _template(context: Context, count: int, files: int) -> Path:
    fresh = context.path("template")
    picture = pictures.make(context, 1)
    messages.ask(context, fresh, messages.stores([_key(0)], picture))
    # The schema and the picture are in the name: a folder made by another version is not used again.
    schema = hashlib.sha256(_schema(_index(fresh)).encode() + picture[0].read_bytes()).hexdigest()[:12]
    folder = (context.kept or context.work) / f"template-{count}-{files}-{schema}"
    marker = folder.with_suffix(".json")
    if marker.exists() and time.time() - json.loads(marker.read_text())["made"] < _KEPT_SECONDS:
        shutil.rmtree(fresh)
        return folder
    progress(f"filling a cache with {count:,} entries…")
    shutil.rmtree(folder, ignore_errors=True)
    _fill(context, fresh, count, files)
    subprocess.run(["cp", "-a", str(fresh), str(folder)], check=True)
    shutil.rmtree(fresh)
    marker.write_text(json.dumps({"made": time.time()}))
    return folder


def _index(folder: Path) -> Path:
    index = next(iter(sorted(folder.rglob("index.sqlite"))), None)
    if index is None:
        raise BenchError("The server made no index.sqlite in its cache folder, so it cannot be filled.")
    return index


def _schema(index: Path) -> str:
    database = sqlite3.connect(index)
    try:
        return repr(database.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall())
    finally:
        database.close()


def _fill(context: Context, folder: Path, count: int, files: int) -> None:
    index = _index(folder)
    database = sqlite3.connect(index)
    try:
        database.execute("PRAGMA cache_size = -524288")
        columns = [row[1] for row in database.execute("PRAGMA table_info(entries)")]
        wanted = {"id", "name", "key", "checksum", "content", "used", "bytes", "allocated", "modified"}
        if not wanted <= set(columns):
            raise BenchError(f"The index has no columns {', '.join(sorted(wanted - set(columns)))}, so it cannot be filled.")
        found = database.execute("SELECT * FROM entries WHERE key = ?", (_key(0),)).fetchone()
        if found is None:
            raise BenchError("The index has no row with the key that was stored, so it cannot be filled.")
        first = dict(zip(columns, found))
        # Triggers sum entries up one by one: dropped for the time of filling, and their sums entered at the end.
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        with database:
            for name, _ in triggers:
                database.execute(f'DROP TRIGGER "{name}"')
            marks = ", ".join("?" * len(columns))
            rows = _rows(context, index.parent, first, columns, count, files)
            database.executemany(f"INSERT OR REPLACE INTO entries VALUES ({marks})", rows)
            database.execute(
                "UPDATE totals SET count = ?, bytes = ?, allocated = ?",
                (count, count * first["bytes"], count * first["allocated"]),
            )
            for _, sql in triggers:
                database.execute(sql)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()


def _rows(
    context: Context, cache: Path, first: dict[str, Any], columns: list[str], count: int, files: int
) -> Iterator[tuple[Any, ...]]:
    """One row for each entry in the order of use; writes the files of the first ones on the way."""
    blobs = cache / "blobs"
    base = pictures.base(context)
    changed = {name: place for place, name in enumerate(columns)}
    row = [first[name] for name in columns]
    # Neither the rows nor the bytes arrive in the order of their hashes, as they do not in a cache that grew.
    for number in range(count):
        key = _key(number)
        digest = hashlib.sha256(key.encode()).digest()
        if number < files:
            data = pictures.numbered(base, number)
            checksum = hashlib.sha256(data).digest()
            path = blobs / digest[:1].hex() / f"{digest.hex()}.{first['extension']}"
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(data)
            path.chmod(0o600)
            os.utime(path, ns=(first["modified"], first["modified"]))
        else:
            checksum = hashlib.sha256(b"checksum of " + digest).digest()
        row[changed["id"]] = _number(digest)
        row[changed["name"]] = digest
        row[changed["key"]] = key
        row[changed["checksum"]] = checksum
        row[changed["content"]] = _number(checksum)
        row[changed["used"]] = number + 1
        yield tuple(row)


def _number(digest: bytes) -> int:
    """The first 63 bits of a digest, which are the number of its row."""
    return int.from_bytes(digest[:8], "big") >> 1
