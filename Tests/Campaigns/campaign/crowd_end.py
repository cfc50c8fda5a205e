"""What must be so once nobody of a crowd is killed any more."""

from __future__ import annotations

import os
import random

from .crowd import Crowd, split
from .crowd_judge import Judge
from .folder import left_over, partial, unique_bytes
from .server import Server, cached, inline


def finish(crowd: Crowd) -> None:
    """With nobody killed any more: everything is as it should be, in the eyes of every process."""
    report = crowd.report
    servers = [crowd.serve() for _ in range(crowd.options.processes)]
    judge = Judge(crowd, 0, random.Random(crowd.options.seed))
    for name in crowd.ledger.keys():
        cache, key = split(name)
        read = crowd.ledger.begin_read(name)
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
    ask_at_once(crowd, servers)
    for server in servers:
        if server.close() != 0:
            report.breach("exit codes", "a process did not end with 0 at the end of its input")
    with crowd.serve() as server:
        for cache in crowd.caches:
            look_clean(crowd, server, cache)


def ask_at_once(crowd: Crowd, servers: list[Server]) -> None:
    """All processes want the same new URLs at the same time: each is fetched by one of them."""
    crowd.web.delay = 0.2
    urls, cache = [f"{crowd.web.base}/new-{number}" for number in range(10)], crowd.caches[0]
    sent = [(server, [server.send("retrieve", {"url": url, "cache": cache}) for url in urls]) for server in servers]
    for server, ids in sent:
        for reply in server.replies(ids).values():
            if "result" not in reply:
                crowd.report.breach("refusals", f"a new URL: {reply['error']}")
    hits = [crowd.web.hits[url[len(crowd.web.base) :]] for url in urls]
    crowd.report.count("upstream hits for 10 new URLs", sum(hits))
    most = len(servers) if crowd.options.fetch_each else 1
    if max(hits) > most:
        crowd.report.breach("fetched again", f"{len(servers)} processes fetched new URLs {hits} times")


def look_clean(crowd: Crowd, server: Server, cache: str) -> None:
    report, folder = crowd.report, os.path.join(crowd.folder, cache)
    if "verify" in crowd.known:
        server.result("verify", {"cache": cache})
        second = server.result("verify", {"cache": cache})
        if not second["clean"]:
            report.breach("unclean", f"{cache}: the second verify says {second}")
        left = left_over(folder)
        if left:
            report.breach("leftovers", f"{cache}: {left[:5]} of {len(left)} in partial/ after verify")
    else:
        report.count("files in partial/ (there is no verify yet)", len(partial(folder)))
    disk = server.result("calculateSize", {"cache": cache})["disk"]
    # What was evicted or replaced while a path of it was lent out stays a file until the lease ends; when an entry shares
    # its bytes, it counts once more.
    leased, walked = disk.get("leasedBytes", 0), unique_bytes(folder)
    said = disk["byteCount"] + leased
    if not walked <= said <= walked + leased:
        report.breach("sizes", f"{cache}: {said} bytes by the index, {walked} by a walk over the files")
