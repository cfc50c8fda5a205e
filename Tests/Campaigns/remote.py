#!/usr/bin/env python3
"""The remote tier with engines that are gone, stalled, full, wrong or lie.

What holds: every request is answered with the right image, whatever the engine does; the tier is left out and used again; what
waits for it stays within bounds of time and memory; nothing but the right bytes is taken from it; and with Redis two machines ask an origin
once. Redis is real where it is installed; HTTP and object storage are a small server of our own.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Callable, Optional, Sequence, Union

from campaign.engines import Redis, Relay, Web as WebEngine
from campaign.pictures import NotWhole, stamp
from campaign.report import Report
from campaign.server import Json, Server, drop, fresh, inline
from campaign.web import Web

Engine = Union[Redis, WebEngine]
SIZE = 3000


class Campaign:
    """One engine, an origin, and machines: processes with folders of their own."""

    def __init__(self, report: Report, engine: Engine, short: bool) -> None:
        self.report, self.engine, self.short = report, engine, short
        self.web = Web(SIZE)
        self.home = fresh("remote")
        self._machines = 0

    def machine(self, *flags: str, remote: bool = True) -> Server:
        """A process with a new folder."""
        self._machines += 1
        folder = os.path.join(self.home, str(self._machines), "cache")
        os.makedirs(os.path.dirname(folder))
        # Origin and engine are not the network's matter here.
        return Server(folder, *(["--remote", self.engine.url] if remote else []), *flags, patience=120)

    def ask(self, server: Server, paths: Sequence[str], what: str, together: bool = True) -> list[float]:
        """Asks for images and judges every answer; the seconds that each took, when they are asked one by one."""
        urls = [self.web.base + path for path in paths]
        params = [{"url": url, "as": "data"} for url in urls]
        times = []
        if together:
            ids = [server.send("retrieve", one) for one in params]
            replies = server.replies(ids)
            answers = [replies[number] for number in ids]
        else:
            answers = []
            for one in params:
                started = time.monotonic()
                answers.append(server.ask("retrieve", one))
                times.append(time.monotonic() - started)
        for url, answer in zip(urls, answers):
            self.judge(url, answer, what)
        return times

    def judge(self, url: str, answer: Json, what: str) -> None:
        if "result" not in answer:
            return self.report.breach("failed", f"{self.engine.name}, {what}: {url}: {answer['error']}")
        result = answer["result"]
        self.report.count(f"answers from {result['cacheType']}")
        try:
            if stamp(inline(result)).key != url:
                self.report.breach("wrong", f"{self.engine.name}, {what}: {url} got {stamp(inline(result))}")
        except NotWhole as error:
            self.report.breach("wrong", f"{self.engine.name}, {what}: {url}: {error}")

    def stats(self, server: Server) -> Json:
        return server.result("stats")["remote"]

    def fill(self, paths: Sequence[str]) -> None:
        """Has a machine load images and upload them."""
        with self.machine() as server:
            self.ask(server, paths, "filling")
            self.until(lambda: self.stats(server)["queued"] == 0, "uploads to end")

    def until(self, condition: Callable[[], bool], what: str, seconds: float = 20) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.05)
        self.report.breach("time", f"{self.engine.name}: waited in vain for {what}")
        return False

    # -- faults

    def spoiled(self, fault: str) -> None:
        """The engine's answers are spoiled while a machine reads what is there and what is not."""
        there = [f"/{fault}-{number}" for number in range(20)]
        self.fill(there)
        with self.machine() as server:
            self.ask(server, there[:5], "before")
            self.engine.relay.fault = fault
            self.ask(server, there[5:10], fault)
            self.ask(server, [f"/{fault}-new-{number}" for number in range(20)], fault)
            self.report.count(f"errors of {fault}", self.stats(server)["errors"])
            self.engine.relay.fault = None
            number = 0

            def is_back() -> bool:
                nonlocal number
                number += 1
                self.ask(server, [f"/{fault}-later-{number}"], f"after {fault}")
                return bool(self.stats(server)["breaker"] == "closed")

            self.until(is_back, f"use after {fault}")
            hits = self.stats(server)["hits"]
            self.ask(server, there[10:], f"after {fault}")
            if self.stats(server)["hits"] - hits < 10:
                self.report.breach("unused", f"{self.engine.name}: not read after {fault}: {self.stats(server)}")

    def refusing(self, how: str) -> None:
        """The engine refuses to write, or everything."""
        there = [f"/{how}-{number}" for number in range(10)]
        self.fill(there)
        with self.machine() as server:
            self.engine.refuse(how)
            self.ask(server, there, how)
            self.ask(server, [f"/{how}-new-{number}" for number in range(10)], how)
            reads = how in ("full", "read-only")
            if reads and self.stats(server)["hits"] < 10:
                self.report.breach("unused", f"{self.engine.name}: not read although only {how}: {self.stats(server)}")
            self.until(lambda: self.stats(server)["errors"] > 0, f"an error to be counted ({how})")
            check = server.result("checkRemote")
            if check["ok"]:
                self.report.breach("check", f"{self.engine.name}: {how} is called well: {check}")
            self.engine.refuse(None)

    def mixed(self) -> None:
        """Every object has the bytes of another one."""
        there = [f"/mixed-{number}" for number in range(20)]
        self.fill(there)
        self.engine.mix()
        with self.machine() as server:
            self.ask(server, there, "mixed objects")
            stats = self.stats(server)
            wrong = stats["wrong"]
            self.report.count("wrong objects passed by", wrong)
            # What an engine on a busy machine does not give in time is an error, and is not seen.
            if stats["hits"] > 0 or wrong == 0 or wrong < 20 and stats["errors"] == 0:
                self.report.breach("check", f"{self.engine.name}: {wrong} of 20 mixed objects were seen: {stats}")

    # -- bounds

    def misses_while_down(self, fault: str, count: int) -> None:
        """Few misses wait for an engine that is down: those before it is left out, and none for a probe."""
        with self.machine(remote=False) as server:
            plain = sum(self.ask(server, [f"/plain-{fault}-{number}" for number in range(count)], "alone", False))
        with self.machine() as server:
            self.engine.relay.fault = fault
            started = time.monotonic()
            taken = sum(self.ask(server, [f"/down-{fault}-{number}" for number in range(count)], fault, False))
            errors, probes = self.stats(server)["errors"], 0
            # The pauses before probes: 1, 2, 4 … 60 s; each probe fails too.
            elapsed = time.monotonic() - started
            while (elapsed := elapsed - min(2**probes, 60)) > 0:
                probes += 1
            self.engine.relay.fault = None
        print(f"{self.engine.name}, {fault}: {count} misses in {taken:.2f} s, {plain:.2f} s without; {errors} operations failed")
        # Each costs a request at most 0.3 s, so three are less than a second.
        if errors > 3 + probes:
            self.report.breach("time", f"{self.engine.name}, {fault}: {errors} operations failed, of them {probes} probes")

    def uploads_while_stalled(self, count: int) -> None:
        """Many uploads to an engine that has stopped: what waits is bounded."""
        with self.machine("--memory-limit", "1000000") as server:
            self.ask(server, ["/warm"], "before")
            before = memory(server)
            self.engine.relay.fault = "stall"
            for start in range(0, count, 500):
                self.ask(server, [f"/stalled-{number}" for number in range(start, start + 500)], "stalled uploads")
            stats, grown = self.stats(server), memory(server) - before
            self.engine.relay.fault = None
            print(f"{self.engine.name}: {count} uploads to a stalled engine: {stats['dropped']} dropped, {grown >> 20} MiB more memory")
            if stats["queued"] > 1000 or grown > 128 << 20:
                self.report.breach("memory", f"{self.engine.name}: {stats}, {grown} bytes more")

    def together(self, callers: int) -> None:
        """Two machines want one image at the same moment."""
        self.web.delay = 0.2
        with self.machine() as one, self.machine() as other:
            params = {"url": self.web.base + "/together", "as": "data"}
            ids = [[server.send("retrieve", params) for _ in range(callers)] for server in (one, other)]
            for server, numbers in zip((one, other), ids):
                for answer in server.replies(numbers).values():
                    self.judge(params["url"], answer, "together")
        self.web.delay = 0
        hits = self.web.hits["/together"]
        print(f"{self.engine.name}: two machines with {callers} callers each: {hits} requests to the origin")
        if self.engine.claims and hits != 1:
            self.report.breach("origin", f"{self.engine.name}: {hits} requests to the origin for one image")

    def run(self) -> None:
        for fault in Relay.FAULTS:
            self.spoiled(fault)
        for how in ("full", "read-only", "denied") + (("skew",) if self.engine.name == "S3" else ()):
            self.refusing(how)
        self.mixed()
        for fault in ("stall", "refuse"):
            self.misses_while_down(fault, 100 if self.short else 1000)
        self.uploads_while_stalled(500 if self.short else 10_000)
        self.together(100 if self.short else 1000)

    def close(self) -> None:
        self.engine.close()
        self.web.close()
        drop(self.home)


def memory(server: Server) -> int:
    """The resident memory of a process, in bytes."""
    with open(f"/proc/{server.process.pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a part of it, in some seconds")
    parser.add_argument("--only", choices=["redis", "http", "s3"], help="one engine")
    options = parser.parse_args()
    report = Report(" ".join(sys.argv))
    makers: dict[str, Callable[[], Engine]] = {
        "redis": Redis, "http": WebEngine, "s3": lambda: WebEngine("s3"),
    }  # fmt: skip
    for name, make in makers.items():
        why: Optional[str] = Redis.lacks() if name == "redis" else None
        if options.only not in (None, name):
            continue
        if why:
            print(f"{name}: skipped, {why}")
            continue
        campaign = Campaign(report, make(), options.short)
        try:
            campaign.run()
        finally:
            campaign.close()
    return report.close("remote")


if __name__ == "__main__":
    sys.exit(main())
