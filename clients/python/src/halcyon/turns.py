"""The choice of the thread that reads the pipe, when many threads wait for answers."""

from __future__ import annotations

import enum
import threading
import time
from typing import Any, Dict, Optional

from .calls import Awaited


class Woken(enum.Enum):
    """Why a thread that slept beside the reader goes on."""

    BY_NEWS = 1
    TO_READ = 2
    LATE = 3


class ReadingTurn:
    """One lock that the reading thread holds, and the threads that sleep until it is theirs.

    Whoever ends its turn wakes one sleeper, and so does a sleeper that leaves without having
    taken the turn: as long as anybody waits, somebody reads.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._state = threading.Lock()
        self._sleepers: Dict[threading.Event, None] = {}

    def end(self) -> None:
        """Gives the turn, which the caller holds, to another."""
        self.lock.release()
        if self._sleepers:
            self._wake_one()

    def await_news_of(self, call: Awaited, deadline: Optional[float]) -> Woken:
        """Sleeps until there is news of `call` or it is this thread's turn to read."""
        waker = threading.Event()
        with self._state:
            self._sleepers[waker] = None
            if call._wakers is None:
                call._wakers = []
            call._wakers.append(waker)
        woken = Woken.BY_NEWS
        try:
            # Looked at after the waker is known: what happens from here on sets it.
            while not (call._finished or call._reports):
                if self.lock.acquire(False):
                    woken = Woken.TO_READ
                    break
                if not waker.wait(None if deadline is None else deadline - time.monotonic()):
                    woken = Woken.LATE
                    break
                waker.clear()
        finally:
            with self._state:
                self._sleepers.pop(waker, None)
                call._wakers.remove(waker)
            if woken is not Woken.TO_READ and self._sleepers:
                self._wake_one()  # the wake-up may have been this thread's turn to read
        return woken

    def _wake_one(self) -> None:
        if not self.lock.locked():
            with self._state:
                for waker in self._sleepers:
                    waker.set()
                    return
