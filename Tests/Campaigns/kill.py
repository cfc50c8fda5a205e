#!/usr/bin/env python3
"""Many real processes on one cache folder, killed at random all the time.

What holds, whoever is killed when: an acknowledged store is not lost; every byte that is served is of a whole picture
of its key, of a version that may be there; the disk limit holds; at the end `verify` is clean and nothing is left over.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading

from campaign.crowd import Crowd
from campaign.crowd_end import finish
from campaign.crowd_worker import Worker
from campaign.report import Report
from campaign.server import Dead, Hangs, drop, fresh


def kill(crowd: Crowd, workers: list[Worker]) -> None:
    """Kills a random process again and again."""
    dice = random.Random(crowd.options.seed)
    while not crowd.over.wait(dice.uniform(*crowd.options.pace)):
        victim = dice.choice(workers)
        if not victim.killed:
            victim.killed = True
            victim.server.kill()
            crowd.report.count("kills")


def sample(crowd: Crowd) -> None:
    """Looks at the size of the limited cache all the time."""
    with crowd.serve() as server:
        while not crowd.over.wait(0.02):
            disk = server.result("calculateSize")["disk"]
            crowd.report.count("size samples")
            if disk["byteCount"] > crowd.options.limit:
                crowd.report.breach("over limit", f"{disk['bytes']} bytes of {crowd.options.limit}")


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
    crowd = Crowd(options, report, home)
    workers = [Worker(crowd, number) for number in range(options.processes)]
    helpers = [threading.Thread(target=kill, args=(crowd, workers), daemon=True)]
    if crowd.has_limit:
        helpers.append(threading.Thread(target=sample, args=(crowd,), daemon=True))
    for thread in workers + helpers:
        thread.start()
    crowd.over.wait(options.seconds)
    crowd.over.set()
    for thread in workers + helpers:
        thread.join(120)
    for worker in workers:
        worker.server.close()
    try:
        finish(crowd)
    except (Dead, Hangs, AssertionError, OSError) as error:
        report.breach("broken end", repr(error))
    log = open(os.path.join(home, "server.log"), errors="replace").read().splitlines()
    report.count("lines in the log", len(log))
    for line in log[:5]:
        print("log:", line)
    crowd.web.close()
    code = report.close(f"kill, {options.processes} processes, {options.seconds:g} s, seed {options.seed}")
    if options.keep or code:
        print(f"the folder is {home}")
    else:
        drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
