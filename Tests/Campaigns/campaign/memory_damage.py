"""Cuts the memory that SQLite's processes share (``index.sqlite-shm``) again and again, while each server judges its own keys."""

from __future__ import annotations

import os
import random
import threading
import time

from .cut_damage import shorten
from .damaged_cache import DamagedCache
from .pictures import NotWhole, picture, stamp
from .server import Dead, Hangs, Server, cached, inline, store

#: What is left of the file: nothing, parts of its header, of the pages' numbers, of the table by which they are found.
LENGTHS = (0, 1, 1000, 4096, 8192, 16_384, 20_000, 24_576, 30_000)
KEYS = 40
#: The time in seconds after which an image that was not found, or an older one that was, is there.
PATIENCE = 3


def cut_memory(damaged: DamagedCache, seconds: float) -> None:
    """What was stored is found, what was removed is not, and the index is not put aside: its own files are whole."""
    damaged.begin("shared memory", 0)
    end = time.monotonic() + seconds
    servers = [damaged.serve() for _ in range(3)]
    for server in servers:
        server.result("store", store("first", picture("first", 1, 2000)))
    owners = [Owner(damaged, server, number) for number, server in enumerate(servers)]
    threads = [threading.Thread(target=owner.work, args=(end,)) for owner in owners]
    for thread in threads:
        thread.start()
    path = os.path.join(damaged.cache, "index.sqlite")
    while time.monotonic() < end:
        time.sleep(damaged.random.random() * 0.05)
        length = damaged.random.choice(LENGTHS)
        if shorten(path + "-shm", length):
            damaged.report.count("cuts of shared memory")
        if os.path.exists(path + ".damaged"):
            damaged.breach("put aside", "the index was taken for damaged")
            os.unlink(path + ".damaged")
    for thread in threads:
        thread.join()
    for owner in owners:
        owner.end()


class Owner:
    """A server, and the versions of the keys that it alone stores and removes."""

    def __init__(self, damaged: DamagedCache, server: Server, number: int) -> None:
        self.damaged, self.server, self.number = damaged, server, number
        self.random = random.Random(damaged.options.seed * 100 + number)
        # 0 for one that was removed; a key whose request failed is not judged.
        self.versions: dict[str, int] = {}
        self.latest = number * 1_000_000

    def work(self, end: float) -> None:
        try:
            while time.monotonic() < end:
                self.step(f"key-{self.number}-{self.random.randrange(KEYS)}")
        except NotWhole as error:
            self.damaged.breach("wrong data", str(error))
        except (Dead, Hangs) as error:
            self.damaged.breach("dead", f"server {self.number}: {error}")

    def step(self, key: str) -> None:
        deed = self.random.randrange(10)
        if deed < 4:
            self.latest += 1
            reply = self.server.ask("store", store(key, picture(key, self.latest, 3000)))
            self.note(key, self.latest, "result" in reply and reply["result"].get("cacheType") != "memory")
        elif deed == 4:
            self.note(key, 0, "result" in self.server.ask("remove", {"key": key}))
        elif deed == 5:
            self.server.ask(self.random.choice(("list", "calculateSize", "verify", "cleanExpired")))
        elif key in self.versions and self.served(key) != self.versions[key]:
            # It may take a moment until the index is made again.
            time.sleep(PATIENCE)
            self.judge(key)

    def note(self, key: str, version: int, is_done: bool) -> None:
        self.versions.pop(key, None)
        if is_done:
            self.versions[key] = version

    def served(self, key: str) -> int:
        """The version that is served from the disk; 0 for a miss."""
        self.server.ask("clearMemory")
        reply = self.server.ask("retrieve", cached(key))
        return stamp(inline(reply["result"])).version if "result" in reply else 0

    def judge(self, key: str) -> None:
        found, version = self.served(key), self.versions[key]
        if found != version:
            kind = "lost" if found == 0 else "came back" if version == 0 else "older"
            self.damaged.breach(kind, f"{key} at {version}: {found} is served")
            del self.versions[key]

    def end(self) -> None:
        """All keys are judged once more when nothing is cut any longer."""
        try:
            time.sleep(PATIENCE if self.number == 0 else 0)
            for key in list(self.versions):
                self.judge(key)
            self.damaged.report.count("keys with shared memory cut", len(self.versions))
            self.damaged.check_clean(self.server)
        except NotWhole as error:
            self.damaged.breach("wrong data", str(error))
        except (Dead, Hangs) as error:
            self.damaged.breach("dead", f"afterwards: {error}")
        if self.server.close() != 0:
            self.damaged.breach("ends", f"exit code {self.server.process.returncode}")
