"""The thread that completes futures; a connection has it only while futures are open."""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional, Set

from .calls import Inbox, PendingCall
from .errors import ServerGone

NextOf = Callable[[Inbox, Optional[float]], Any]
"""Waits so many seconds for the next one of an inbox. Raises ServerGone when there will be none.

It is not kept: it belongs to the connection, which would not end when it is forgotten.
"""


class Settler:
    """Completes the open futures of one connection, each when the inbox has it, as there is news of it."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self.futures: Set[PendingCall[Any]] = set()
        """Those that are open."""
        self._thread: Optional[threading.Thread] = None
        self.renew_locks()

    def renew_locks(self) -> None:
        """Makes the locks anew: in a forked child no thread gives the old ones back."""
        self._submitting = threading.RLock()  # a signal handler may submit too
        self._thread = None

    def add(self, future: PendingCall[Any], next_of: NextOf) -> None:
        """Completes this future too, from now on."""
        with self._submitting:
            self.futures.add(future)
            if self._thread is None:
                threading.Thread(
                    target=self._run, args=(next_of,), name="halcyon answers", daemon=True
                ).start()

    def discard(self, future: PendingCall[Any]) -> None:
        """Leaves a future alone that was not sent; the thread ends if it was the last one."""
        self.futures.discard(future)
        self._inbox._report(future)

    def _run(self, next_of: NextOf) -> None:
        # Noted by the thread itself: Ctrl-C may come between the start and whatever follows it.
        with self._submitting:
            if self._thread is not None:
                return
            self._thread = threading.current_thread()
        while True:
            with self._submitting:
                if not self.futures:
                    self._thread = None
                    return
            try:
                future = next_of(self._inbox, None)
            except ServerGone:
                with self._submitting:
                    self._thread = None
                return
            try:
                future.settle()
            except BaseException as error:  # SystemExit of a callback: this thread goes on for the others
                future.fail(error)
            if future.done():
                self.futures.discard(future)
