#!/usr/bin/env python3
"""Asks `explain` and then the real request of the same thing, by the thousand, before a scripted web server.

What holds: `retrieve` does what `explain` says, as seen from outside: the answer, its flags, and what its server was asked;
`explain` changes nothing and asks nobody; `retrieve`, `probe` and `prefetch` never take an image for one with the bytes that
`integrity` names when it is not.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Sequence

from campaign.decision_case import Case, by_chance
from campaign.decision_judge import Breach, judge, summary
from campaign.decision_round import Outcome, Round
from campaign.origin import Origin
from campaign.report import Report
from campaign.server import drop, fresh

#: How many cases are asked of one server together.
TOGETHER = 100
#: Of so many cases one is asked once more at another URL without `explain`, and must do the same.
TWINS = 4


class Campaign:
    """The web server, the cases, and what is wrong with them."""

    def __init__(self, report: Report, home: str, most: int) -> None:
        self.report, self._home = report, home
        #: How many breaches of each kind are made smaller.
        self._most = most
        self.origin = Origin()
        self._rounds = 0
        #: The classes of breaches so far: the kind of each and what the smallest case of it is.
        self.classes: dict[tuple[str, str], tuple[Case, str]] = {}

    def run(self, cases: Sequence[tuple[Case, bool]]) -> list[Outcome]:
        """What comes of the cases, in their order."""
        found: dict[int, Outcome] = {}
        for restarts in (False, True):
            numbers = [number for number, (case, _) in enumerate(cases) if case.restarted == restarts]
            if numbers:
                self._rounds += 1
                asked = Round(self.origin, self._home, self._rounds)
                found.update(zip(numbers, asked.run([cases[number] for number in numbers], restarts)))
        return [found[number] for number in range(len(cases))]

    def judge(self, seeds: Sequence[int]) -> None:
        """Asks the cases of the seeds, and reports what is wrong."""
        cases = [(by_chance(seed), True) for seed in seeds]
        twins = [number for number, seed in enumerate(seeds) if seed % TWINS == 0]
        outcomes = self.run(cases + [(cases[number][0], False) for number in twins])
        for seed, outcome in zip(seeds, outcomes):
            self.report.count("cases")
            for breach in judge(outcome):
                self._breach(seed, outcome, breach)
        for number, twin in zip(twins, outcomes[len(cases) :]):
            self.report.count("twins")
            if summary(twin) != summary(outcomes[number]):
                text = f"without explain: {summary(twin)}; after it: {summary(outcomes[number])}"
                self._note(seeds[number], outcomes[number], Breach("explain changes", text))

    def _breach(self, seed: int, outcome: Outcome, breach: Breach) -> None:
        known = [case for (kind, _), (case, _) in self.classes.items() if kind == breach.kind]
        if any(map(outcome.case.contains, known)):
            # It has been reported, as the smaller case.
            return self.report.count(breach.kind)
        if len(known) < self._most:
            outcome, breach = self._smallest(outcome, breach)
        self._note(seed, outcome, breach)

    def _note(self, seed: int, outcome: Outcome, breach: Breach) -> None:
        words = outcome.case.words()
        if (breach.kind, words) not in self.classes:
            self.classes[breach.kind, words] = outcome.case, f"{breach.text}\n    {outcome.lines()}"
        text = f"seed {seed}: {breach.text}\n    {words}\n    {outcome.lines()}"
        self.report.breach(breach.kind, text)

    def _smallest(self, outcome: Outcome, breach: Breach) -> tuple[Outcome, Breach]:
        """The same breach with as little as possible."""
        while True:
            tried = list(outcome.case.smaller())
            for smaller in self.run([(case, True) for case in tried]) if tried else []:
                same = [other for other in judge(smaller) if other.kind == breach.kind]
                if same:
                    outcome, breach = smaller, same[0]
                    break
            else:
                return outcome, breach


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20_000, help="how many cases")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--short", action="store_true", help="1,500 cases, and few are made smaller")
    parser.add_argument("--classes", action="store_true", help="list the smallest case of each kind at the end")
    options = parser.parse_args()
    count = min(options.seeds, 1_500) if options.short else options.seeds
    report = Report(f"{sys.argv[0]} --seeds {count} --first {options.first}")
    home = fresh("decisions")
    began = time.monotonic()
    campaign = Campaign(report, home, most=1 if options.short else 10_000)
    try:
        seeds = range(options.first, options.first + count)
        for start in range(0, count, TOGETHER):
            campaign.judge(seeds[start : start + TOGETHER])
        if options.classes:
            for (kind, words), (_, text) in sorted(campaign.classes.items()):
                print(f"CLASS {kind}: {words}\n    {text}")
        print(f"decisions: {time.monotonic() - began:.1f} s", flush=True)
        return report.close("decisions")
    finally:
        campaign.origin.close()
        drop(home)


if __name__ == "__main__":
    sys.exit(main())
