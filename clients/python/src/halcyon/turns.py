"""The choice of the thread that reads the pipe, when many threads wait for answers."""

from __future__ import annotations

import threading
from typing import Any, Dict, Optional

from .calls import Awaited
from .locks import seconds_until, wake

_LONGEST_SLEEP = 1.0  # seconds; then a sleeper looks by itself, as Ctrl-C may have swallowed its wake-up


class ReadingTurn:
    """One lock that the reading thread holds, and the threads that sleep until it is theirs.

    Whoever gives the lock back wakes one sleeper, and so does a sleeper that leaves without
    having read: as long as anybody waits, somebody reads.
    """

    def __init__(self) -> None:
        self.renew_locks()

    def renew_locks(self) -> None:
        """Makes the locks anew: in a forked child no thread gives the old ones back.

        A signal handler may fork, so whoever takes a lock gives back that very one.
        """
        self.lock = threading.Lock()
        self._sleepers: Dict[Any, None] = {}
        self._state = threading.RLock()  # a signal handler or a __del__ may come in here too

    def sleep(self, call: Awaited, deadline: Optional[float]) -> bool:
        """Sleeps until there may be news of `call` or nobody reads; False when it is too late."""
        waker = threading.Lock()
        waker.acquire()
        is_leaving = True
        try:
            with self._state:
                self._sleepers[waker] = None
                if call._wakers is None:
                    call._wakers = []
                call._wakers.append(waker)
            # Looked at after the waker is known: what happens from here on opens it.
            if self.lock.locked() and not (call._finished or call._reports):
                left = seconds_until(deadline)
                if left == 0:
                    return False
                waker.acquire(True, _LONGEST_SLEEP if left < 0 else min(left, _LONGEST_SLEEP))
            is_leaving = False
            return True
        finally:
            with self._state:
                self._sleepers.pop(waker, None)
                if call._wakers and waker in call._wakers:
                    call._wakers.remove(waker)
            # What woke this thread may have been its turn to read, which it does not need. Looked
            # at after the waker has gone: a turn that comes from here on comes to another.
            if (is_leaving or call._finished or call._reports) and not self.lock.locked():
                self.pass_on()

    def pass_on(self) -> None:
        """Wakes the thread that sleeps longest; called when the lock was given back."""
        if self._sleepers:
            with self._state:
                for waker in self._sleepers:
                    return wake(waker)
