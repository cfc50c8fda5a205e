#!/usr/bin/env python3
"""Many real processes on one cache folder, killed at random all the time (E2-86, A1, A14, D-01, D-02).

What holds, whoever is killed when: an acknowledged store is not lost; every byte that is served is of a whole picture
of its key, of a version that may be there; the disk limit holds; at the end `verify` is clean and nothing is left over.
"""

from __future__ import annotations

import argparse
import heapq
import os
import random
import sys
import threading
import time
from typing import Any, Callable

from campaign.folder import partial, unique_bytes
from campaign.ledger import Ledger, Operation, Read
from campaign.pictures import NotWhole, picture, stamp
from campaign.report import Report
from campaign.server import Dead, Hangs, Server, cached, drop, fresh, inline, methods, store
from campaign.web import Web

NOT_CACHED = 10003
OWN, SHARED, BRIEF, URLS = 12, 10, 4, 12
Handler = Callable[[Any], None]


class Campaign:
    """What all threads of one run share."""

    def __init__(self, options: argparse.Namespace, report: Report, home: str) -> None:
        self.options, self.report, self.home = options, report, home
        self.folder = os.path.join(home, "cache")
        self.known = methods(self.folder)
        self.web = Web(4000, 0.01)
        self.over = threading.Event()
        can_choose = "configure" in self.known
        self.has_limit = options.limit > 0 and (can_choose or options.only_limited)
        self.has_leases = "lease" in self.known["retrieve"]
        self.caches = ["default"] if options.only_limited else ["kept", "swept", "default"]
        own = [f"own-{one}-{number}" for one in range(options.processes) for number in range(OWN)]
        keys = own + [f"shared-{number}" for number in range(SHARED)] + [f"brief-{number}" for number in range(BRIEF)]
        keys += [f"{self.web.base}/{number}" for number in range(URLS)]
        self.ledger = Ledger(f"{cache}|{key}" for cache in self.caches for key in keys)

    def serve(self, patience: float = 40) -> Server:
        """A new process; the caches without a limit are told so."""
        limit = self.options.limit if self.has_limit else 0
        server = Server(self.folder, "--disk-limit", str(limit), patience=patience)
        if self.has_limit and not self.options.only_limited:
            for cache in ("kept", "swept"):
                server.result("configure", {"cache": cache, "disk": {"bytesLimit": 0}})
        return server

    def keeps(self, name: str) -> bool:
        """Whether an image stays until it is removed."""
        return "brief" not in name and not (self.has_limit and split(name)[0] == "default")


def split(name: str) -> tuple[str, str]:
    """Cache and key of a name in the ledger."""
    cache, _, key = name.partition("|")
    return cache, key


