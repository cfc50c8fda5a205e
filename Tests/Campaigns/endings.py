#!/usr/bin/env python3
"""Lets codec workers end in every way while others wait for them.

What holds: a picture that takes too long is refused within its time, and one whose worker is killed or stopped is made by
another; no other request fails.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

from campaign.report import Report
from campaign.server import ROOT, Dead, Hangs, Server, drop, fresh

SMALL = (ROOT / "Tests" / "Fixtures" / "png-rgb.png").as_uri()
LARGE = (ROOT / "Tests" / "Fixtures" / "jpeg-large.jpg").as_uri()


def slow_drawing(folder: str) -> str:
    """The URL of a drawing that takes minutes, in a decoder that does not look at the clock."""
    noise = "".join(f'<feTurbulence baseFrequency="0.0{n}" numOctaves="20"/>' for n in range(1, 41))
    path = Path(folder, "slow.svg")
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><filter id="f" x="0" y="0" width="1" height="1">'
        f'{noise}</filter><rect width="4000" height="4000" filter="url(#f)"/></svg>',
        encoding="ascii",
    )
    return path.as_uri()


class Work:
    """Requests that differ, so that each is processed."""

    def __init__(self) -> None:
        self._count = 0

    def params(self, url: str, **options: float) -> dict[str, object]:
        """The params of a ``retrieve`` that makes something of the picture that was not made before."""
        self._count += 1
        return {"url": url, "processors": [{"blur": {"radius": 1 + self._count / 1000}}], "options": options}


def workers(server: Server) -> list[int]:
    """The processes of the server's workers."""
    found: list[int] = []
    for children in Path(f"/proc/{server.process.pid}/task").glob("*/children"):
        try:
            found += map(int, children.read_text(encoding="ascii").split())
        except OSError:
            pass
    return found


def timeouts(server: Server, slow: str, work: Work, report: Report) -> None:
    """Drawings that take too long, one for each worker, with small pictures behind them."""
    begin = time.monotonic()
    bombs = [server.send("retrieve", work.params(slow, decodeSeconds=0.05)) for _ in range(2)]
    others = [server.send("retrieve", work.params(SMALL)) for _ in range(6)]
    answers = server.replies([*bombs, *others])
    seconds = time.monotonic() - begin
    for bomb in bombs:
        if answers[bomb].get("error", {}).get("data", {}).get("limit") != "decodeSeconds":
            report.breach("timeout", f"a drawing is answered with {answers[bomb]}")
    if seconds > 5:
        report.breach("time", f"a limit of 0.05 s took {seconds:.1f} s")
    judge([answers[number] for number in others], report)


def ends(server: Server, work: Work, chance: random.Random, report: Report) -> None:
    """A worker is killed or stopped at some moment of its work."""
    numbers = [server.send("retrieve", work.params(LARGE if n == 0 else SMALL)) for n in range(4)]
    time.sleep(chance.uniform(0, 0.03))
    how = chance.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV])
    for process in workers(server)[:1]:
        try:
            os.kill(process, how)
            report.count(f"workers given {how.name}")
        except ProcessLookupError:
            pass
    judge(list(server.replies(numbers).values()), report)


def judge(answers: list[dict[str, object]], report: Report) -> None:
    """Each of the pictures is made."""
    for answer in answers:
        report.count("innocent requests")
        if "result" not in answer:
            report.breach("innocent", f"{answer.get('error')}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true", help="15 rounds")
    options = parser.parse_args()
    rounds = 15 if options.short else options.rounds
    report = Report(f"{sys.argv[0]} --seed {options.seed} --rounds {rounds}")
    chance = random.Random(options.seed)
    folder = fresh("endings")
    work = Work()
    try:
        slow = slow_drawing(folder)
        with Server(os.path.join(folder, "cache")) as server:
            for _ in range(rounds):
                timeouts(server, slow, work, report)
                ends(server, work, chance, report)
    except (Dead, Hangs) as error:
        report.breach("server", str(error))
    finally:
        drop(folder)
    return report.close("endings")


if __name__ == "__main__":
    sys.exit(main())
