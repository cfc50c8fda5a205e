"""Cache folders of other users, or that others may write, and what they planted there."""

from __future__ import annotations

import os
import shutil
import stat

from .nobody import NOBODY, nobody
from .pictures import picture, stamp
from .report import Report
from .server import Server, cached, inline, store

STORAGE_FAILED = 40000


def strangers(home: str, report: Report, short: bool) -> None:
    """What another user can have put there is not answered, and the refusal says why."""
    with nobody(home) as prefix:
        for name, stage in (
            ("another's folder", _another),
            ("a link", _link),
            ("planted while open to all", _planted),
            ("a planted index", _planted_index),
            ("shared", _shared),
            ("a group", _group),
        ):
            place = os.path.join(home, name)
            os.mkdir(place)
            os.chmod(place, 0o777)

            def breach(text: str, name: str = name) -> None:
                report.breach("strangers", f"{name}: {text}")

            stage(os.path.join(place, "cache"), prefix, breach)
            report.count("foreign folders")


def _plant(cache: str, prefix: tuple[str, ...], key: str = "key") -> str:
    """Another user stores a picture; its path."""
    with Server(cache, prefix=prefix) as server:
        return server.result("store", store(key, picture("planted", 1, 2000), options={"lease": 0}))["path"]


def _refused(server: Server, breach, *words: str) -> None:
    for method, params in (
        ("retrieve", cached("key", "both")),
        ("isCached", {"key": "key"}),
        ("store", store("key", picture("key", 1, 2000))),
        ("remove", {"key": "key"}),
        ("calculateSize", {}),
        ("verify", {}),
        ("clear", {}),
    ):
        reply = server.ask(method, params)
        error = reply.get("error")
        if not error or error["code"] != STORAGE_FAILED:
            breach(f"{method} says {reply}")
        elif not all(word in error["message"] + error["data"]["hint"] for word in words):
            breach(f"{method} does not say why: {error}")


def _another(cache: str, prefix: tuple[str, ...], breach) -> None:
    path = _plant(cache, prefix)
    with Server(cache) as server:
        _refused(server, breach, f"user {NOBODY}", "mode 700", "chown", "--shared-folders")
    if not os.path.exists(path):
        breach("what is another's was removed")
    # The other way round: who may not read it is told so.
    own = cache + "-own"
    with Server(own) as server:
        server.result("store", store("key", picture("key", 1, 2000)))
    os.chmod(own, 0o755)
    os.chmod(os.path.join(own, "default"), 0o777)
    with Server(own, prefix=prefix) as server:
        _refused(server, breach, "user 0", "mode 777")


def _link(cache: str, prefix: tuple[str, ...], breach) -> None:
    outside = cache + "-outside"
    os.mkdir(outside, 0o755)
    os.mkdir(cache)
    link = os.path.join(cache, "default")
    os.symlink(outside, link)
    os.lchown(link, NOBODY, NOBODY)
    with Server(cache) as server:
        _refused(server, breach, f"user {NOBODY}")
    if os.listdir(outside) or stat.S_IMODE(os.stat(outside).st_mode) != 0o755:
        breach(f"the folder that a link of another user's leads to was used: {os.listdir(outside)}")


