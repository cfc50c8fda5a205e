#!/usr/bin/env python3
"""Damages a cache from outside in every way, under running and restarted servers.

What holds: no wrong byte is served as data; a path that is handed out names a file that is what was stored; what was
damaged is a miss that heals with the next store; nothing outside the cache is written; and no server dies or hangs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from typing import Any, Callable

from campaign.blob_damage import mutate
from campaign.cut_damage import cut
from campaign.damaged_cache import DamagedCache
from campaign.folder_damage import leftovers, pull_away, race_first, restore_older
from campaign.index_damage import damage_index
from campaign.index_mutations import mutate_index
from campaign.memory_damage import cut_memory
from campaign.pictures import picture
from campaign.report import Report
from campaign.server import drop, fresh


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer of each")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--only", default="", help="parts whose names contain this")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    options = parser.parse_args()
    report = Report(f"{sys.argv[0]} --seed {options.seed}" + (" --short" if options.short else ""))
    home = fresh("damage")
    damaged = DamagedCache(options, report, home)
    short = options.short
    parts: dict[str, Callable[[], Any]] = {
        "mutations": lambda: mutate(damaged, 60 if short else 1000),
        "index": lambda: damage_index(damaged, 16_384 if short else 512),
        "changes": lambda: mutate_index(damaged, 25 if short else 1000),
        "older": lambda: restore_older(damaged),
        "away": lambda: pull_away(damaged),
        "cut": lambda: cut(damaged, 3 if short else 60),
        "memory": lambda: cut_memory(damaged, 20 if short else 120),
        "race": lambda: race_first(damaged, 16, 1 if short else 10),
        "leftovers": lambda: leftovers(damaged, 1000),
    }
    with open(os.path.join(home, "victim.png"), "wb") as file:
        file.write(picture("victim", 1, 1000))
    for name, part in parts.items():
        if options.only in name:
            began = time.monotonic()
            try:
                part()
            except Exception as error:  # One part that fails must not hide the others.
                damaged.breach("failed campaign", f"{name}: {error!r}")
            print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    code = report.close(f"damage, seed {options.seed}")
    if not options.keep:
        drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
