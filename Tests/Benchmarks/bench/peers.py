"""What others do with the same pictures: diskcache and plain files, both within this process."""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib
import math
import os
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from . import pictures
from .context import Context

#: Stores pictures on so many threads and returns the nanoseconds of each.
Timed = Callable[[Sequence[Path], int], Sequence[int]]


def diskcache_module(context: Context) -> Any:
    """The library diskcache, or ``None`` when it is not installed."""
    if not context.has_module("diskcache"):
        return None
    return importlib.import_module("diskcache")


def percentile(samples: Sequence[float], percent: float) -> float:
    """The sample that ``percent`` of the samples do not exceed."""
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


@contextlib.contextmanager
def diskcache_at_limit(context: Context, count: int) -> Iterator[Timed | None]:
    """A diskcache with ``count`` entries of 20,000 bytes that has reached its limit; ``None`` when it is not installed.

    Its rows are entered as it would itself, as values in files of their own, which are not there: it is quicker for that.
    """
    diskcache = diskcache_module(context)
    if diskcache is None:
        yield None
        return
    folder = context.path("diskcache")
    diskcache.Cache(str(folder)).close()
    database = sqlite3.connect(folder / "cache.db")
    with database:
        now = time.time()
        database.executemany(
            "INSERT INTO Cache(key, raw, store_time, access_time, access_count, size, mode, filename)"
            " VALUES (?, 1, ?, ?, 0, ?, 2, ?)",
            (
                (f"http://127.0.0.1:8080/bench/old/{n:07d}.jpg", now - count + n, now, pictures.SIZE, f"{n:07d}.val")
                for n in range(count)
            ),
        )
    database.close()
    with diskcache.Cache(str(folder)) as cache:
        cache.reset("size_limit", cache.volume())

        def store(file: Path) -> int:
            data = file.read_bytes()
            begin = time.perf_counter_ns()
            cache.set(str(file), data)
            return time.perf_counter_ns() - begin

        def stores(files: Sequence[Path], threads: int) -> Sequence[int]:
            if threads == 1:
                return [store(file) for file in files]
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                return list(pool.map(store, files))

        yield stores
    context.discard(folder)


class Diskcache:
    """A diskcache without expiry, as its users have it."""

    name = "diskcache"

    def __init__(self, context: Context) -> None:
        self.folder = context.path("diskcache")
        self.cache = diskcache_module(context).Cache(str(self.folder), size_limit=1 << 40)

    def set(self, key: str, data: bytes) -> None:
        """Stores one."""
        self.cache.set(key, data)

    def get(self, key: str) -> bytes:
        """Reads one."""
        data: bytes = self.cache.get(key)
        return data

    def delete(self, key: str) -> None:
        """Removes one."""
        self.cache.delete(key)

    def evict(self, part: float) -> int:
        """Takes out the longest stored until ``part`` of the volume is left; returns how many went."""
        self.cache.reset("size_limit", int(self.cache.volume() * part))
        return int(self.cache.cull())

    def close(self) -> None:
        """Removes everything."""
        self.cache.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Plain:
    """Files in one folder: written beside and renamed."""

    name = "plain files"

    def __init__(self, context: Context) -> None:
        self.folder = context.folder("plain")

    def _path(self, key: str) -> str:
        return f"{self.folder}/{key.rsplit('/', 1)[1]}"

    def set(self, key: str, data: bytes) -> None:
        """Writes one beside and renames it."""
        path = self._path(key)
        with open(path + "~", "wb", buffering=0) as file:
            file.write(data)
        os.rename(path + "~", path)

    def get(self, key: str) -> bytes:
        """Opens and reads one."""
        with open(self._path(key), "rb", buffering=0) as file:
            return file.read()

    def delete(self, key: str) -> None:
        """Unlinks one."""
        os.unlink(self._path(key))

    def evict(self, part: float) -> int:
        """Looks at all files and unlinks the oldest until ``part`` of them is left; returns how many went."""
        entries = sorted((entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(self.folder))
        gone = entries[: int(len(entries) * (1 - part))]
        for _, path in gone:
            os.unlink(path)
        return len(gone)

    def close(self) -> None:
        """Removes everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
