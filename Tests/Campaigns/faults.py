#!/usr/bin/env python3
"""Fails, cuts short or ends at every system call of every operation in turn.

What holds at each: the answer is the result, or error 40000 with a hint; the old image or the new one is served, whole;
other images are untouched; the next request works; and after a restart `verify` is clean and nothing is left over.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable

from campaign import fault
from campaign.folder import left_over, unique_bytes
from campaign.pictures import NotWhole, picture, stamp
from campaign.report import Report
from campaign.server import Dead, Hangs, Server, cached, drop, fresh, inline, methods, store
from campaign.staging import stages
from campaign.web import Web

NOT_CACHED, STORAGE_FAILED = 10003, 40000
Value = int  # The version that is served; 0 for a miss.


@dataclass(frozen=True)
class Operation:
    """One request, and what may be served before and after it."""

    name: str
    # Of (run, key): what is asked, once `old` is there.
    request: Callable[["Run", str], tuple[str, Any]]
    old: Value
    new: Value
    # Whether the process is fresh, so that opening the cache is part of it; and whether the folder is too.
    opens: bool = False
    begins: bool = False


def put(version: int, **more: Any) -> Callable[["Run", str], tuple[str, Any]]:
    return lambda run, key: ("store", store(key, picture(key, version, 3000), **more))


def put_file(run: "Run", key: str) -> tuple[str, Any]:
    path = os.path.join(run.home, "source.png")
    with open(path, "wb") as file:
        file.write(picture(key, 2, 70_000))
    return "store", {"key": key, "path": path}


def put_same(run: "Run", key: str) -> tuple[str, Any]:
    return "store", store(key, run.common)


def fetch(answer: str) -> Callable[["Run", str], tuple[str, Any]]:
    return lambda run, key: ("retrieve", {"url": run.url(key), "key": key, "as": answer})


OPERATIONS = [
    Operation("store-new", put(1), 0, 1),
    Operation("store-replace", put(2), 1, 2),
    Operation("store-other-extension", put(2, options={"forcedCacheFileExtension": "img"}), 1, 2),
    Operation("store-same-bytes", put_same, 0, 1),
    Operation("store-file", put_file, 1, 2),
    Operation("remove", lambda run, key: ("remove", {"key": key}), 1, 0),
    Operation("fetch", fetch("data"), 0, 1),
    Operation("fetch-path", fetch("path"), 0, 1),
    Operation("first-store", put(1), 0, 1, opens=True, begins=True),
    Operation("open-and-store", put(2), 1, 2, opens=True),
    Operation("open-and-read", lambda run, key: ("retrieve", cached(key)), 1, 1, opens=True),
]


class Run:
    """The servers, folder and pictures of one series."""

    def __init__(self, home: str, library: str, report: Report, web: Web) -> None:
        self.home, self.report, self.web = home, report, web
        self.folder = os.path.join(home, "cache")
        self.cache = os.path.join(self.folder, "default")
        self.fault = fault.Fault(library, home, self.folder)
        self.common = picture("common", 1, 2500)
        self.number = 0
        # What was served of each key last, and what may be served after a restart.
        self.expected: dict[str, Value] = {}
        self.allowed: dict[str, set[Value]] = {}
        self.known: dict[str, str] = {}
        self.place = ""

    def breach(self, kind: str, text: str) -> None:
        self.report.breach(kind, f"{self.place}: {text}")

    def serve(self, injected: bool) -> Server:
        return Server(self.folder, environment=self.fault.environment if injected else None, patience=25)

    def key(self) -> str:
        self.number += 1
        return f"key-{self.number}"

    def url(self, key: str) -> str:
        return f"{self.web.base}/{os.path.basename(self.home)}/{key}"

    def value(self, server: Server, key: str) -> Value:
        """What is served of a key, asked in every way; anything but a whole picture of it is a breach."""
        reply = server.ask("retrieve", cached(key, "both"))
        is_cached = server.ask("isCached", {"key": key})
        if "result" not in reply:
            if reply["error"]["code"] != NOT_CACHED:
                self.breach("next request", f"retrieve of {key}: {reply['error']}")
            elif is_cached.get("result", {}).get("cached"):
                self.breach("disagree", f"isCached says yes of {key}, retrieve {reply['error']}")
            return 0
        if not is_cached.get("result", {}).get("cached"):
            self.breach("disagree", f"isCached says {is_cached} of {key}, which was retrieved")
        data = inline(reply["result"])
        with open(reply["result"]["path"], "rb") as file:
            on_disk = file.read()
        if data != on_disk:
            self.breach("wrong", f"{key}: the data and the file at the path differ")
        try:
            found = stamp(data)
        except NotWhole as error:
            self.breach("wrong", f"{key}: {error}")
            return 0
        if found.key not in (key, "common", self.url(key)):
            self.breach("wrong", f"{key}: the picture of {found.key} is served")
        return found.version

    def prepare(self, server: Server, operation: Operation) -> str:
        key = self.key()
        if operation.old:
            server.result("store", store(key, picture(key, operation.old, 3000)))
            self.expected[key] = operation.old
        return key

    def judge(self, operation: Operation, key: str, reply: Any, server: Server) -> None:
        """Holds the answer, and what is served after it, against the promise."""
        allowed = {operation.old, operation.new}
        if reply is not None:
            error = reply.get("error")
            if error is None:
                # An image that could not be stored is answered all the same, when only its bytes were wanted.
                allowed = {operation.new, *([0] if operation.name == "fetch" and self.fault.hits else [])}
            elif error["code"] != STORAGE_FAILED or not error["data"].get("hint"):
                self.breach("answers", f"{error}")
        found = self.value(server, key)
        if found not in allowed:
            said = "killed" if reply is None else reply.get("error") or "done"
            self.breach("served", f"{key} is at version {found}, not one of {sorted(allowed)}; answer: {said}")
        self.expected[key] = found
        # A store that failed, and could not even take back its file, may be found again whole.
        is_sure = reply is None or "result" in reply and operation.name != "fetch"
        self.allowed[key] = {found} if is_sure else allowed | {found}

    def others(self, server: Server) -> None:
        """Another image is as it was, and another store works."""
        if self.value(server, "bystander") != 1:
            self.breach("bystander", "another image is not served any more")
        reply = server.ask("store", store("next", picture("next", 1, 500)))
        if "result" not in reply:
            self.breach("next request", f"a store after it: {reply['error']}")

    def check_restarted(self) -> None:
        """A new process serves the same, `verify` is clean, and nothing is left over."""
        with self.serve(injected=False) as server:
            for key, value in self.expected.items():
                found = self.value(server, key)
                if found not in self.allowed.get(key, {value}):
                    self.breach("restart", f"{key} was at version {value}, and is at {found} after a restart")
            if "verify" in self.known:
                first = server.result("verify")
                second = server.result("verify")
                if not first["clean"]:
                    self.report.count("restarts whose first verify found something")
                if first["damaged"] or not second["clean"]:
                    self.breach("unclean", f"verify: first {first}, second {second}")
                for key, value in self.expected.items():
                    found = self.value(server, key)
                    if found not in self.allowed.get(key, {value}):
                        self.breach("restart", f"{key} was at version {value}, and is at {found} after verify: {first}")
                if names := left_over(self.cache):
                    self.breach("leftovers", f"{names} in partial/ after verify")
            disk = server.result("calculateSize")["disk"]
            said, walked = disk["byteCount"] + disk.get("leasedBytes", 0), unique_bytes(self.cache)
            if said != walked:
                say = self.breach if "verify" in self.known else lambda kind, _: self.report.count(f"{kind}, unverified")
                say("sizes", f"{said} bytes by the index, {walked} by a walk over the files")
        self.expected, self.allowed = {"bystander": 1}, {}

    def begin(self) -> None:
        """A cache with two images."""
        with self.serve(injected=False) as server:
            server.result("store", store("bystander", picture("bystander", 1, 2000)))
            server.result("store", store("common", self.common))
        self.expected = {"bystander": 1}


def killing(run: Run, operation: Operation, mode: int) -> None:
    """Kills the process at each call of the operation in turn."""
    for at in range(1, 400):
        run.place = f"{operation.name}, {'torn write' if mode == fault.TORN else 'kill'} at call {at}"
        if operation.begins:
            drop(run.folder)
            run.expected = {}
        elif not os.path.exists(os.path.join(run.cache, "index.sqlite")):
            run.begin()
        mask = fault.WRITE if mode == fault.TORN else 1023 & ~(fault.READ | fault.LOCK)
        key, reply = run.key(), None
        if operation.opens and operation.old:
            with run.serve(injected=False) as server:
                key = run.prepare(server, operation)
        server = run.serve(injected=True)
        try:
            if not operation.opens:
                key = run.prepare(server, operation)
            method, params = operation.request(run, key)
            run.fault.arm(at, mode, mask=mask)
            reply = server.ask(method, params)
        except Dead:
            pass
        except Hangs as hang:
            run.breach("hangs", str(hang))
        run.fault.disarm()
        if run.fault.hits and reply is not None:
            server.kill()
        code = server.close()
        # Counted once the process has ended: what it does after its answer may be the call as well.
        hits = run.fault.hits
        if hits and reply is None:
            run.report.count("kills at a call")
        run.place += f" ({run.fault.place})"
        if hits == 0 and code != 0:
            run.breach("crashes", f"the process ended with {code}")
        with run.serve(injected=False) as after:
            run.judge(operation, key, reply, after)
            if not operation.begins:
                run.others(after)
        run.check_restarted()
        if hits == 0:
            return


def failing(run: Run, operation: Operation, mode: int, error: int, persistent: bool, each: bool) -> None:
    """Lets each call of the operation fail in turn."""
    mask = fault.WRITE if mode == fault.SHORT else fault.KINDS[error]
    what = "short write" if mode == fault.SHORT else errno.errorcode[error]
    run.begin()
    server: Server | None = None
    try:
        for at in range(1, 400):
            run.place = f"{operation.name}, {what}{' from' if persistent else ''} at call {at}"
            if operation.begins:
                drop(run.folder)
                run.expected = {}
            if operation.opens and server is not None:
                server.close()
                server = None
            key = run.key()
            if operation.opens and operation.old:
                with run.serve(injected=False) as before:
                    key = run.prepare(before, operation)
            if server is None:
                server = run.serve(injected=True)
            if not operation.opens:
                key = run.prepare(server, operation)
            method, params = operation.request(run, key)
            run.fault.arm(at, mode, error, persistent, mask)
            reply = None
            try:
                reply = server.ask(method, params)
                if persistent and run.fault.hits and not operation.begins:
                    during(run, server, error)
            except Hangs as hang:
                run.breach("hangs", str(hang))
                server.kill()
            run.fault.disarm()
            hits = run.fault.hits
            run.place += f" ({run.fault.place})"
            run.report.count("failed calls", min(hits, 1))
            if reply is None:
                raise Dead("hangs")
            if hits == 0 and "error" in reply:
                run.breach("answers", f"without any failure: {reply}")
            run.judge(operation, key, reply, server)
            if not operation.begins:
                run.others(server)
            if each and hits:
                server.close()
                server = None
                run.check_restarted()
                if operation.begins:
                    run.expected = {}
            if hits == 0:
                break
    except Dead as dead:
        run.fault.disarm()
        run.breach("crashes", f"{dead} ({run.fault.place})")
    if server is not None and server.close() != 0:
        run.breach("crashes", "the process did not end with 0")
    run.check_restarted()


def during(run: Run, server: Server, error: int) -> None:
    """While it goes on failing: an image is served, or the reason told; it is never said not to be there."""
    reply = server.ask("retrieve", cached("bystander"))
    if "result" in reply:
        if stamp(inline(reply["result"])).key != "bystander":
            run.breach("wrong", "the picture of another key is served meanwhile")
    elif reply["error"]["code"] != STORAGE_FAILED or error in (errno.ENOSPC, errno.EDQUOT):
        run.breach("reads meanwhile", f"{reply['error']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a part of it, another with each turn")
    parser.add_argument("--seconds", type=float, default=30, help="how long --short goes on")
    parser.add_argument("--only", default="", help="operations whose names contain this")
    parser.add_argument("--errors", default="", help="kinds of failure, like ENOSPC,EIO,KILL,TORN,SHORT,STAGES")
    parser.add_argument("--turn", type=int, default=int(time.time() // 3600), help="which part --short takes")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    options = parser.parse_args()
    report = Report(f"{sys.argv[0]} --turn {options.turn}" + (" --short" if options.short else ""))
    home = fresh("faults")
    library = fault.build(home)
    if library is None:
        print("faults: skipped, there is no C compiler")
        return 0
    web = Web(2000)
    names = [errno.errorcode[code] for code in fault.KINDS]
    chosen = options.errors.split(",") if options.errors else ["KILL", "TORN", "SHORT", "STAGES", *names]
    known = methods(os.path.join(home, "known"))
    operations = [operation for operation in OPERATIONS if options.only in operation.name]
    series = [(operation, what) for what in chosen if what != "STAGES" for operation in operations]
    if options.short:
        random.Random(options.turn).shuffle(series)
    end = time.monotonic() + (options.seconds if options.short else 1e9)
    for operation, what in series:
        began = time.monotonic()
        if began > end:
            break
        place = os.path.join(home, f"{operation.name}-{what}")
        os.mkdir(place)
        run = Run(place, library, report, web)
        run.known = known
        report.count("series")
        try:
            if what in ("KILL", "TORN"):
                killing(run, operation, getattr(fault, what))
            elif what == "SHORT":
                failing(run, operation, fault.SHORT, 0, False, False)
            else:
                code = getattr(errno, what)
                failing(run, operation, fault.FAIL, code, False, not options.short)
                if code != errno.EINTR:
                    failing(run, operation, fault.FAIL, code, True, not options.short)
        except Exception as error:  # One series that fails must not hide the others.
            run.breach("failed campaign", repr(error))
        if time.monotonic() - began > 10:
            print(f"{operation.name} {what}: {time.monotonic() - began:.0f} s", flush=True)
        if not options.keep:
            drop(place)
    if "STAGES" in chosen and not options.only:
        stages(home, report)
    web.close()
    code = report.close(f"faults, turn {options.turn}, {' '.join(chosen)}")
    if not options.keep:
        drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
