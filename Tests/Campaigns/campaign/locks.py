"""Locks that a stopped process or a strange program holds."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sqlite3
import time
from typing import Any, Iterator

from .pictures import picture
from .report import Report
from .server import Server, cached, inline, store
from .web import Web

#: The most that a request without a limit of its own waits for others, in seconds; and what a machine may add.
BOUND, SLACK = 5.0, 2.0


@contextlib.contextmanager
def _flock(path: str) -> Iterator[None]:
    """Another program's lock on a file."""
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _transaction(index: str) -> Iterator[None]:
    """Another program's transaction that is never ended."""
    database = sqlite3.connect(index, isolation_level=None, timeout=20)
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


@contextlib.contextmanager
def _stopped(folder: str, index: str) -> Iterator[None]:
    """A server that is stopped while it holds the index for a store."""
    with Server(folder) as other:
        for turn in range(2000):
            for number in range(20):
                other.send("store", store(f"other-{turn}-{number}", picture("other", number, 30_000)))
            time.sleep(0.002 * (turn % 7))
            other.process.send_signal(signal.SIGSTOP)
            while not _has_stopped(other.process.pid):
                time.sleep(0.0005)
            if _is_held(index):
                break
            other.process.send_signal(signal.SIGCONT)
        else:
            raise AssertionError("no store was stopped while it held the index")
        try:
            yield
        finally:
            other.process.send_signal(signal.SIGCONT)
            other.kill()


def _has_stopped(process: int) -> bool:
    """Whether each thread has: the signal takes a moment."""
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/stat") as file:
            if file.read().rpartition(")")[2].split()[0] != "T":
                return False
    return True


def _is_held(index: str) -> bool:
    database = sqlite3.connect(index, isolation_level=None, timeout=0)
    try:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
        return False
    except sqlite3.OperationalError:
        return True
    finally:
        database.close()


class _Round:
    def __init__(self, home: str, name: str, web: Web, report: Report) -> None:
        self.name, self.web, self._report = name, web, report
        self.folder = os.path.join(home, name, "cache")
        os.makedirs(self.folder)
        self.index = os.path.join(self.folder, "default", "index.sqlite")
        with Server(self.folder) as server:
            for number in range(3):
                server.result("store", store(f"key-{number}", picture(f"key-{number}", 1, 2000), options={"lease": 0}))

    def breach(self, text: str) -> None:
        self._report.breach("locks", f"{self.name}: {text}")

    def timed(self, server: Server, method: str, params: Any, bound: float = BOUND) -> Any:
        """The answer, which must come in time; an error must say that it is worth trying again."""
        began = time.monotonic()
        reply = server.ask(method, params)
        seconds = time.monotonic() - began
        if seconds > bound + SLACK:
            self.breach(f"{method} {params.get('options', '')} took {seconds:.1f} s")
        error = reply.get("error")
        if error and (error["code"] != 40000 or not error["data"]["retryable"]):
            self.breach(f"{method}: {error}")
        return reply

    def judge(self, server: Server, writes: bool) -> None:
        """Reads go on; writes work, or end in time with an error; a download is answered all the same."""
        for number in range(3):
            reply = self.timed(server, "retrieve", cached(f"key-{number}", "both"))
            if "result" not in reply:
                self.breach(f"retrieve of key-{number}: {reply}")
        if not self.timed(server, "isCached", {"key": "key-1"}).get("result", {}).get("cached"):
            self.breach("isCached does not find key-1")
        reply = self.timed(server, "store", store("new", picture("new", 1, 2000), options={"timeout": 1}), 1)
        if writes and "result" not in reply:
            self.breach(f"store: {reply}")
        for answer in ("data", "path"):
            url = f"{self.web.base}/{self.name.replace(' ', '-')}-{answer}"
            reply = self.timed(server, "retrieve", {"url": url, "as": answer, "options": {"timeout": 3}}, 3)
            if "result" not in reply:
                self.breach(f"a downloaded image as {answer}: {reply}")
                continue
            if not writes and not reply["result"].get("stored"):
                self.breach(f"a downloaded image is said to be stored: {reply['result']}")
            if answer == "data":
                inline(reply["result"])
            else:
                with open(reply["result"]["path"], "rb") as file:
                    if not file.read():
                        self.breach("the path holds nothing")
        # Several at once, and of one key one after the other: the wait is not theirs in turn.
        began = time.monotonic()
        sent = [server.send("store", store(f"more-{number}", picture("more", number, 2000))) for number in range(20)]
        sent += [server.send("remove", {"key": f"more-{number % 4}"}) for number in range(12)]
        found = server.replies(sent)
        if time.monotonic() - began > BOUND + SLACK:
            self.breach(f"32 requests took {time.monotonic() - began:.1f} s")
        for reply in found.values():
            error = reply.get("error")
            if error and (writes or not error["data"]["retryable"]):
                self.breach(f"one of many: {error}")

    def after(self, server: Server) -> None:
        """When the lock is given up, everything works."""
        for number in range(3):
            if "result" not in server.ask("retrieve", cached(f"key-{number}")):
                self.breach(f"key-{number} is not served afterwards")
        reply = server.ask("store", store("at last", picture("at last", 1, 2000)))
        if "result" not in reply:
            self.breach(f"a store afterwards: {reply}")


def locks(home: str, report: Report, short: bool) -> None:
    """No request waits longer than its bound, and reads go on."""
    web = Web(3000)
    try:
        for name in ("leases", "transaction") if short else ("leases", "index lock", "transaction", "stopped"):
            for opens in (name == "leases",) if short else (True, False):
                turn = _Round(home, f"{name} {'fresh' if opens else 'open'}", web, report)
                cache = os.path.dirname(turn.index)
                held = {
                    "leases": lambda: _flock(os.path.join(cache, "leases", "table")),
                    "index lock": lambda: _flock(turn.index + ".lock"),
                    "transaction": lambda: _transaction(turn.index),
                    "stopped": lambda: _stopped(turn.folder, turn.index),
                }[name]
                with Server(turn.folder, "--memory-limit", "0", patience=90) as server:
                    if not opens:
                        server.result("store", store("before", picture("before", 1, 2000)))
                    with held():
                        turn.judge(server, name in ("leases", "index lock"))
                    turn.after(server)
                report.count("locks held")
    finally:
        web.close()