class Worker(threading.Thread):
    """Asks one process all the time, and starts another when it was killed."""

    def __init__(self, campaign: Campaign, number: int) -> None:
        super().__init__(daemon=True)
        self.c, self.number = campaign, number
        self.random = random.Random(campaign.options.seed * 1000 + number)
        self.server = campaign.serve()
        self.killed = False
        self.held: list[tuple[float, str, str, Read]] = []

    def run(self) -> None:
        while not self.c.over.is_set():
            try:
                self.burst()
            except Exception as error:  # A campaign that dies silently proves nothing.
                self.c.report.breach("failed campaign", f"worker {self.number}: {error!r}")
                self.c.over.set()
                raise

    def restart(self) -> None:
        """After the process ended: takes note of how, and starts the next."""
        code = self.server.close()
        if not self.killed:
            self.c.report.breach("crashes", f"worker {self.number}'s process ended by itself with {code}")
        self.killed = False
        while True:
            try:
                self.server = self.c.serve()
                return
            except Dead:
                self.c.report.breach("crashes", f"worker {self.number}'s new process died before its first answer")

    # -- one burst of requests for different keys, answered in any order

    def burst(self) -> None:
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
            self.c.report.breach("hangs", f"worker {self.number}: {hang} to {sorted(chosen)}")
            self.killed = True
            self.server.kill()
            self.restart()
            for abort in aborts:
                abort()
            return
        for number, reply in answered.items():
            sent[number](reply)
        while self.held and self.held[0][0] < time.monotonic():
            _, path, way, read = heapq.heappop(self.held)
            self.look(path, read, f"{way}, held for a while")

    def pick(self) -> str:
        cache = self.random.choice(self.c.caches)
        kind = self.random.random()
        if kind < 0.4:
            worker = self.number if self.random.random() < 0.5 else self.random.randrange(self.c.options.processes)
            return f"{cache}|own-{worker}-{self.random.randrange(OWN)}"
        if kind < 0.75:
            return f"{cache}|shared-{self.random.randrange(SHARED)}"
        if kind < 0.85:
            return f"{cache}|brief-{self.random.randrange(BRIEF)}"
        return f"{cache}|{self.c.web.base}/{self.random.randrange(URLS)}"

    def operation(self, name: str) -> tuple[int, Handler, Callable[[], None]]:
        """Sends one request; its id, what its answer means, and what is to be noted if none comes."""
        cache, key = split(name)
        dice = self.random.random()
        if dice < 0.004 and cache == "swept":
            names = [one for one in self.c.ledger.keys() if split(one)[0] == cache]
            return self.removal("clear", {"cache": cache}, names)
        if dice < 0.02:
            return self.simple("cleanExpired", {"cache": cache})
        if dice < 0.025:
            return self.simple("verify", {"cache": cache})
        if dice < 0.04:
            return self.simple("calculateSize", {"cache": cache})
        if dice < 0.10:
            return self.removal("remove", {"key": key, "cache": cache}, [name])
        if key.startswith("http"):
            return self.download(name)
        if dice < 0.45 and (f"own-{self.number}-" in key or not key.startswith("own-")):
            return self.storing(name)
        return self.reading(name)

    def simple(self, method: str, params: Any) -> tuple[int, Handler, Callable[[], None]]:
        if method not in self.c.known:
            method = "calculateSize"

        def handle(reply: Any) -> None:
            self.c.report.count(method)
            if "result" not in reply:
                self.c.report.breach("refusals", f"{method} {params}: {reply['error']}")
            elif method == "verify" and reply["result"]["damaged"]:
                self.c.report.count("damaged by verify", reply["result"]["damaged"])

        return self.server.send(method, params), handle, lambda: None

    def storing(self, name: str) -> tuple[int, Handler, Callable[[], None]]:
        cache, key = split(name)
        operation = self.c.ledger.begin_store(name, self.c.keeps(name))
        read = self.c.ledger.begin_read(name)
        size = self.random.choice((400, 3000, 20_000, 80_000))
        data = picture(name, operation.version, size)
        options: dict[str, Any] = {"diskCacheExpiration": {"seconds": 1}} if key.startswith("brief") else {}
        if self.c.has_leases and self.random.random() < 0.5:
            options["lease"] = 60
        params = store(key, data, cache=cache, options=options)
        source = ""
        if self.random.random() < 0.4:
            source = os.path.join(self.c.home, f"source-{self.number}-{self.random.getrandbits(40)}.png")
            with open(source, "wb") as file:
                file.write(data)
            params["path"] = source
            del params["data"]
        done: list[bool] = []

        def end(acknowledged: bool) -> None:
            if not done:
                done.append(True)
                self.c.ledger.end_store(operation, acknowledged)
                if source:
                    os.unlink(source)

        def handle(reply: Any) -> None:
            end("result" in reply)
            if "result" in reply:
                self.c.report.count("acked stores")
                self.hold(reply["result"]["path"], read, "store" if "lease" in options else "unleased store")
            else:
                self.c.report.breach("refusals", f"store of {name}: {reply['error']}")

        return self.sent("store", params, end), handle, lambda: end(False)

    def sent(self, method: str, params: Any, end: Callable[[bool], None]) -> int:
        try:
            return self.server.send(method, params)
        except Dead:
            # Noted as failed only when the process is dead for certain, which it now is: `Dead` waited for it.
            end(False)
            raise

    def removal(self, method: str, params: Any, names: list[str]) -> tuple[int, Handler, Callable[[], None]]:
        operation: Operation = self.c.ledger.begin_remove(names)
        done: list[bool] = []

        def end(acknowledged: bool) -> None:
            if not done:
                done.append(True)
                self.c.ledger.end_remove(operation, acknowledged)

        def handle(reply: Any) -> None:
            end("result" in reply)
            self.c.report.count(method)
            if "result" not in reply:
                self.c.report.breach("refusals", f"{method} {params}: {reply['error']}")

        return self.sent(method, params, end), handle, lambda: end(False)

    def download(self, name: str) -> tuple[int, Handler, Callable[[], None]]:
        cache, url = split(name)

        def handle(reply: Any) -> None:
            self.c.report.count("url reads")
            if "result" not in reply:
                self.c.report.breach("refusals", f"retrieve of {name}: {reply['error']}")
                return
            if "data" not in reply["result"]:
                self.c.report.breach("without data", f"both of {name}: {reply}")
                return
            self.check(inline(reply["result"]), name, None)

        return self.server.send("retrieve", {"url": url, "cache": cache, "as": "both"}), handle, lambda: None

    def reading(self, name: str) -> tuple[int, Handler, Callable[[], None]]:
        cache, key = split(name)
        read = self.c.ledger.begin_read(name)
        way = self.random.choice(("data", "path", "both", "isCached", "cachePath"))

        def handle(reply: Any) -> None:
            self.c.report.count("reads")
            if "result" not in reply:
                if reply["error"]["code"] == NOT_CACHED:
                    self.missing(read, way)
                else:
                    self.c.report.breach("refusals", f"{way} of {name}: {reply['error']}")
                return
            result = reply["result"]
            if way == "isCached":
                if not result["cached"]:
                    self.missing(read, way)
                return
            if way == "cachePath" and not result["exists"]:
                self.missing(read, way)
                return
            if way in ("data", "both") and "data" not in result:
                self.c.report.breach("without data", f"{way} of {name}: {reply}")
            if result.get("data"):
                data = inline(result)
                self.check(data, name, read)
                if len(data) != result["byteCount"]:
                    self.c.report.breach("wrong", f"{name}: {len(data)} bytes, said to be {result['byteCount']}")
            if result.get("path"):
                self.look(result["path"], read, way)
                self.hold(result["path"], read, way)

        if way in ("isCached", "cachePath"):
            return self.server.send(way, {"key": key, "cache": cache}), handle, lambda: None
        return self.server.send("retrieve", cached(key, way, cache=cache)), handle, lambda: None

    def hold(self, path: str, read: Read, way: str) -> None:
        """Looks at the path again in a while, within its lease."""
        if self.random.random() < 0.3 and not self.c.over.is_set():
            heapq.heappush(self.held, (time.monotonic() + self.random.random() * 5, path, way, read))

    # -- judging

    def look(self, path: str, read: Read, way: str) -> None:
        """Reads the file at a path that was handed out."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            # A path that `cachePath` tells is lent to nobody, nor is that of a store which asked for no lease.
            is_lent = self.c.has_leases and not way.startswith(("cachePath", "unleased"))
            lasts = self.c.keeps(read.key) or is_lent
            if lasts and "brief" not in read.key and self.c.ledger.is_untouched(read):
                self.c.report.breach("paths gone", f"{read.key}: {path} was given by {way}, and nobody removed it")
            else:
                self.c.report.count("paths gone after a removal")
            return
        self.c.report.count("files read")
        self.check(data, read.key, read)

    def check(self, data: bytes, name: str, read: Read | None) -> None:
        try:
            found = stamp(data)
        except NotWhole as error:
            self.c.report.breach("wrong", f"{name}: {error}")
            return
        if found.key != (split(name)[1] if "|http" in name else name):
            self.c.report.breach("wrong", f"{name}: the picture of {found.key} was served")
        elif read is not None and "|http" not in name:
            said = self.c.ledger.judge(read, found.version)
            if said:
                self.c.report.breach("old", said)

    def missing(self, read: Read, way: str) -> None:
        said = self.c.ledger.judge_missing(read)
        if said:
            self.c.report.breach("lost", f"{said} ({way}, worker {self.number})")


def kill(campaign: Campaign, workers: list[Worker]) -> None:
    """Kills a random process again and again."""
    dice = random.Random(campaign.options.seed)
    while not campaign.over.wait(dice.uniform(*campaign.options.pace)):
        victim = dice.choice(workers)
        if not victim.killed:
            victim.killed = True
            victim.server.kill()
            campaign.report.count("kills")


def sample(campaign: Campaign) -> None:
    """Looks at the size of the limited cache all the time."""
    with campaign.serve() as server:
        while not campaign.over.wait(0.02):
            disk = server.result("calculateSize")["disk"]
            campaign.report.count("size samples")
            if disk["bytes"] > campaign.options.limit:
                campaign.report.breach("over limit", f"{disk['bytes']} bytes of {campaign.options.limit}")


def finish(campaign: Campaign) -> None:
    """With nobody killed any more: everything is as it should be, in the eyes of every process."""
    report = campaign.report
    servers = [campaign.serve() for _ in range(campaign.options.processes)]
    judge = Worker(campaign, 0)
    for name in campaign.ledger.keys():
        cache, key = split(name)
        read = campaign.ledger.begin_read(name)
        seen = set()
        for server in servers:
            reply = server.ask("retrieve", cached(key, "both", cache=cache))
            if "result" in reply:
                data = inline(reply["result"])
                judge.check(data, name, read)
                with open(reply["result"]["path"], "rb") as file:
                    seen |= {data, file.read()}
            else:
                seen.add(b"")
                judge.missing(read, "at the end")
        if len(seen) > 1 and "brief" not in name:
            report.breach("differing", f"{name}: the processes see {len(seen)} different images at the end")
    ask_at_once(campaign, servers)
    judge.server.close()
    for server in servers:
        if server.close() != 0:
            report.breach("exit codes", "a process did not end with 0 at the end of its input")
    with campaign.serve() as server:
        for cache in campaign.caches:
            look_clean(campaign, server, cache)


def ask_at_once(campaign: Campaign, servers: list[Server]) -> None:
    """All processes want the same new URLs at the same time: each is fetched by one of them."""
    campaign.web.delay = 0.2
    urls, cache = [f"{campaign.web.base}/new-{number}" for number in range(10)], campaign.caches[0]
    sent = [(server, [server.send("retrieve", {"url": url, "cache": cache}) for url in urls]) for server in servers]
    for server, ids in sent:
        for reply in server.replies(ids).values():
            if "result" not in reply:
                campaign.report.breach("refusals", f"a new URL: {reply['error']}")
    hits = [campaign.web.hits[url[len(campaign.web.base) :]] for url in urls]
    campaign.report.count("upstream hits for 10 new URLs", sum(hits))
    most = len(servers) if campaign.options.fetch_each else 1
    if max(hits) > most:
        campaign.report.breach("fetched again", f"{len(servers)} processes fetched new URLs {hits} times")


def look_clean(campaign: Campaign, server: Server, cache: str) -> None:
    report, folder = campaign.report, os.path.join(campaign.folder, cache)
    if "verify" in campaign.known:
        server.result("verify", {"cache": cache})
        second = server.result("verify", {"cache": cache})
        if not second["clean"]:
            report.breach("unclean", f"{cache}: the second verify says {second}")
        left = partial(folder)
        if left:
            report.breach("leftovers", f"{cache}: {left[:5]} of {len(left)} in partial/ after verify")
    else:
        report.count("files in partial/ (there is no verify yet)", len(partial(folder)))
    disk = server.result("calculateSize", {"cache": cache})["disk"]
    # What was evicted while a path of it was lent out stays a file until the lease ends.
    said, walked = disk["bytes"] + disk.get("leasedBytes", 0), unique_bytes(folder)
    if said != walked:
        report.breach("sizes", f"{cache}: {said} bytes by the index, {walked} by a walk over the files")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=4, choices=range(2, 9), metavar="2..8")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--limit", type=int, default=600_000, help="disk limit of one of the caches; 0 for none")
    parser.add_argument("--only-limited", action="store_true", help="only the cache with the limit")
    parser.add_argument("--pace", type=float, nargs=2, default=(0.1, 0.3), help="seconds between two kills")
    parser.add_argument("--fetch-each", action="store_true", help="allow each process its own download of a URL")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    options = parser.parse_args()
    report = Report(f"{sys.argv[0]} --seconds {options.seconds:g} --processes {options.processes} --seed {options.seed}")
    home = fresh("kill")
    campaign = Campaign(options, report, home)
    workers = [Worker(campaign, number) for number in range(options.processes)]
    helpers = [threading.Thread(target=kill, args=(campaign, workers), daemon=True)]
    if campaign.has_limit:
        helpers.append(threading.Thread(target=sample, args=(campaign,), daemon=True))
    for thread in workers + helpers:
        thread.start()
    campaign.over.wait(options.seconds)
    campaign.over.set()
    for thread in workers + helpers:
        thread.join(120)
    for worker in workers:
        worker.server.close()
    try:
        finish(campaign)
    except (Dead, Hangs, AssertionError, OSError) as error:
        report.breach("broken end", repr(error))
    log = open(os.path.join(home, "server.log"), errors="replace").read().splitlines()
    report.count("lines in the log", len(log))
    for line in log[:5]:
        print("log:", line)
    campaign.web.close()
    code = report.close(f"kill, {options.processes} processes, {options.seconds:g} s, seed {options.seed}")
    if options.keep or code:
        print(f"the folder is {home}")
    else:
        drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
