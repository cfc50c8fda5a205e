"""Real file systems and limits that refuse: a full disk, no more files, read-only, small limits."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from typing import Any, Callable, Iterator

from .nobody import NOBODY, Skipped, nobody
from .pictures import picture, stamp
from .report import Report
from .server import Dead, Hangs, Server, cached, inline, store

NOT_CACHED, STORAGE_FAILED = 10003, 40000

def stages(home: str, report: Report) -> None:
    """Runs all stages; what the machine does not allow is passed over, and said."""
    for stage in (full_disk, full_ext4, tiny_disks, no_more_files, read_only_mount, read_only_folder, small_files, few_descriptors):
        place = os.path.join(home, stage.__name__)
        os.mkdir(place)
        try:
            stage(_Stage(place, report))
            report.count("stages")
        except Skipped as reason:
            print(f"{stage.__name__}: skipped, {reason}", flush=True)
        except (Dead, Hangs, AssertionError, OSError, KeyError) as error:
            report.breach("stages failed", f"{stage.__name__}: {error!r}")


class _Stage:
    def __init__(self, home: str, report: Report) -> None:
        self.home, self._report = home, report
        self.name = os.path.basename(home)

    def breach(self, text: str) -> None:
        self._report.breach("stages", f"{self.name}: {text}")

    def put(self, server: Server, key: str, size: int, version: int = 1) -> bool:
        """Stores; false if it was refused, and as it should be."""
        reply = server.ask("store", store(key, picture(key, version, size)))
        if "result" in reply:
            return True
        error = reply["error"]
        if error["code"] != STORAGE_FAILED or not error["data"].get("hint"):
            self.breach(f"store of {key}: {error}")
        return False

    def expect(self, server: Server, key: str) -> None:
        """The image is served, as data and as a path, and said to be there."""
        reply = server.ask("retrieve", cached(key, "both"))
        if "result" not in reply:
            self.breach(f"retrieve of {key}: {reply['error']}")
            return
        with open(reply["result"]["path"], "rb") as file:
            for data in (inline(reply["result"]), file.read()):
                if stamp(data).key != key:
                    self.breach(f"{key}: the picture of {stamp(data).key}")
        if not server.ask("isCached", {"key": key}).get("result", {}).get("cached"):
            self.breach(f"isCached says no of {key}")
        if not server.ask("cachePath", {"key": key}).get("result", {}).get("exists"):
            self.breach(f"cachePath does not find {key}")

    def clean(self, server: Server) -> None:
        """A second `verify` finds nothing, where there is one."""
        reply = server.ask("verify")
        if reply.get("error", {}).get("code") == -32601:
            return
        second = server.result("verify")
        if "result" not in reply or not second["clean"]:
            self.breach(f"verify: first {reply}, second {second}")


@contextlib.contextmanager
def _mounted(place: str, *arguments: str) -> Iterator[None]:
    made = subprocess.run(["mount", *arguments, place], capture_output=True, text=True) if shutil.which("mount") else None
    if made is None or made.returncode:
        raise Skipped(f"nothing can be mounted here ({made.stderr.strip() if made else 'no mount'})")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], capture_output=True)


def _fill(stage: _Stage, server: Server, size: int, most: int) -> list[str]:
    """Stores until three are refused one after the other; what was stored."""
    stored, refused = [], 0
    for number in range(most):
        key = f"fill-{number}"
        if stage.put(server, key, size):
            stored.append(key)
            refused = 0
        else:
            refused += 1
        if refused == 3:
            break
    return stored


def full_disk(stage: _Stage) -> None:
    """Reads go on, remove works at 0 free bytes, and stores work again when there is space."""
    place = os.path.join(stage.home, "disk")
    os.mkdir(place)
    with _mounted(place, "-t", "tmpfs", "-o", "size=8m", "tmpfs"):
        with Server(place, "--memory-limit", "0") as server:
            stored = _fill(stage, server, 100_000, 200)
            if len(stored) < 30:
                stage.breach(f"only {len(stored)} images of 100 kB went into 8 MB")
            filler = os.path.join(place, "filler")
            with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            alive = [key for key in stored if server.ask("isCached", {"key": key}).get("result", {}).get("cached")]
            if len(alive) < 10:
                # A store may make room by eviction; but not empty the cache and then be refused all the same.
                stage.breach(f"only {len(alive)} images are left on the full disk")
            for key in alive:
                stage.expect(server, key)
            with Server(place) as another:
                for key in alive[:5]:
                    stage.expect(another, key)
            if stage.put(server, "too much", 200_000):
                stage.expect(server, "too much")
            # That may have cost others, which are not lent.
            alive = [key for key in alive if server.ask("isCached", {"key": key}).get("result", {}).get("cached")]
            if len(alive) < 10:
                stage.breach(f"only {len(alive)} images are left after another one was stored")
            for key in alive[: len(alive) // 2]:
                reply = server.ask("remove", {"key": key})
                if not reply.get("result", {}).get("removed"):
                    stage.breach(f"remove of {key} on the full disk: {reply}")
                    break
            os.unlink(filler)
            for number in range(5):
                if not stage.put(server, f"again-{number}", 100_000):
                    stage.breach("a store was refused though there was space again")
                    break
                stage.expect(server, f"again-{number}")
            for key in alive[len(alive) // 2 :]:
                stage.expect(server, key)
        with Server(place) as server:
            for key in alive[len(alive) // 2 :]:
                stage.expect(server, key)
            stage.clean(server)


def full_ext4(stage: _Stage) -> None:
    """With blocks smaller than a page, a file of the right size may lack most of its place; each request is a fresh server's first."""
    place = os.path.join(stage.home, "disk")
    os.mkdir(place)
    image, folder = place + ".img", os.path.join(place, "cache")
    with open(image, "wb") as file:
        file.truncate(16 << 20)
    if not shutil.which("mkfs.ext4"):
        raise Skipped("there is no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-b", "1024", image], check=True)
    with _mounted(place, "-o", "loop", image):
        keys = [f"key-{number}" for number in range(12)]
        with Server(folder) as server:
            for key in keys:
                stage.put(server, key, 20_000)
        index = os.path.join(folder, "default", "index.sqlite")
        # The last to go takes the files beside the index along.
        database = sqlite3.connect(index)
        database.execute("SELECT count(*) FROM entries").fetchall()
        database.close()
        os.unlink(os.path.join(folder, "default", "index.reserve"))
        new = store("new", picture("new", 1, 3000))
        for method, params in (
            *(("isCached", {"key": key}) for key in keys[:2]), ("calculateSize", {}), ("list", {}), ("cleanExpired", {}),
            ("verify", {}), ("store", new), ("remove", {"key": keys[2]}), ("retrieve", cached(keys[0], "both")),
            ("clear", {}),
        ):
            with contextlib.suppress(OSError), open(os.path.join(place, "filler"), "ab", buffering=0) as file:
                for size in (65536, 1024):
                    while file.write(bytes(size)) == size:
                        pass
            with Server(folder) as server:
                error = server.ask(method, params).get("error", {"message": "No space left"})
                if method in ("isCached", "calculateSize", "list", "retrieve", "remove", "clear") and "code" in error:
                    stage.breach(f"{method} with 0 bytes free: {error}")
                if not any(words in error["message"] for words in ("No space left", "disk is full")):
                    stage.breach(f"{method} with 0 bytes free says something else: {error}")
                if method != "clear":
                    stage.expect(server, keys[0])


