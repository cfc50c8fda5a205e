"""When a server may be started again: at once after a death, later and later when one after the other dies young."""

from __future__ import annotations

import time
from typing import Callable

from .errors import ServerGone

LASTING_SECONDS = 10.0
"""A server that ran for this long is no failure of the start, however it ended."""
FREE_DEATHS = 3
"""How many servers may die young, one after the other, before the next start has to wait."""
LONGEST_WAIT = 60.0
"""The most seconds between a death and the next start."""


class Lives:
    """The lives of the servers of one client: how many have died young, and when the last one did.

    After FREE_DEATHS the next start has to wait a second, then two, then four, up to LONGEST_WAIT.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._born = clock()
        self._died = self._born
        self.young_deaths = 0
        """How many servers died young since one did not."""

    def begin(self) -> None:
        """A server was started."""
        self._born = self._clock()

    def end(self) -> None:
        """That server was found to have ended."""
        self._died = self._clock()
        is_young = self._died - self._born < LASTING_SECONDS
        self.young_deaths = self.young_deaths + 1 if is_young else 0

    def wait(self) -> float:
        """The seconds until another may be started; 0 for at once."""
        if self.young_deaths <= FREE_DEATHS:
            return 0.0
        pause = min(LONGEST_WAIT, 2.0 ** min(10, self.young_deaths - FREE_DEATHS - 1))
        return max(0.0, self._died + pause - self._clock())

    def check(self, gone: ServerGone) -> None:
        """Raises ServerGone, with the end that `gone` tells of, when the next start has to wait."""
        wait = self.wait()
        if wait > 0:
            message = "%s\nIt is the %dth in a row that ended within %g seconds; another may be started in %.1f s." % (
                *(gone.message, self.young_deaths, LASTING_SECONDS, wait),
            )
            raise ServerGone(message, {**gone.data, "retryAfter": round(wait, 3)})
