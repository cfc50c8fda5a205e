"""A cache folder, or a part of it, that its own user may not read."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import Any, Iterator

from .nobody import NOBODY, nobody
from .pictures import picture
from .report import Report
from .server import Server, cached, store

STORAGE_FAILED = 40000
KEYS = [f"key-{number}" for number in range(5)]

# What each request must say while a part of the folder has mode 0; what is not named here may also succeed, and truly.
REFUSED = {
    ".": {"isCached", "cachePath", "calculateSize", "verify", "remove", "clear", "retrieve", "list", "store", "clearDisk", "caches"},
    "default": {"isCached", "cachePath", "calculateSize", "verify", "remove", "clear", "retrieve", "list", "store", "clearDisk"},
    "default/blobs": {"isCached", "cachePath", "verify", "remove", "clear", "retrieve", "clearDisk"},
    "default/blobs/*": {"isCached", "cachePath", "remove", "clear", "retrieve", "clearDisk"},
    "default/partial": {"clear", "store", "clearDisk"},
    "default/leases": {"clear", "store", "clearDisk"},
    "default/index.sqlite": {"isCached", "cachePath", "calculateSize", "remove", "clear", "retrieve", "list", "store", "clearDisk"},
}


def requests(key: str) -> list[tuple[str, Any]]:
    """Every request, those that remove last."""
    return [
        ("isCached", {"key": key}),
        ("cachePath", {"key": key}),
        ("retrieve", cached(key)),
        ("calculateSize", {}),
        ("list", {}),
        ("caches", {}),
        ("verify", {}),
        ("store", store("new", picture("new", 1, 2000))),
        ("remove", {"key": key}),
        ("clearDisk", {}),
        ("clear", {}),
    ]


@contextlib.contextmanager
def _mode(path: str, mode: int) -> Iterator[None]:
    before = stat.S_IMODE(os.stat(path).st_mode)
    os.chmod(path, mode)
    try:
        yield
    finally:
        os.chmod(path, before)


def unreadable(home: str, report: Report, short: bool) -> None:
    """Nothing is said to be empty or done, and all is there again when the folder can be read."""
    with nobody(home) as prefix:
        for number, (part, refused) in enumerate(REFUSED.items()):
            for opens in (True, False):
                _one(os.path.join(home, f"{number}-{opens}"), part, refused, opens, prefix, report)
                report.count("unreadable parts")
        _unwritable(os.path.join(home, "unwritable"), prefix, report)


def _unwritable(place: str, prefix: tuple[str, ...], report: Report) -> None:
    """What cannot be removed stays for every process, and keeps nothing else from being removed."""
    os.mkdir(place)
    os.chown(place, NOBODY, NOBODY)
    cache = os.path.join(place, "cache")

    def breach(text: str) -> None:
        report.breach("unwritable", f"a folder of images with mode 0555: {text}")

    server, other = (Server(cache, prefix=prefix) for _ in range(2))
    try:
        for key in KEYS:
            server.result("store", store(key, picture(key, 1, 2000)))
        paths = [other.result("retrieve", cached(key))["path"] for key in KEYS]
        with _mode(os.path.dirname(paths[0]), 0o555):
            error = server.ask("remove", {"key": KEYS[0]}).get("error")
            if not error or error["code"] != STORAGE_FAILED:
                breach(f"remove says {error or 'that it is done'}")
            for key in KEYS[1:]:
                server.result("remove", {"key": key})
            for one in (server, other):
                found = [key for key in KEYS if one.result("isCached", {"key": key})["cached"]]
                if found != KEYS[:1] or "error" in one.ask("retrieve", cached(KEYS[0])):
                    breach(f"{found} are there afterwards")
            left = [path for path in paths if os.path.exists(path)]
            if left != paths[:1]:
                breach(f"{left} are left")
            server.result("cleanExpired")
        server.result("remove", {"key": KEYS[0]})
        if os.path.exists(paths[0]):
            breach("the file stays though it can be deleted")
        report.count("unwritable parts")
    finally:
        for one in (server, other):
            if one.close() != 0:
                breach("the server did not end with 0")


def _one(place: str, part: str, refused: set[str], opens: bool, prefix: tuple[str, ...], report: Report) -> None:
    os.mkdir(place)
    os.chown(place, NOBODY, NOBODY)
    cache = os.path.join(place, "cache")
    where = f"{part} with mode 0, {'a fresh' if opens else 'the same'} server"

    def breach(text: str) -> None:
        report.breach("unreadable", f"{where}: {text}")

    server = Server(cache, "--memory-limit", "0", prefix=prefix)
    try:
        for key in KEYS:
            server.result("store", store(key, picture(key, 1, 2000), options={"lease": 0}))
        path = server.result("cachePath", {"key": KEYS[0]})["path"]
        target = os.path.dirname(path) if part.endswith("*") else os.path.join(cache, part)
        if opens:
            server.close()
            server = Server(cache, "--memory-limit", "0", prefix=prefix)
        left = list(KEYS)
        with _mode(target, 0):
            for method, params in requests(KEYS[0]):
                reply = server.ask(method, params)
                error = reply.get("error")
                if error and (error["code"] != STORAGE_FAILED or "ermission" not in error["data"].get("hint", "")):
                    breach(f"{method}: {error}")
                elif method in refused and not error and not (part == "default/index.sqlite" and not opens):
                    breach(f"{method} says {reply['result']}")
                elif method == "remove" and not error:
                    left.remove(KEYS[0])
                elif method == "verify" and not error and (reply["result"]["clean"] or reply["result"]["damaged"]):
                    if part not in ("default/partial", "default/leases", "default/index.sqlite"):
                        breach(f"verify says {reply['result']}")
        if opens or part != "default/index.sqlite":
            _all_there(server, left, breach)
        server.close()
        server = Server(cache, prefix=prefix)
        if opens or part != "default/index.sqlite":
            _all_there(server, left, breach)
            if not server.result("verify")["clean"] and not server.result("verify")["clean"]:
                breach("verify is not clean afterwards")
        server.result("clear")
        if any(names for at, _, names in os.walk(os.path.join(cache, "default", "blobs"))):
            breach("files are left after clear")
    finally:
        if server.close() != 0:
            breach("the server did not end with 0")


def _all_there(server: Server, keys: list[str], breach: Any) -> None:
    for key in keys:
        if not server.result("isCached", {"key": key})["cached"]:
            breach(f"{key} is gone afterwards")
    if server.result("calculateSize")["disk"]["count"] < len(keys):
        breach(f"calculateSize afterwards: {server.result('calculateSize')['disk']}")
