"""Cuts files of the cache short, and copies older ones over them, while servers work with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time

from .damaged_cache import DamagedCache
from .pictures import NotWhole, picture, stamp
from .server import Dead, Hangs, Server, cached, inline, store

#: The files that processes have open or in memory.
FILES = ("leases/table", "index.sqlite-shm", "index.sqlite-wal", "index.sqlite", "index.sqlite.lock", "flights")
LENGTHS = (0, 1, 1000, 4096, 100_000)
#: The time in seconds after which an older version, which a cut log brings back, is not served any more.
PATIENCE = 5


def cut(damaged: DamagedCache, seconds: float) -> None:
    """No file of the folder, whatever is done to it, ends a server; and afterwards each works on."""
    for name in FILES:
        for length in LENGTHS:
            cut_once(damaged, name, length)
    for what in ("cuts", "copies"):
        cut_under_traffic(damaged, what, seconds)


def shorten(path: str, length: int) -> bool:
    """Cuts a file, which never becomes longer by it; ``False`` when it is none or short enough already."""
    try:
        if os.stat(path).st_size <= length:
            return False
        os.truncate(path, length)
        return True
    except FileNotFoundError:
        return False


def cut_once(damaged: DamagedCache, name: str, length: int) -> None:
    """One file, under two servers that have it open: before a lookup, before a store, and before the end."""
    damaged.begin(f"cut {os.path.basename(name)} to {length}", 30)
    path = os.path.join(damaged.cache, name)
    keys = [f"key-{number}" for number in range(30)]
    try:
        with damaged.serve() as server, damaged.serve() as other:
            for one in (server, other):
                for key in keys:
                    damaged.look(one, key, "path")
            shorten(path, length)
            for key in keys:
                server.ask("cachePath", {"key": key})
                server.ask("isCached", {"key": key})
                damaged.look(server, key, "data", PATIENCE)
            shorten(path, length)
            works(damaged, other, keys[:10])
            shorten(path, length)
            works(damaged, server, keys[10:])
            shorten(path, length)
            damaged.check_clean(other)
            shorten(path, length)
            for one in (server, other):
                if one.close() != 0:
                    damaged.breach("ends", f"exit code {one.process.returncode}")
        with damaged.serve() as server:
            works(damaged, server, keys)
            damaged.check_clean(server)
    except (Dead, Hangs) as error:
        damaged.breach("dead", str(error))


def works(damaged: DamagedCache, server: Server, keys: list[str], patience: float = 0) -> None:
    """What is stored now is found: at once, or within so many seconds where the index has still to be repaired."""
    for key in keys:
        if not damaged.put(server, key):
            continue
        end = time.monotonic() + patience
        while not damaged.look(server, key, "data", PATIENCE):
            if time.monotonic() > end:
                damaged.breach("unhealed", f"{key} is not served after it was stored anew")
                break
            time.sleep(0.1)


def cut_under_traffic(damaged: DamagedCache, what: str, seconds: float) -> None:
    """Three servers store, look up and remove while files are cut, or a copy of the folder is laid over it again and again."""
    damaged.begin(f"{what} under traffic", 60)
    backup = damaged.folder + "-backup"
    shutil.copytree(damaged.cache, backup, symlinks=True)
    end = time.monotonic() + seconds

    def work(server: Server, number: int) -> None:
        generator = damaged.random.__class__(damaged.options.seed + number)
        version = 0
        try:
            while time.monotonic() < end:
                key = f"key-{generator.randrange(90)}"
                deed = generator.randrange(8)
                version += 1
                if deed < 3:
                    server.ask("store", store(key, picture(key, number * 1_000_000 + version, 3000)))
                elif deed == 3:
                    server.ask("remove", {"key": key})
                elif deed == 4:
                    server.ask("cachePath", {"key": key})
                else:
                    reply = server.ask("retrieve", cached(key))
                    # Whichever version it is: copies bring older ones back.
                    if "result" in reply and stamp(inline(reply["result"])).key != key:
                        damaged.breach("wrong data", f"{key}: {stamp(inline(reply['result']))}")
        except NotWhole as error:
            damaged.breach("wrong data", str(error))
        except (Dead, Hangs) as error:
            damaged.breach("dead", f"server {number}: {error}")

    servers = [damaged.serve() for _ in range(3)]
    threads = [threading.Thread(target=work, args=(server, number)) for number, server in enumerate(servers)]
    for thread in threads:
        thread.start()
    while time.monotonic() < end:
        if what == "copies":
            subprocess.run(["cp", "-a", backup + "/.", damaged.cache + "/"], check=False, stderr=subprocess.DEVNULL)
        else:
            shorten(os.path.join(damaged.cache, damaged.random.choice(FILES[:4])), damaged.random.choice(LENGTHS))
            time.sleep(damaged.random.choice((0.0, 0.001, 0.02)))
    for thread in threads:
        thread.join()
    damaged.versions = {}
    fresh = [f"fresh-{number}" for number in range(20)]
    for server in servers:
        try:
            # SQLite drops what follows a page of the log that an older one has replaced; the servers find it again.
            works(damaged, server, fresh, patience=10)
            damaged.check_clean(server)
        except (Dead, Hangs) as error:
            damaged.breach("dead", f"afterwards: {error}")
        if server.close() != 0:
            damaged.breach("ends", f"exit code {server.process.returncode}")
