"""Does things to whole folders under servers: older copies, deletions, first starts at once, leftovers."""

from __future__ import annotations

import os
import shutil
import threading
import time

from .damaged_cache import STORAGE_FAILED, DamagedCache
from .folder import blobs, partial
from .index_damage import settle
from .pictures import picture, stamp
from .server import Dead, Hangs, cached, inline, store


def restore_older(damaged: DamagedCache) -> None:
    """Files, or the index, brought back from an older copy."""
    for what in ("blobs", "index.sqlite", "everything"):
        damaged.begin(f"older {what}", 20)
        settle(damaged.folder)
        older = damaged.folder + "-older"
        shutil.copytree(damaged.cache, older)
        versions = dict(damaged.versions)
        with damaged.serve() as server:
            for number in range(0, 20, 2):
                damaged.put(server, f"key-{number}")
            for number in range(1, 6, 2):
                server.result("remove", {"key": f"key-{number}"})
            damaged.put(server, "new")
        settle(damaged.folder)
        for name in os.listdir(older) if what == "everything" else [what]:
            target = os.path.join(damaged.cache, name)
            shutil.rmtree(target) if os.path.isdir(target) else os.unlink(target)
            (shutil.copytree if os.path.isdir(os.path.join(older, name)) else shutil.copy2)(
                os.path.join(older, name), target
            )
        with damaged.serve() as server:
            newer, damaged.versions = damaged.versions, {}
            for key in newer:
                # Old or new may be there; which one, the bytes tell. Whole and of that key they must be.
                for version in (versions.get(key), newer[key]):
                    damaged.versions[key] = version or 0
                    reply = server.ask("retrieve", cached(key))
                    if "result" in reply and stamp(inline(reply["result"])).version == version:
                        break
                damaged.look(server, key, "data", newest=newer[key])
                damaged.look(server, key, "path", newest=newer[key])
            damaged.versions = newer
            for key in newer:
                damaged.put(server, key)
                if not damaged.look(server, key, "data"):
                    damaged.breach("unhealed", f"{key} is not served after it was stored anew")
            damaged.check_clean(server)


def pull_away(damaged: DamagedCache) -> None:
    """The folder is deleted, or another thing put in its place, under a running server."""
    for what in ("deleted", "blobs deleted", "a file", "a link", "root deleted", "files cut to nothing"):
        damaged.begin(f"pulled away, {what}", 5)
        with damaged.serve() as server:
            for number in range(5):
                damaged.look(server, f"key-{number}", "data")
            outside = os.path.join(damaged.home, f"outside {what}")
            os.mkdir(outside)
            if what == "blobs deleted":
                shutil.rmtree(os.path.join(damaged.cache, "blobs"))
            elif what == "root deleted":
                shutil.rmtree(damaged.folder)
            elif what == "files cut to nothing":
                for at, _, names in os.walk(damaged.cache):
                    for name in names:
                        os.truncate(os.path.join(at, name), 0)
            else:
                shutil.rmtree(damaged.cache)
            if what == "a file":
                with open(damaged.cache, "w") as file:
                    file.write("in the way")
            if what == "a link":
                os.symlink(outside, damaged.cache)
            for number in range(5):
                if what == "a file":
                    # That something else is in the way says nothing about images.
                    reply = server.ask("retrieve", cached(f"key-{number}"))
                    if reply.get("error", {}).get("code") != STORAGE_FAILED:
                        damaged.breach("answers", f"retrieve with a file in the folder's place: {reply}")
                    continue
                found = damaged.look(server, f"key-{number}", damaged.random.choice(("data", "path")))
                if found:
                    damaged.breach("wrong", f"key-{number} is served")
            if what == "deleted":
                disk = server.result("calculateSize")["disk"]
                if disk["count"] or disk["byteCount"]:
                    damaged.breach("sizes", f"{disk} after the folder was deleted")
            reply = server.ask("store", store("key-0", picture("key-0", 1, 3000)))
            if "result" in reply:
                if not damaged.look(server, "key-0", "data") or not damaged.look(server, "key-0", "path"):
                    damaged.breach("unhealed", "what was stored afterwards is not served")
            elif what not in ("a file", "a link") or reply["error"]["code"] != STORAGE_FAILED:
                damaged.breach("stores", f"{reply['error']}")
            server.result("ping")


def race_first(damaged: DamagedCache, count: int, rounds: int) -> None:
    """Many servers begin at once with a folder that is not there."""
    for turn in range(rounds):
        damaged.folder = os.path.join(damaged.home, f"race-{turn}")
        damaged.cache = os.path.join(damaged.folder, "default")
        damaged.place = f"first start of {count}, round {turn}"
        damaged.versions = {f"key-{number}": 1 for number in range(count)}
        servers = [damaged.serve() for _ in range(count)]
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
            damaged.breach("stores", failure)
        for key in damaged.versions:
            if not damaged.look(damaged.random.choice(servers), key, "data") and not failures:
                damaged.breach("lost", key)
        for server in servers:
            if server.close() != 0:
                damaged.breach("crashes", "a server did not end with 0")


def leftovers(damaged: DamagedCache, count: int) -> None:
    """Old files of dead writers are collected, and one that is being written is not."""
    damaged.begin("leftovers", 3)
    folder, old = os.path.join(damaged.cache, "partial"), time.time() - 2 * 86_400
    sample = [os.path.basename(path) for path in blobs(damaged.cache)]
    for number in range(count):
        name = os.path.join(folder, f"{sample[number % 3]}~9999-dead{number}~{number}")
        with open(name, "wb") as file:
            file.write(b"half a picture")
        os.utime(name, (old, old))
    # One of a strange program, of this very moment: nobody can know whether its writer lives.
    live = os.path.join(folder, "something-new")
    with open(live, "wb") as file:
        file.write(b"being written")
    with damaged.serve() as writer, damaged.serve() as server:
        damaged.put(writer, "key-0")
        damaged.put(server, "key-1")
        if "verify" in damaged.known:
            server.result("verify")
        end = time.monotonic() + 20
        while len(partial(damaged.cache)) > 1 and time.monotonic() < end:
            time.sleep(0.1)
        left = [name for name in partial(damaged.cache) if name != "something-new"]
        if left:
            damaged.breach("leftovers", f"{len(left)} of {count} old files are still there, like {left[0]}")
        if not os.path.exists(live):
            damaged.breach("live", "a file that was being written was removed")
        for number in range(3):
            if not damaged.look(server, f"key-{number}", "data"):
                damaged.breach("lost", f"key-{number}")
