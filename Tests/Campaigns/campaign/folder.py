"""Looks at a cache folder from outside, as ``du`` and ``ls`` would."""

from __future__ import annotations

import os
import stat
import time
from typing import Iterator


def files(folder: str) -> Iterator[os.DirEntry[str]]:
    """Every entry below ``folder`` that is no folder; what vanishes meanwhile is passed over."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from files(entry.path)
        else:
            yield entry


def blobs(cache: str) -> dict[str, os.stat_result]:
    """The images' files of one cache, by path."""
    found = {}
    for entry in files(os.path.join(cache, "blobs")):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            found[entry.path] = status
    return found


def unique_bytes(cache: str) -> int:
    """The bytes of all images, those that share an inode once."""
    return sum({status.st_ino: status.st_size for status in blobs(cache).values()}.values())


def partial(cache: str) -> list[str]:
    """What lies in ``partial/``: being written, or left by the dead."""
    try:
        return sorted(os.listdir(os.path.join(cache, "partial")))
    except FileNotFoundError:
        return []


def left_over(cache: str) -> list[str]:
    """What is in ``partial/`` under the same name for long: what a server is just writing is gone in a moment."""
    names = partial(cache)
    end = time.monotonic() + 10
    while names and time.monotonic() < end:
        time.sleep(0.02)
        names = [name for name in partial(cache) if name in names]
    return names


def state(path: str) -> tuple[int, int, int] | None:
    """What tells whether a file is still the same: inode, size and time of change; nothing for no regular file."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
