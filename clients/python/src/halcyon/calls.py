"""A call that was sent and may not have been answered yet."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, Generic, List, Optional, TypeVar

from .errors import CallTimedOut
from .notices import Progress, progress_from_wire

if TYPE_CHECKING:
    from .transport import Transport

T = TypeVar("T")

ProgressCallback = Callable[[Progress], object]
"""Called with each report about a running call, at most about 10 times a second."""


class Awaited:
    """Something that threads wait for: it gets reports, and may be finished one day."""

    __slots__ = ("_reports", "_wakers", "_finished")

    def __init__(self, reports: Optional[Deque[Any]]) -> None:
        self._reports = reports
        self._wakers: Optional[List[threading.Event]] = None
        self._finished = False

    def _report(self, value: Any) -> None:
        if self._reports is not None and isinstance(value, dict):
            self._reports.append(value)
            self._wake()

    def _end(self) -> None:
        self._finished = True
        self._wake()

    def _wake(self) -> None:
        wakers = self._wakers
        if wakers:
            for waker in tuple(wakers):
                waker.set()


class PendingCall(Awaited, Generic[T]):
    """One call on its way, made by `Client.submit`.

    There is no thread behind it: answers are read while some thread waits for any call of the
    same client, or asks `done()`. Any number of threads may use one PendingCall.
    """

    __slots__ = (
        "id",
        "method",
        "_transport",
        "_decode",
        "_on_progress",
        "_value",
        "_error",
    )

    def __init__(
        self,
        identifier: int,
        method: str,
        transport: "Transport",
        decode: Optional[Callable[[Any], T]],
        on_progress: Optional[ProgressCallback],
    ) -> None:
        super().__init__(None if on_progress is None else deque())
        self.id = identifier
        self.method = method
        self._transport = transport
        self._decode = decode
        self._on_progress = on_progress
        self._value: Any = None
        self._error: Optional[BaseException] = None

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits for the answer and returns it, or raises the error the server answered.

        `timeout` is in seconds. When it passes, CallTimedOut is raised and the call goes on:
        wait again, or `cancel()` it. The progress callback runs in here, and what it raises
        comes out of here.
        """
        if not self._finished or self._reports:
            if not self._transport.wait(self, timeout):
                raise CallTimedOut(
                    "%s was not answered within %g seconds." % (self.method, timeout or 0)
                )
        if self._error is not None:
            raise self._error
        value: T = self._value if self._decode is None else self._decode(self._value)
        return value

    def done(self) -> bool:
        """True when the answer is here. Never waits; reads what has already arrived."""
        if not self._finished:
            self._transport.read_what_is_there()
        return self._finished

    def cancel(self) -> bool:
        """Asks the server to give up the call; `result()` then raises RequestCancelled.

        Returns False when the answer was already here. A call that is answered before the server
        reads the wish keeps its answer.
        """
        if self.done():
            return False
        self._transport.cancel(self.id)
        return True

    # The methods below are for the client and its transport.

    def cancel_if_open(self) -> None:
        """Cancels a call nobody waits for any more; does nothing when its answer is here."""
        if not self._finished:
            self.cancel()

    def _deliver_reports(self) -> None:
        reports, listener = self._reports, self._on_progress
        while reports:
            try:
                report = reports.popleft()
            except IndexError:  # another thread that waits for this call took it
                return
            if listener is not None:
                listener(progress_from_wire(report))

    def _finish(self, value: Any, error: Optional[BaseException]) -> None:
        self._value = value
        self._error = error
        self._end()


class EventInbox(Awaited):
    """A queue of the notifications that belong to no call; the oldest are dropped when it is full."""

    __slots__ = ()

    LIMIT = 1024
    """The largest number of queued notifications."""

    def __init__(self) -> None:
        super().__init__(deque(maxlen=self.LIMIT))

    def take(self) -> Any:
        """The oldest one, or None."""
        try:
            return self._reports.popleft() if self._reports else None
        except IndexError:  # another thread took it
            return None

    def withdraw(self, identifier: Any) -> None:
        """Takes out the message with that id, if it still waits."""
        waiting = self._reports
        for message in tuple(waiting or ()):
            if waiting is not None and message.get("id") == identifier:
                try:
                    waiting.remove(message)
                except ValueError:  # another thread took it
                    pass
