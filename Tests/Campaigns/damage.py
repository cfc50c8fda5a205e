#!/usr/bin/env python3
"""Damages a cache from outside in every way, under running and restarted servers (A10, A11, A12, A15, A16, B3, B4; E2-54, 55, 56, 60).

What holds: no wrong byte is served as data; a path that is handed out names a file that is what was stored; what was
damaged is a miss that heals with the next store; nothing outside the cache is written; and no server dies or hangs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import sys
import threading
import time
from typing import Any, Callable

from campaign.folder import blobs, partial, state, unique_bytes
from campaign.pictures import NotWhole, picture, stamp
from campaign.report import Report
from campaign.server import Dead, Hangs, Server, cached, drop, fresh, inline, methods, store

NOT_CACHED, STORAGE_FAILED = 10003, 40000
KEYS = 40


class Campaign:
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

    def look(self, server: Server, key: str, answer: str) -> bool:
        """Whether the image is served; what is served must be whole, of that key, and the last version."""
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
        if found.key != key or found.version != self.versions.get(key):
            self.breach("wrong " + answer, f"{key} at {self.versions.get(key)}: {found} is served")
        return True

    def agree(self, server: Server, key: str, is_there: bool) -> None:
        """isCached and cachePath say the same as retrieve."""
        if server.result("isCached", {"key": key})["cached"] != is_there:
            self.breach("disagree", f"isCached of {key}, which is {'' if is_there else 'not '}served")
        if server.result("cachePath", {"key": key})["exists"] != is_there:
            self.breach("disagree", f"cachePath of {key}, which is {'' if is_there else 'not '}served")

    def check_clean(self, server: Server) -> None:
        """After repairs, a second `verify` finds nothing and the sizes are true."""
        if "verify" not in self.known:
            return
        first, second = server.result("verify"), server.result("verify")
        if not second["clean"]:
            self.breach("unclean", f"verify: first {first}, second {second}")
        disk = server.result("calculateSize")["disk"]
        said, walked = disk["bytes"] + disk.get("leasedBytes", 0), unique_bytes(self.cache)
        if said != walked:
            self.breach("sizes", f"{said} bytes by the index, {walked} by a walk over the files")


# -- the images' files


def delete(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)


def truncate(campaign: Campaign, path: str, other: str) -> None:
    os.truncate(path, campaign.random.randrange(os.path.getsize(path)))


def empty(campaign: Campaign, path: str, other: str) -> None:
    os.truncate(path, 0)


def grow(campaign: Campaign, path: str, other: str) -> None:
    with open(path, "ab") as file:
        file.write(b"more")


def flip(campaign: Campaign, path: str, other: str) -> None:
    place = campaign.random.randrange(os.path.getsize(path))
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << campaign.random.randrange(8)]))


def flip_hidden(campaign: Campaign, path: str, other: str) -> None:
    """A flipped bit that leaves no trace in size and time, as a bad disk would."""
    status = os.stat(path)
    flip(campaign, path, other)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def swap(campaign: Campaign, path: str, other: str) -> None:
    os.rename(path, path + ".aside")
    os.rename(other, path)
    os.rename(path + ".aside", other)


def copy_other(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)
    shutil.copy2(other, path)


def fifo(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)
    os.mkfifo(path)


def folder(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)
    os.mkdir(path)
    with open(os.path.join(path, "file"), "w") as file:
        file.write("in a folder")


def link(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)
    os.symlink(campaign.random.choice((other, os.path.join(campaign.home, "victim.png"), "/nowhere")), path)


def hard_link(campaign: Campaign, path: str, other: str) -> None:
    os.unlink(path)
    os.link(os.path.join(campaign.home, "victim.png"), path)


def link_shard(campaign: Campaign, path: str, other: str) -> None:
    shard = os.path.dirname(path)
    os.rename(shard, os.path.join(campaign.home, f"shard-{campaign.random.getrandbits(40)}"))
    os.symlink(campaign.home, shard)


MUTATIONS: list[Callable[[Campaign, str, str], None]] = [
    delete, truncate, empty, grow, flip, flip_hidden, swap, copy_other, fifo, folder, link, hard_link, link_shard,
]  # fmt: skip


def mutate(campaign: Campaign, count: int) -> None:
    """Random mutations of random images, under a server that has them in memory and one that has not."""
    campaign.begin("blobs", KEYS)
    victim = os.path.join(campaign.home, "victim.png")
    with open(victim, "wb") as file:
        file.write(picture("victim", 1, 1000))
    before = state(victim)
    warm, other_server = campaign.serve(), campaign.serve()
    try:
        for number in range(count):
            key, other = campaign.random.sample(sorted(campaign.versions), 2)
            paths = {}
            for name in (key, other):
                if not campaign.look(warm, name, campaign.random.choice(("data", "path"))):
                    campaign.put(warm, name)
                campaign.look(other_server, name, "data")
                paths[name] = warm.result("cachePath", {"key": name})["path"]
                if state(paths[name]) is None:
                    paths[name] = campaign.put(warm, name)
            mutation = campaign.random.choice(MUTATIONS)
            campaign.place = f"mutation {number}, {mutation.__name__} of {key}"
            mutation(campaign, paths[key], paths[other])
            campaign.report.count("mutations")
            if campaign.random.random() < 0.3:
                other_server.close()
                other_server = campaign.serve()
            hidden = mutation is flip_hidden
            served = {}
            for server in campaign.random.sample((warm, other_server), 2):
                # A path of a file with the recorded size and time may be handed out; its data never.
                answer = "data" if hidden else campaign.random.choice(("data", "path"))
                served[server] = campaign.look(server, key, answer)
                campaign.look(server, other, "data")
            if not hidden:
                for server, is_there in served.items():
                    campaign.agree(server, key, is_there)
            for name in (key, other):
                if hidden or campaign.random.random() < 0.5 or not campaign.look(other_server, name, "data"):
                    campaign.put(campaign.random.choice((warm, other_server)), name)
                for server in (warm, other_server):
                    if not campaign.look(server, name, "data") or not campaign.look(server, name, "path"):
                        campaign.breach("unhealed", f"{name} is not served after it was stored anew")
            if state(victim) != before:
                campaign.breach("outside", "a file outside the cache was changed")
                before = state(victim)
        campaign.place = "after all mutations"
        campaign.check_clean(warm)
    finally:
        for server in (warm, other_server):
            if server.close() != 0:
                campaign.breach("crashes", "a server did not end with 0")


# -- the index


def index_cases(campaign: Campaign, every: int, template: str) -> list[tuple[str, Callable[[str], None]]]:
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
                file.seek(campaign.random.randrange(size))
                file.write(os.urandom(campaign.random.randrange(1, 200)))

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
    cases += [("a link", replaced(lambda path: os.symlink(os.path.join(campaign.home, "victim.png"), path)))]
    cases += [("gone", os.unlink)]
    return cases


def damage_index(campaign: Campaign, every: int) -> None:
    """The index is a hint: with a damaged one nothing wrong is served, stores work, and images are found again."""
    campaign.begin("index", 150)
    template = campaign.folder
    settle(template)
    victim = os.path.join(campaign.home, "victim.png")
    before = state(victim)
    sidecars = ("-wal", "-shm")
    for number, (name, act) in enumerate(index_cases(campaign, every, template)):
        campaign.folder = os.path.join(campaign.home, f"index-{number}")
        campaign.cache = os.path.join(campaign.folder, "default")
        shutil.copytree(template, campaign.folder, symlinks=True)
        index = os.path.join(campaign.cache, "index.sqlite")
        for is_warm in (False, True) if number % 8 == 0 else (False,):
            campaign.place = f"index {name}{', under a running server' if is_warm else ''}"
            server = campaign.serve() if is_warm else None
            if server:
                campaign.look(server, "key-0", "data")
            try:
                act(index)
            except (OSError, sqlite3.Error):
                continue  # The second time there is nothing left to damage like that.
            for end in sidecars:
                if not is_warm and os.path.lexists(index + end):
                    os.unlink(index + end)
            campaign.report.count("damaged indexes")
            server = server or campaign.serve()
            began = time.monotonic()
            keys = campaign.random.sample(sorted(campaign.versions), 8)
            found = sum(campaign.look(server, key, campaign.random.choice(("data", "path"))) for key in keys)
            campaign.put(server, "key-1")
            if not campaign.look(server, "key-1", "data"):
                campaign.breach("unhealed", "what was just stored is not there")
            if time.monotonic() - began > 10:
                campaign.breach("slow", f"{time.monotonic() - began:.0f} s to the first answers")
            campaign.report.count("images found with a damaged index", found)
            if server.close() != 0:
                campaign.breach("crashes", "the server did not end with 0")
            with campaign.serve() as again:
                campaign.check_clean(again)
                found = sum(campaign.look(again, key, "data") for key in campaign.versions)
                if found < len(campaign.versions):
                    campaign.breach("lost", f"{len(campaign.versions) - found} of {len(campaign.versions)} images")
        campaign.versions = {f"key-{one}": 1 for one in range(150)}
        if state(victim) != before:
            campaign.breach("outside", "a file outside the cache was changed")
        drop(campaign.folder)


def settle(folder: str) -> None:
    """Brings everything into the index file itself."""
    index = sqlite3.connect(os.path.join(folder, "default", "index.sqlite"))
    index.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    index.close()


# -- whole folders


def restore_older(campaign: Campaign) -> None:
    """Files, or the index, brought back from an older copy (A12)."""
    for what in ("blobs", "index.sqlite", "everything"):
        campaign.begin(f"older {what}", 20)
        settle(campaign.folder)
        older = campaign.folder + "-older"
        shutil.copytree(campaign.cache, older)
        versions = dict(campaign.versions)
        with campaign.serve() as server:
            for number in range(0, 20, 2):
                campaign.put(server, f"key-{number}")
            for number in range(1, 6, 2):
                server.result("remove", {"key": f"key-{number}"})
            campaign.put(server, "new")
        settle(campaign.folder)
        for name in os.listdir(older) if what == "everything" else [what]:
            target = os.path.join(campaign.cache, name)
            shutil.rmtree(target) if os.path.isdir(target) else os.unlink(target)
            (shutil.copytree if os.path.isdir(os.path.join(older, name)) else shutil.copy2)(
                os.path.join(older, name), target
            )
        with campaign.serve() as server:
            newer, campaign.versions = campaign.versions, {}
            for key in newer:
                # Old or new may be there; which one, the bytes tell. Whole and of that key they must be.
                for version in (versions.get(key), newer[key]):
                    campaign.versions[key] = version or 0
                    reply = server.ask("retrieve", cached(key))
                    if "result" in reply and stamp(inline(reply["result"])).version == version:
                        break
                campaign.look(server, key, "data")
                campaign.look(server, key, "path")
            campaign.versions = newer
            for key in newer:
                campaign.put(server, key)
                if not campaign.look(server, key, "data"):
                    campaign.breach("unhealed", f"{key} is not served after it was stored anew")
            campaign.check_clean(server)


def pull_away(campaign: Campaign) -> None:
    """The folder is deleted, or another thing put in its place, under a running server (A9, E2-54, E2-55)."""
    for what in ("deleted", "blobs deleted", "a file", "a link", "root deleted", "files cut to nothing", "leases cut"):
        campaign.begin(f"pulled away, {what}", 5)
        with campaign.serve() as server:
            for number in range(5):
                campaign.look(server, f"key-{number}", "data")
            outside = os.path.join(campaign.home, f"outside {what}")
            os.mkdir(outside)
            if what == "blobs deleted":
                shutil.rmtree(os.path.join(campaign.cache, "blobs"))
            elif what == "root deleted":
                shutil.rmtree(campaign.folder)
            elif what in ("files cut to nothing", "leases cut"):
                for at, _, names in os.walk(campaign.cache):
                    # What SQLite has mapped into memory is left alone: its end is the end of any process that has it.
                    is_chosen = what != "leases cut" or os.path.basename(at) == "leases" or "leases" in names
                    for name in names if is_chosen else ():
                        is_lease = "lease" in os.path.join(os.path.basename(at), name)
                        if not name.endswith("-shm") and is_lease == (what == "leases cut"):
                            os.truncate(os.path.join(at, name), 0)
            else:
                shutil.rmtree(campaign.cache)
            if what == "a file":
                with open(campaign.cache, "w") as file:
                    file.write("in the way")
            if what == "a link":
                os.symlink(outside, campaign.cache)
            for number in range(5):
                found = campaign.look(server, f"key-{number}", campaign.random.choice(("data", "path")))
                if found != (what == "leases cut"):
                    campaign.breach("wrong", f"key-{number} is {'' if found else 'not '}served")
            if what == "deleted":
                disk = server.result("calculateSize")["disk"]
                if disk["count"] or disk["bytes"]:
                    campaign.breach("sizes", f"{disk} after the folder was deleted")
            reply = server.ask("store", store("key-0", picture("key-0", 1, 3000)))
            if "result" in reply:
                if not campaign.look(server, "key-0", "data") or not campaign.look(server, "key-0", "path"):
                    campaign.breach("unhealed", "what was stored afterwards is not served")
            elif what not in ("a file", "a link") or reply["error"]["code"] != STORAGE_FAILED:
                campaign.breach("stores", f"{reply['error']}")
            server.result("ping")


def race_first(campaign: Campaign, count: int, rounds: int) -> None:
    """Many servers begin at once with a folder that is not there (A15)."""
    for turn in range(rounds):
        campaign.folder = os.path.join(campaign.home, f"race-{turn}")
        campaign.cache = os.path.join(campaign.folder, "default")
        campaign.place = f"first start of {count}, round {turn}"
        campaign.versions = {f"key-{number}": 1 for number in range(count)}
        servers = [campaign.serve() for _ in range(count)]
        barrier = threading.Barrier(count)
        failures: list[str] = []

        def first(number: int) -> None:
            barrier.wait()
            try:
                key = f"key-{number}"
                reply = servers[number].ask("store", store(key, picture(key, 1, 2000)))
                if "result" not in reply:
                    failures.append(f"{reply['error']}")
            except (Dead, Hangs) as error:
                failures.append(repr(error))

        threads = [threading.Thread(target=first, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for failure in failures:
            campaign.breach("stores", failure)
        for key in campaign.versions:
            if not campaign.look(campaign.random.choice(servers), key, "data") and not failures:
                campaign.breach("lost", key)
        for server in servers:
            if server.close() != 0:
                campaign.breach("crashes", "a server did not end with 0")


def leftovers(campaign: Campaign, count: int) -> None:
    """Old files of dead writers are collected, and one that is being written is not (A16)."""
    campaign.begin("leftovers", 3)
    folder, old = os.path.join(campaign.cache, "partial"), time.time() - 2 * 86_400
    sample = [os.path.basename(path) for path in blobs(campaign.cache)]
    for number in range(count):
        name = os.path.join(folder, f"{sample[number % 3]}~9999-dead{number}~{number}")
        with open(name, "wb") as file:
            file.write(b"half a picture")
        os.utime(name, (old, old))
    # One of a strange program, of this very moment: nobody can know whether its writer lives.
    live = os.path.join(folder, "something-new")
    with open(live, "wb") as file:
        file.write(b"being written")
    with campaign.serve() as writer, campaign.serve() as server:
        campaign.put(writer, "key-0")
        campaign.put(server, "key-1")
        if "verify" in campaign.known:
            server.result("verify")
        end = time.monotonic() + 20
        while len(partial(campaign.cache)) > 1 and time.monotonic() < end:
            time.sleep(0.1)
        left = [name for name in partial(campaign.cache) if name != "something-new"]
        if left:
            campaign.breach("leftovers", f"{len(left)} of {count} old files are still there, like {left[0]}")
        if not os.path.exists(live):
            campaign.breach("live", "a file that was being written was removed")
        for number in range(3):
            if not campaign.look(server, f"key-{number}", "data"):
                campaign.breach("lost", f"key-{number}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer of each")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--only", default="", help="parts whose names contain this")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    options = parser.parse_args()
    report = Report(f"{sys.argv[0]} --seed {options.seed}" + (" --short" if options.short else ""))
    home = fresh("damage")
    campaign = Campaign(options, report, home)
    short = options.short
    parts: dict[str, Callable[[], Any]] = {
        "mutations": lambda: mutate(campaign, 60 if short else 1000),
        "index": lambda: damage_index(campaign, 16_384 if short else 512),
        "older": lambda: restore_older(campaign),
        "away": lambda: pull_away(campaign),
        "race": lambda: race_first(campaign, 16, 1 if short else 10),
        "leftovers": lambda: leftovers(campaign, 1000),
    }
    with open(os.path.join(home, "victim.png"), "wb") as file:
        file.write(picture("victim", 1, 1000))
    for name, part in parts.items():
        if options.only in name:
            began = time.monotonic()
            try:
                part()
            except Exception as error:  # One part that fails must not hide the others.
                campaign.breach("failed campaign", f"{name}: {error!r}")
            print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    code = report.close(f"damage, seed {options.seed}")
    if not options.keep:
        drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