def tiny_disks(stage: _Stage) -> None:
    """Each store works on a disk that holds a few images, whatever is lent; and what is full can be freed by a new process."""
    place = os.path.join(stage.home, "disk")
    os.mkdir(place)
    for megabytes, size, count in ((1, 20_000, 200), (2, 20_000, 200), (8, 60_000, 400)):
        with _mounted(place, "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs"):
            with Server(os.path.join(place, "cache")) as server:
                for number in range(count):
                    if not stage.put(server, f"key-{number}", size):
                        stage.breach(f"store {number} on {megabytes} MB was refused")
                        break
                for number in range(count):
                    # What was there under the key goes, or stays for its lease, of which there is a half.
                    if not stage.put(server, f"key-{count - 1 - number % 5}", size, 2 + number):
                        stage.breach(f"store {number} in place of another on {megabytes} MB was refused")
                        break
                stage.expect(server, f"key-{count - 1}")
            with contextlib.suppress(OSError), open(os.path.join(place, "filler"), "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            with Server(os.path.join(place, "cache")) as server:
                reply = server.ask("remove", {"key": f"key-{count - 1}"})
                if not reply.get("result", {}).get("removed"):
                    stage.breach(f"remove with 0 bytes free on {megabytes} MB: {reply}")
                if "result" not in server.ask("clear"):
                    stage.breach(f"clear with 0 bytes free on {megabytes} MB")
                if not stage.put(server, "after", size):
                    stage.breach(f"no store after clear on {megabytes} MB")


def no_more_files(stage: _Stage) -> None:
    """A file system that is out of inodes is a full disk: the oldest images make room."""
    place = os.path.join(stage.home, "disk")
    os.mkdir(place)
    with _mounted(place, "-t", "tmpfs", "-o", "size=64m,nr_inodes=60", "tmpfs"):
        with Server(place) as server:
            stored = _fill(stage, server, 1000, 100)
            if len(stored) < 100:
                stage.breach(f"only {len(stored)} images were stored one after the other with 60 inodes")
            kept = [key for key in stored if server.result("isCached", {"key": key})["cached"]]
            if len(kept) < 5 or kept[-1] != stored[-1]:
                stage.breach(f"{len(kept)} images are there after all had been stored, and the last of them is {kept[-1:]}")
            for key in kept:
                stage.expect(server, key)
            for key in kept[:5]:
                if not server.result("remove", {"key": key})["removed"]:
                    stage.breach(f"{key} was not removed")
            if not stage.put(server, kept[0], 1000):
                stage.breach("a store was refused though there were inodes again")
            stage.clean(server)
    with _mounted(place, "-t", "tmpfs", "-o", "size=8m,nr_inodes=30", "tmpfs"):
        with Server(place) as server:
            # What is leased does not take the place of all others.
            stored = _fill(stage, server, 60_000, 300)
            if len(stored) < 300:
                stage.breach(f"only {len(stored)} of 300 images were stored one after the other with 30 inodes")


def _populated(stage: _Stage, prefix: tuple[str, ...] = ()) -> str:
    place = os.path.join(stage.home, "cache")
    os.mkdir(place)
    if prefix:
        os.chown(place, NOBODY, NOBODY)
        os.chown(stage.home, NOBODY, NOBODY)
    with Server(place, prefix=prefix) as server:
        for number in range(5):
            assert stage.put(server, f"key-{number}", 2000)
    return place


def _read_only(stage: _Stage, server: Server) -> None:
    for number in range(5):
        stage.expect(server, f"key-{number}")
    if server.ask("isCached", {"key": "nothing"}).get("result", {}).get("cached") is not False:
        stage.breach("isCached does not say no of what is not there")
    reply = server.ask("retrieve", cached("nothing"))
    if reply.get("error", {}).get("code") != NOT_CACHED:
        stage.breach(f"retrieve of what is not there: {reply}")
    if stage.put(server, "new", 2000):
        stage.breach("a store was acknowledged where nothing can be written")
    if stage.put(server, "key-1", 2000):
        stage.breach("a replacement was acknowledged where nothing can be written")
    for number in range(5):
        stage.expect(server, f"key-{number}")
    reply = server.ask("calculateSize")
    if reply.get("result", {}).get("disk", {}).get("count") != 5:
        stage.breach(f"calculateSize: {reply}")


def _settle(place: str) -> None:
    """Leaves the index as the last process that closes it does: without a log beside it."""
    for name in os.listdir(place):
        index = sqlite3.connect(os.path.join(place, name, "index.sqlite"))
        index.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        index.close()
        for end in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(place, name, "index.sqlite" + end))


