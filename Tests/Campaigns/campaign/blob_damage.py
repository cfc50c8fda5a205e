"""Damages the files of images, one at a time, under running servers."""

from __future__ import annotations

import os
import shutil
from typing import Callable

from .damaged_cache import DamagedCache
from .folder import state
from .pictures import picture

KEYS = 40


def delete(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)


def truncate(damaged: DamagedCache, path: str, other: str) -> None:
    os.truncate(path, damaged.random.randrange(os.path.getsize(path)))


def empty(damaged: DamagedCache, path: str, other: str) -> None:
    os.truncate(path, 0)


def grow(damaged: DamagedCache, path: str, other: str) -> None:
    with open(path, "ab") as file:
        file.write(b"more")


def flip(damaged: DamagedCache, path: str, other: str) -> None:
    place = damaged.random.randrange(os.path.getsize(path))
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << damaged.random.randrange(8)]))


def flip_hidden(damaged: DamagedCache, path: str, other: str) -> None:
    """A flipped bit that leaves no trace in size and time, as a bad disk would."""
    status = os.stat(path)
    flip(damaged, path, other)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def swap(damaged: DamagedCache, path: str, other: str) -> None:
    os.rename(path, path + ".aside")
    os.rename(other, path)
    os.rename(path + ".aside", other)


def copy_other(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)
    shutil.copy2(other, path)


def fifo(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)
    os.mkfifo(path)


def folder(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)
    os.mkdir(path)
    with open(os.path.join(path, "file"), "w") as file:
        file.write("in a folder")


def link(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)
    os.symlink(damaged.random.choice((other, os.path.join(damaged.home, "victim.png"), "/nowhere")), path)


def hard_link(damaged: DamagedCache, path: str, other: str) -> None:
    os.unlink(path)
    os.link(os.path.join(damaged.home, "victim.png"), path)


def link_shard(damaged: DamagedCache, path: str, other: str) -> None:
    shard = os.path.dirname(path)
    os.rename(shard, os.path.join(damaged.home, f"shard-{damaged.random.getrandbits(40)}"))
    os.symlink(damaged.home, shard)


MUTATIONS: list[Callable[[DamagedCache, str, str], None]] = [
    delete, truncate, empty, grow, flip, flip_hidden, swap, copy_other, fifo, folder, link, hard_link, link_shard,
]  # fmt: skip


def mutate(damaged: DamagedCache, count: int) -> None:
    """Random mutations of random images, under a server that has them in memory and one that has not."""
    damaged.begin("blobs", KEYS)
    victim = os.path.join(damaged.home, "victim.png")
    with open(victim, "wb") as file:
        file.write(picture("victim", 1, 1000))
    before = state(victim)
    warm, other_server = damaged.serve(), damaged.serve()
    try:
        for number in range(count):
            key, other = damaged.random.sample(sorted(damaged.versions), 2)
            paths = {}
            for name in (key, other):
                if not damaged.look(warm, name, damaged.random.choice(("data", "path"))):
                    damaged.put(warm, name)
                damaged.look(other_server, name, "data")
                paths[name] = warm.result("cachePath", {"key": name})["path"]
                if state(paths[name]) is None:
                    paths[name] = damaged.put(warm, name)
            mutation = damaged.random.choice(MUTATIONS)
            damaged.place = f"mutation {number}, {mutation.__name__} of {key}"
            mutation(damaged, paths[key], paths[other])
            damaged.report.count("mutations")
            if damaged.random.random() < 0.3:
                other_server.close()
                other_server = damaged.serve()
            if mutation is link_shard:
                for server in (warm, other_server):
                    damaged.refuse(server, key)
                damaged.put(damaged.random.choice((warm, other_server)), key)
            hidden = mutation is flip_hidden
            served = {}
            for server in damaged.random.sample((warm, other_server), 2):
                # A path of a file with the recorded size and time may be handed out; its data never.
                answer = "data" if hidden else damaged.random.choice(("data", "path"))
                served[server] = damaged.look(server, key, answer)
                damaged.look(server, other, "data")
            if not hidden:
                for server, is_there in served.items():
                    damaged.agree(server, key, is_there)
            for name in (key, other):
                if hidden or damaged.random.random() < 0.5 or not damaged.look(other_server, name, "data"):
                    damaged.put(damaged.random.choice((warm, other_server)), name)
                for server in (warm, other_server):
                    if not damaged.look(server, name, "data") or not damaged.look(server, name, "path"):
                        damaged.breach("unhealed", f"{name} is not served after it was stored anew")
            if state(victim) != before:
                damaged.breach("outside", "a file outside the cache was changed")
                before = state(victim)
        damaged.place = "after all mutations"
        damaged.check_clean(warm)
    finally:
        for server in (warm, other_server):
            if server.close() != 0:
                damaged.breach("crashes", "a server did not end with 0")
