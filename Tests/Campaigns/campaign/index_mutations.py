"""Changes single files of the index in random ways, under stopped and running servers, and judges five seconds later."""

from __future__ import annotations

import os
import shutil
import time
from typing import Callable

from .damaged_cache import DamagedCache
from .folder import unique_bytes
from .server import Dead, Hangs, Server

#: The files that the index is made of.
FILES = ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "entries.log", "index.sound")
#: The longest time in seconds after which all has to be right again.
PATIENCE = 5.0


def change(damaged: DamagedCache, path: str, older: str) -> str:
    """Does one thing to a file; its name, or nothing when it cannot be done."""
    random = damaged.random
    size = os.path.getsize(path) if os.path.isfile(path) else 0

    def poke(change_bytes: Callable[[bytes], bytes], count: int) -> None:
        with open(path, "r+b") as file:
            place = random.randrange(size)
            file.seek(place)
            data = file.read(count)
            file.seek(place)
            file.write(change_bytes(data))

    if os.path.isdir(path):
        return ""
    kind = random.choice(("bit", "bit", "bit", "garbage", "zeros", "cut", "older", "gone", "longer", "link", "folder"))
    if kind in ("bit", "garbage", "zeros", "cut") and not size:
        return ""
    if kind == "bit":
        poke(lambda data: bytes([data[0] ^ 1 << random.randrange(8)]), 1)
    elif kind == "garbage":
        poke(lambda data: os.urandom(len(data)), random.randrange(1, 5000))
    elif kind == "zeros":
        poke(lambda data: bytes(len(data)), random.randrange(1, 5000))
    elif kind == "cut":
        os.truncate(path, random.randrange(size))
    elif kind == "older":
        if not os.path.isfile(older):
            return ""
        shutil.copyfile(older, path) if random.random() < 0.5 else os.replace(shutil.copyfile(older, path + ".older"), path)
    elif kind == "gone":
        if not os.path.lexists(path):
            return ""
        os.unlink(path)
    elif kind == "longer":
        with open(path, "ab") as file:
            file.write(os.urandom(random.randrange(1, 5000)))
    else:
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(os.path.join(damaged.home, "victim.png"), path) if kind == "link" else os.mkdir(path)
    return kind


def missing(damaged: DamagedCache, server: Server, has_keys: bool) -> str:
    """What is not right: counts, images that are not found, keys that are not listed; nothing when all is."""
    disk = server.result("calculateSize")["disk"]
    said, walked = disk["byteCount"] + disk.get("leasedBytes", 0), unique_bytes(damaged.cache)
    if disk["count"] != len(damaged.versions) or said != walked:
        return f"{disk} for {len(damaged.versions)} images of {walked} bytes"
    lost = [key for key in damaged.versions if not server.result("isCached", {"key": key})["cached"]]
    listed = {entry.get("key") for entry in server.result("list", {"limit": 1000})["entries"]}
    unknown = [key for key in damaged.versions if has_keys and key not in listed]
    return f"lost {lost}" if lost else f"keys forgotten {unknown}" if unknown else ""


def mutate_index(damaged: DamagedCache, count: int) -> None:
    """Whatever happens to the files of an index, all images are found five seconds later, and counted right; and if it
    happens to one file, no key is forgotten."""
    for number in range(count):
        damaged.begin(f"change {number}", 0)
        older = damaged.folder + "-older"
        try:
            mutate_once(damaged, older)
        except (Dead, Hangs) as error:
            damaged.breach("crashes", repr(error))
        shutil.rmtree(damaged.folder)
        shutil.rmtree(older, ignore_errors=True)


def mutate_once(damaged: DamagedCache, older: str) -> None:
    """Fills a cache, changes one file or two, and judges."""
    random = damaged.random
    stored = random.randrange(5, 40)
    server = damaged.serve()
    for key in range(stored):
        damaged.put(server, f"key-{key}")
        if key == stored // 2:
            shutil.copytree(damaged.cache, older)
    # Some servers know already that all is sound, some were killed before.
    if random.random() < 0.3:
        time.sleep(1.5)
    is_running = random.random() < 0.4
    if not is_running:
        if random.random() < 0.6:
            server.kill()
        server.close()
    names = [random.choice(FILES) for _ in range(1 if random.random() < 0.8 else 2)]
    for name in names:
        kind = change(damaged, os.path.join(damaged.cache, name), os.path.join(older, name))
        damaged.place += f", {'running' if is_running else 'stopped'}, {kind or 'nothing'} in {name}"
        damaged.report.count("changes to files of the index")
    if not is_running:
        server = damaged.serve()
        server.result("calculateSize")
    began = time.monotonic()
    while (wrong := missing(damaged, server, len(names) == 1)) and time.monotonic() - began < PATIENCE:
        time.sleep(0.25)
    if wrong:
        damaged.breach("not put right", wrong)
    for key in damaged.versions:
        if not damaged.look(server, key, random.choice(("data", "path"))):
            damaged.breach("lost", key)
    damaged.put(server, "key-0")
    if not damaged.look(server, "key-0", "data"):
        damaged.breach("unhealed", "what was just stored is not there")
    if server.close() != 0:
        damaged.breach("crashes", "the server did not end with 0")