def read_only_mount(stage: _Stage) -> None:
    """What is there is served from a read-only file system; a store says so."""
    place = _populated(stage)
    _settle(place)
    with _mounted(place, "--bind", place):
        if subprocess.run(["mount", "-o", "remount,bind,ro", place], capture_output=True).returncode:
            raise Skipped("nothing can be mounted read-only here")
        with Server(place) as server:
            _read_only(stage, server)


def read_only_folder(stage: _Stage) -> None:
    """The same for folders that may not be written, without the rights of root."""
    with nobody(stage.home) as prefix:
        place = _populated(stage, prefix)
        _settle(place)
        folders = [place] + [os.path.join(at, name) for at, names, _ in os.walk(place) for name in names]
        for folder in folders:
            os.chmod(folder, 0o500)
        with Server(place, prefix=prefix) as server:
            _read_only(stage, server)
            error = server.ask("store", store("new", picture("new", 1, 2000)))["error"]
            if "ermission" not in error["data"]["hint"]:
                stage.breach(f"the hint of a store where permission is missing: {error}")
        for folder in folders:
            os.chmod(folder, 0o700)
        with Server(place, prefix=prefix) as server:
            if not stage.put(server, "new", 2000):
                stage.breach("a store was refused though the folder may be written again")


def small_files(stage: _Stage) -> None:
    """A limit for the size of files is an error, not the end."""
    if not shutil.which("prlimit"):
        raise Skipped("there is no prlimit")
    with Server(os.path.join(stage.home, "cache"), prefix=("prlimit", "--fsize=1000000")) as server:
        assert stage.put(server, "small", 2000)
        if stage.put(server, "large", 2_000_000):
            stage.breach("2 MB were stored where a file may have 1 MB")
        for _ in range(5):
            stage.put(server, "large", 2_000_000)
        assert stage.put(server, "small too", 2000)
        stage.expect(server, "small")
        stage.expect(server, "small too")
        stage.clean(server)


