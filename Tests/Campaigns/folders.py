#!/usr/bin/env python3
"""Folders that cannot be read, that are another's, and that others hold.

What holds: nothing is said to be absent, empty or done that is not; an error is 40000 with a hint that fits its cause; no
wait is longer than its bound; and once the way is free all is there again.
"""

from __future__ import annotations

import argparse
import os
import sys

from campaign.locks import locks
from campaign.nobody import Skipped
from campaign.report import Report
from campaign.server import Dead, Hangs, drop, fresh
from campaign.strangers import strangers
from campaign.unreadable import unreadable
from campaign.want import want


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="leave out what waits for locks to be given up")
    parser.add_argument("--only", default="", help="stages whose names contain this")
    options = parser.parse_args()
    report = Report(sys.argv[0] + (" --short" if options.short else ""))
    home = fresh("folders")
    os.chmod(home, 0o755)
    for stage in (unreadable, strangers, locks, want):
        if options.only not in stage.__name__:
            continue
        place = os.path.join(home, stage.__name__)
        os.mkdir(place)
        try:
            stage(place, report, options.short)
            report.count("stages")
        except Skipped as reason:
            print(f"{stage.__name__}: skipped, {reason}", flush=True)
        except (Dead, Hangs, AssertionError, OSError, KeyError) as error:
            report.breach("stages failed", f"{stage.__name__}: {error!r}")
    code = report.close("folders")
    drop(home)
    return code


if __name__ == "__main__":
    sys.exit(main())
