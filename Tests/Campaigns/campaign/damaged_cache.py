"""A cache that is damaged from outside, and what may be served from it afterwards."""

from __future__ import annotations

import argparse
import os
import random
import time

from .folder import unique_bytes
from .pictures import NotWhole, picture, stamp
from .report import Report
from .server import Server, cached, inline, methods, store

NOT_CACHED, STORAGE_FAILED = 10003, 40000


class DamagedCache:
    """One folder, its servers, and what each key's picture was."""

    def __init__(self, options: argparse.Namespace, report: Report, home: str) -> None:
        self.options, self.report, self.home = options, report, home
        self.random = random.Random(options.seed)
        self.place = ""
        self.known = methods(os.path.join(home, "known"))
        self.versions: dict[str, int] = {}
        self.folder = self.cache = ""

    def breach(self, kind: str, text: str) -> None:
        self.report.breach(kind, f"{self.place}: {text}")

    def serve(self, *arguments: str) -> Server:
        return Server(self.folder, "--log-level", "critical", *arguments, patience=25)

    def begin(self, name: str, keys: int) -> None:
        """A new folder with so many images."""
        self.place = name
        self.folder = os.path.join(self.home, name)
        self.cache = os.path.join(self.folder, "default")
        self.versions = {}
        with self.serve() as server:
            for number in range(keys):
                self.put(server, f"key-{number}")

    def put(self, server: Server, key: str) -> str:
        """Stores a new version, which must work; its path, or nothing."""
        version = self.versions.get(key, 0) + 1
        reply = server.ask("store", store(key, picture(key, version, self.random.choice((300, 3000, 30_000)))))
        if "result" not in reply:
            self.breach("stores", f"{key}: {reply['error']}")
            return ""
        self.versions[key] = version
        return str(reply["result"]["path"])

    def look(self, server: Server, key: str, answer: str, patience: float = 0, newest: int | None = None) -> bool:
        """Whether the image is served; what is served must be whole, of that key, and the last version: at once, or within
        so many seconds where the index has still to be repaired. A check may take in the newest version at any time, which
        is the last version from then on."""
        reply = server.ask("retrieve", cached(key, answer))
        if "result" not in reply:
            if reply["error"]["code"] != NOT_CACHED:
                self.breach("answers", f"retrieve of {key}: {reply['error']}")
            return False
        result = reply["result"]
        if answer == "data" and "data" not in result:
            self.breach("without data", f"{key}: {reply}")
            return False
        if answer == "data":
            data = inline(result)
        else:
            try:
                with open(os.open(result["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                    data = file.read()
            except OSError as error:
                self.breach("paths", f"{key}: {result['path']} was handed out: {error}")
                return False
        try:
            found = stamp(data)
        except NotWhole as error:
            # A change that keeps size and time of change shows only when the bytes are read: not asked of a path.
            self.breach("wrong data" if answer == "data" else "wrong paths", f"{key}: {error}")
            return True
        if found.key == key and found.version == newest:
            self.versions[key] = newest
        if found.key == key and found.version != self.versions.get(key) and patience > 0:
            time.sleep(0.25)
            return self.look(server, key, answer, patience - 0.25, newest)
        if found.key != key or found.version != self.versions.get(key):
            self.breach("wrong " + answer, f"{key} at {self.versions.get(key)}: {found} is served")
        return True

    def agree(self, server: Server, key: str, is_there: bool) -> None:
        """isCached and cachePath say the same as retrieve."""
        if server.result("isCached", {"key": key})["cached"] != is_there:
            self.breach("disagree", f"isCached of {key}, which is {'' if is_there else 'not '}served")
        if server.result("cachePath", {"key": key})["exists"] != is_there:
            self.breach("disagree", f"cachePath of {key}, which is {'' if is_there else 'not '}served")

    def refuse(self, server: Server, key: str) -> None:
        """Something in the way of an image says nothing about it: what is not in memory is an error, and nothing is lost."""
        for method, params in (
            ("retrieve", cached(key, "path")),
            ("isCached", {"key": key}),
            ("remove", {"key": key}),
            ("clear", {}),
            ("verify", {"repair": False}),
        ):
            reply = server.ask(method, params)
            if reply.get("error", {}).get("code") != STORAGE_FAILED:
                self.breach("in the way", f"{method} of {key}: {reply}")

    def check_clean(self, server: Server) -> None:
        """After repairs, a second `verify` finds nothing and the sizes are true."""
        if "verify" not in self.known:
            return
        first, second = server.result("verify"), server.result("verify")
        if not second["clean"]:
            self.breach("unclean", f"verify: first {first}, second {second}")
        disk = server.result("calculateSize")["disk"]
        said, walked = disk["byteCount"] + disk.get("leasedBytes", 0), unique_bytes(self.cache)
        if said != walked:
            self.breach("sizes", f"{said} bytes by the index, {walked} by a walk over the files")
