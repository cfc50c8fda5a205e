"""Locks that Ctrl-C does not leave taken, and threads that sleep until they are woken."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, List, Optional


def deadline_in(
    seconds: Optional[float], now: Callable[[], float] = time.monotonic
) -> Optional[float]:
    """The time at which a `timeout=` passes; None when it is None. Raises ValueError for NaN."""
    if seconds is None:
        return None
    if seconds != seconds:  # it compares as neither past nor future: nothing would ever be late
        raise ValueError("A timeout is a number of seconds, and NaN is none.")
    return now() + seconds


def seconds_until(deadline: Optional[float]) -> float:
    """The time that is left, as the seconds that a lock is waited for; -1 when there is no deadline."""
    if deadline is None:
        return -1.0
    return min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)


def take(lock: Any, mine: List[bool], seconds: float = 0.0) -> bool:
    """Takes a lock unless `seconds` pass first; a negative number waits for ever.

    `mine`, an empty list, becomes [True] when the lock is taken, within one call into C. Python
    looks for Ctrl-C where a function begins, where a loop goes back, and after each call into C,
    but not inside one. So it cannot come between the two, and a `finally` that begins with
    `if mine == [True]: lock.release()` always gives the lock back.
    """
    mine.extend(map(lock.acquire, (True,), (seconds,)))
    return mine == [True]


def wake(waker: Any) -> None:
    """Opens a lock that a sleeping thread waits for."""
    try:
        waker.release()
    except RuntimeError:  # it was open already
        pass
