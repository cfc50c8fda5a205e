"""A thread of a crowd: asks one process all the time, and starts another when it was killed."""

from __future__ import annotations

import random
import threading
from typing import Any, Callable

from .crowd import BRIEF, OWN, SHARED, URLS, Crowd, split
from .crowd_judge import Judge
from .crowd_requests import Handler, Requests, Sent
from .server import Dead, Hangs, Server


class Worker(threading.Thread):
    """Asks one process all the time, and starts another when it was killed."""

    def __init__(self, crowd: Crowd, number: int) -> None:
        super().__init__(daemon=True)
        self.crowd, self.number = crowd, number
        self.random = random.Random(crowd.options.seed * 1000 + number)
        self.judge = Judge(crowd, number, self.random)
        self.requests = Requests(crowd, number, crowd.serve(), self.judge, self.random)
        self.killed = False

    @property
    def server(self) -> Server:
        """The process that is asked now."""
        return self.requests.server

    def run(self) -> None:
        while not self.crowd.over.is_set():
            try:
                self.burst()
            except Exception as error:  # A campaign that dies silently proves nothing.
                self.crowd.report.breach("failed campaign", f"worker {self.number}: {error!r}")
                self.crowd.over.set()
                raise

    def restart(self) -> None:
        """After the process ended: takes note of how, and starts the next."""
        code = self.server.close()
        if not self.killed:
            self.crowd.report.breach("crashes", f"worker {self.number}'s process ended by itself with {code}")
        self.killed = False
        while True:
            try:
                self.requests.server = self.crowd.serve()
                return
            except Dead:
                self.crowd.report.breach("crashes", f"worker {self.number}'s new process died before its first answer")

    def burst(self) -> None:
        """Sends a few requests for different keys at once, and judges the answers, which come in any order."""
        chosen: set[str] = set()
        sent: dict[int, Handler] = {}
        aborts: list[Callable[[], None]] = []
        answered: dict[int, Any] = {}
        try:
            for _ in range(self.random.randint(1, 6)):
                name = self.pick()
                if name not in chosen:
                    chosen.add(name)
                    number, handler, abort = self.operation(name)
                    sent[number] = handler
                    aborts.append(abort)
            answered = self.server.replies(list(sent))
        except Dead as dead:
            answered = dead.args[1] if len(dead.args) > 1 else {}
            # What was answered counts first; then the process is dead for certain, and so is what it was doing.
            for number, reply in answered.items():
                sent[number](reply)
            self.restart()
            for abort in aborts:
                abort()
            return
        except Hangs as hang:
            self.crowd.report.breach("hangs", f"worker {self.number}: {hang} to {sorted(chosen)}")
            self.killed = True
            self.server.kill()
            self.restart()
            for abort in aborts:
                abort()
            return
        for number, reply in answered.items():
            sent[number](reply)
        self.judge.look_again()

    def pick(self) -> str:
        """The name of an image in the ledger."""
        cache = self.random.choice(self.crowd.caches)
        kind = self.random.random()
        if kind < 0.4:
            worker = self.number if self.random.random() < 0.5 else self.random.randrange(self.crowd.options.processes)
            return f"{cache}|own-{worker}-{self.random.randrange(OWN)}"
        if kind < 0.75:
            return f"{cache}|shared-{self.random.randrange(SHARED)}"
        if kind < 0.85:
            return f"{cache}|brief-{self.random.randrange(BRIEF)}"
        return f"{cache}|{self.crowd.web.base}/{self.random.randrange(URLS)}"

    def operation(self, name: str) -> Sent:
        """Sends one request; its id, what its answer means, and what is to be noted if none comes."""
        cache, key = split(name)
        dice = self.random.random()
        if dice < 0.004 and cache == "swept":
            names = [one for one in self.crowd.ledger.keys() if split(one)[0] == cache]
            return self.requests.removal("clear", {"cache": cache}, names)
        if dice < 0.02:
            return self.requests.simple("cleanExpired", {"cache": cache})
        if dice < 0.025:
            return self.requests.simple("verify", {"cache": cache})
        if dice < 0.04:
            return self.requests.simple("calculateSize", {"cache": cache})
        if dice < 0.10:
            return self.requests.removal("remove", {"key": key, "cache": cache}, [name])
        if key.startswith("http"):
            return self.requests.download(name)
        if dice < 0.45 and (f"own-{self.number}-" in key or not key.startswith("own-")):
            return self.requests.storing(name)
        return self.requests.reading(name)