def few_descriptors(stage: _Stage) -> None:
    """Many requests at once with few descriptors: each is done or told why not, and nothing is said not to be there."""
    if not shutil.which("prlimit"):
        raise Skipped("there is no prlimit")
    with Server(os.path.join(stage.home, "cache"), "--memory-limit", "0", prefix=("prlimit", "--nofile=64")) as server:
        for number in range(20):
            assert stage.put(server, f"key-{number}", 30_000)
        make: list[Callable[[int], tuple[str, Any]]] = [
            lambda number: ("store", store(f"more-{number}", picture(f"more-{number}", 1, 30_000))),
            lambda number: ("retrieve", cached(f"key-{number % 20}", "both")),
            lambda number: ("isCached", {"key": f"key-{number % 20}"}),
            lambda number: ("retrieve", {"url": f"http://127.0.0.1:1/{number}"}),
        ]
        sent = {}
        for number in range(600):
            method, params = make[number % 4](number)
            sent[server.send(method, params)] = (method, number % 4)
        for number, reply in server.replies(list(sent)).items():
            method, way = sent[number]
            error = reply.get("error")
            if way == 2 and not (error or reply["result"]["cached"]):
                stage.breach("isCached says no for want of descriptors")
            if error and way != 3 and error["code"] != STORAGE_FAILED:
                stage.breach(f"{method}: {error}")
        for number in range(20):
            stage.expect(server, f"key-{number}")
        assert stage.put(server, "at last", 2000)
        stage.clean(server)
