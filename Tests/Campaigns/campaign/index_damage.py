"""Damages the index in many places, also under a running server."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from typing import Callable

from .damaged_cache import DamagedCache
from .folder import state
from .server import drop


def index_cases(damaged: DamagedCache, every: int, template: str) -> list[tuple[str, Callable[[str], None]]]:
    """Names of damages and what they do to the index at a path."""
    size = os.path.getsize(os.path.join(template, "default", "index.sqlite"))

    def cut(count: int) -> Callable[[str], None]:
        return lambda path: os.truncate(path, count)

    def write(data: bytes) -> Callable[[str], None]:
        def act(path: str) -> None:
            with open(path, "wb") as file:
                file.write(data)

        return act

    def garble(path: str) -> None:
        with open(path, "r+b") as file:
            for _ in range(20):
                file.seek(damaged.random.randrange(size))
                file.write(os.urandom(damaged.random.randrange(1, 200)))

    def newer(path: str) -> None:
        index = sqlite3.connect(path)
        index.execute("PRAGMA user_version = 999")
        index.commit()
        index.close()

    def replaced(make: Callable[[str], None]) -> Callable[[str], None]:
        def act(path: str) -> None:
            os.unlink(path)
            make(path)

        return act

    cases = [(f"cut to {count}", cut(count)) for count in range(0, min(size, 65_536), every)]
    cases += [("zeroed", write(bytes(size))), ("random", write(os.urandom(size))), ("text", write(b"not a database"))]
    cases += [(f"garbled {number}", garble) for number in range(max(1, 4096 // every))]
    cases += [("of version 999", newer), ("a folder", replaced(os.mkdir)), ("a FIFO", replaced(os.mkfifo))]
    cases += [("a link", replaced(lambda path: os.symlink(os.path.join(damaged.home, "victim.png"), path)))]
    cases += [("gone", os.unlink)]
    return cases


def damage_index(damaged: DamagedCache, every: int) -> None:
    """The index is a hint: with a damaged one nothing wrong is served, stores work, and images are found again."""
    damaged.begin("index", 150)
    template = damaged.folder
    settle(template)
    victim = os.path.join(damaged.home, "victim.png")
    before = state(victim)
    sidecars = ("-wal", "-shm")
    for number, (name, act) in enumerate(index_cases(damaged, every, template)):
        damaged.folder = os.path.join(damaged.home, f"index-{number}")
        damaged.cache = os.path.join(damaged.folder, "default")
        shutil.copytree(template, damaged.folder, symlinks=True)
        index = os.path.join(damaged.cache, "index.sqlite")
        for is_warm in (False, True) if number % 8 == 0 else (False,):
            damaged.place = f"index {name}{', under a running server' if is_warm else ''}"
            server = damaged.serve() if is_warm else None
            if server:
                damaged.look(server, "key-0", "data")
            try:
                act(index)
            except (OSError, sqlite3.Error):
                continue  # The second time there is nothing left to damage like that.
            for end in sidecars:
                if not is_warm and os.path.lexists(index + end):
                    os.unlink(index + end)
            damaged.report.count("damaged indexes")
            server = server or damaged.serve()
            began = time.monotonic()
            keys = damaged.random.sample(sorted(damaged.versions), 8)
            found = sum(damaged.look(server, key, damaged.random.choice(("data", "path"))) for key in keys)
            damaged.put(server, "key-1")
            if not damaged.look(server, "key-1", "data"):
                damaged.breach("unhealed", "what was just stored is not there")
            if time.monotonic() - began > 10:
                damaged.breach("slow", f"{time.monotonic() - began:.0f} s to the first answers")
            damaged.report.count("images found with a damaged index", found)
            if server.close() != 0:
                damaged.breach("crashes", "the server did not end with 0")
            with damaged.serve() as again:
                damaged.check_clean(again)
                found = sum(damaged.look(again, key, "data") for key in damaged.versions)
                if found < len(damaged.versions):
                    damaged.breach("lost", f"{len(damaged.versions) - found} of {len(damaged.versions)} images")
        damaged.versions = {f"key-{one}": 1 for one in range(150)}
        if state(victim) != before:
            damaged.breach("outside", "a file outside the cache was changed")
        drop(damaged.folder)


def settle(folder: str) -> None:
    """Brings everything into the index file itself."""
    index = sqlite3.connect(os.path.join(folder, "default", "index.sqlite"))
    index.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    index.close()