def _planted(cache: str, prefix: tuple[str, ...], breach) -> None:
    with Server(cache) as server:
        path = server.result("store", store("key", picture("key", 1, 2000), options={"lease": 0}))["path"]
    before = os.stat(path)
    for at, _, _ in os.walk(cache):
        os.chmod(at, 0o777)
    # Same size, same time, another user's.
    os.unlink(path)
    with open(path, "wb") as file:
        file.write(picture("planted", 1, 2000)[: before.st_size].ljust(before.st_size, b"\0"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.chown(path, NOBODY, NOBODY)
    with Server(cache) as server:
        for answer in ("path", "both"):
            reply = server.ask("retrieve", cached("key", answer))
            if "result" in reply:
                breach(f"a planted image is answered as {answer}")
        if server.result("isCached", {"key": "key"})["cached"]:
            breach("a planted image is said to be there")
        server.result("store", store("key", picture("key", 1, 2000)))
        if stamp(inline(server.result("retrieve", cached("key")))).key != "key":
            breach("what is stored anew is not answered")
    if stat.S_IMODE(os.stat(os.path.join(cache, "default")).st_mode) != 0o700:
        breach("an own folder was left open to others")


def _planted_index(cache: str, prefix: tuple[str, ...], breach) -> None:
    other = cache + "-other"
    planted = _plant(other, prefix, "mine")
    with Server(cache) as server:
        server.result("store", store("mine", picture("mine", 1, 2000), options={"lease": 0}))
    folder = os.path.join(cache, "default")
    os.chmod(folder, 0o777)
    for name in os.listdir(folder):
        if name.startswith("index.sqlite"):
            os.unlink(os.path.join(folder, name))
    for name in os.listdir(os.path.join(other, "default")):
        if name.startswith("index.sqlite"):
            shutil.copy2(os.path.join(other, "default", name), os.path.join(folder, name))
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    assert os.path.exists(planted)
    with Server(cache) as server:
        if stamp(inline(server.result("retrieve", cached("mine")))).key != "mine":
            breach("the own image is not answered")
    if os.stat(os.path.join(folder, "index.sqlite")).st_uid == NOBODY:
        breach("another user's index is used")


def _shared(cache: str, prefix: tuple[str, ...], breach) -> None:
    flags = ("--shared-folders",)
    group = ("setpriv", f"--groups={NOBODY}")
    os.makedirs(cache)
    folder = os.path.join(cache, "default")
    os.mkdir(folder)
    os.chown(folder, 0, NOBODY)
    os.chmod(cache, 0o755)
    os.chmod(folder, 0o2770)
    with Server(cache, *flags, prefix=prefix) as one, Server(cache, *flags, prefix=group) as other:
        path = one.result("store", store("key", picture("key", 1, 2000), options={"lease": 0}))["path"]
        reply = other.ask("retrieve", cached("key"))
        if "result" not in reply or stamp(inline(reply["result"])).key != "key":
            breach(f"another user of the group does not find it: {reply}")
        other.result("store", store("more", picture("more", 1, 2000), options={"lease": 0}))
        reply = one.ask("retrieve", cached("more"))
        if "result" not in reply:
            breach(f"what another user stored is not found: {reply}")
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(1500)
        file.write(b"planted")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with Server(cache, *flags, prefix=group) as server:
        if server.result("isCached", {"key": "key"})["cached"]:
            breach("a file is not compared with its checksum when it is first used")
    os.chmod(folder, 0o777)
    with Server(cache, *flags, prefix=group) as server:
        _refused(server, breach, "mode 777", "chmod o-w")


def _group(cache: str, prefix: tuple[str, ...], breach) -> None:
    """Two users with one group: each works with all that the other made, and clears up after it."""
    users = [
        (*prefix[:3], "setpriv", f"--reuid={NOBODY - number}", f"--regid={NOBODY}", "--clear-groups")
        for number in (0, 1)
    ]
    folder = os.path.join(cache, "default")

    def judge_modes() -> None:
        for at, folders, files in os.walk(folder):
            for name in folders + files:
                status = os.lstat(os.path.join(at, name))
                mode = stat.S_IMODE(status.st_mode)
                if mode != (0o2770 if name in folders else 0o660) or status.st_gid != NOBODY:
                    breach(f"{name} has mode {mode:o} and group {status.st_gid}")

    for one, other in (users, users[::-1]):
        with Server(cache, "--shared-folders", prefix=one) as first:
            for key in ("mine", "yours", "gone"):
                first.result("store", store(key, picture(key, 1, 2000)))
            with Server(cache, "--shared-folders", prefix=other) as second:
                second.result("store", store("yours", picture("yours", 2, 2000)))
                second.result("remove", {"key": "gone"})
                reply = second.ask("retrieve", cached("mine"))
                if "result" not in reply or stamp(inline(reply["result"])).key != "mine":
                    breach(f"what the other stored is not found: {reply}")
                if not second.result("verify", {"repair": True})["clean"]:
                    breach("what the other stored is not sound")
                judge_modes()
                first.kill()
            names = [name[: -len(".session")] for name in os.listdir(f"{folder}/leases") if name.endswith(".session")]
            for name in names:
                draft = f"{folder}/partial/body~{name}~99"
                with open(draft, "wb") as file:
                    file.write(b"left by one that was killed")
            with Server(cache, "--shared-folders", prefix=other) as second:
                left = second.result("verify", {"repair": True})["leftovers"]
                if not names or left != len(names):
                    breach(f"{left} of {len(names)} drafts of the killed server are removed")
                second.result("clear", {})
                if not second.result("verify", {"repair": True})["clean"]:
                    breach("something is left in the cleared folder")
                judge_modes()
