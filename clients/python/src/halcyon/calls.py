"""Calls that were sent and may not have been answered yet."""

from __future__ import annotations

import concurrent.futures
import operator
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Deque, Generic, List, Optional, TypeVar

from .errors import CallCancelled, CallTimedOut
from .locks import deadline_in, wake
from .notices import Progress, progress_from_wire

if TYPE_CHECKING:
    from .incoming import Incoming
    from .transport import Transport

T = TypeVar("T")

ProgressCallback = Callable[[Progress], object]
"""Called with each report about a running call, at most about 10 times a second."""


class Awaited:
    """Something that threads wait for: it gets reports, and may be finished one day."""

    __slots__ = ("_reports", "_wakers", "_finished")

    def __init__(self, reports: Optional[Deque[Any]]) -> None:
        self._reports = reports
        self._wakers: Optional[List[Any]] = None  # locks that sleeping threads wait for
        self._finished = False

    @property
    def may_be_given_up(self) -> bool:
        """True when another thread than the one that waits may finish it."""
        return False

    def _report(self, value: Any) -> None:
        if self._reports is not None:
            self._reports.append(value)
            self._wake()

    def _end(self) -> None:
        self._finished = True
        self._wake()

    def _wake(self) -> None:
        wakers = self._wakers
        if wakers:
            for waker in tuple(wakers):
                wake(waker)


class Call(Awaited, Generic[T]):
    """One request on its way.

    There is no thread behind it: answers are read while some thread waits for any call of the
    same server. Any number of threads may wait for one Call.
    """

    __slots__ = ("id", "method", "error", "future", "_transport", "_decode", "_on_progress", "_value")

    def __init__(
        self,
        identifier: int,
        method: str,
        transport: "Transport",
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback],
    ) -> None:
        super().__init__(None if on_progress is None else deque())
        self.id = identifier
        self.method = method
        self.error: Optional[BaseException] = None
        self.future: Optional["PendingCall[T]"] = None
        """What is told by a thread of the transport that there is an answer or a report."""
        self._transport = transport
        self._decode = decode
        self._on_progress = on_progress
        self._value: Any = None

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits for the answer and returns it, or raises the error the server answered.

        `timeout` is in seconds. When it passes, CallTimedOut is raised and the call goes on. The
        progress callback runs in here, and what it raises comes out of here.
        """
        if not self.wait_until(deadline_in(timeout)):
            raise CallTimedOut.after(self.method, timeout)
        if self.error is not None:
            raise self.error
        return self._decode(self._value)

    def wait_until(self, deadline: Optional[float]) -> bool:
        """Waits for the answer; False when `deadline`, a time of `time.monotonic`, passes first."""
        return self._finished and not self._reports or self._transport.wait(self, deadline)

    @property
    def may_be_given_up(self) -> bool:
        """True when it has a future, whose `cancel` finishes it."""
        return self.future is not None

    @property
    def is_finished(self) -> bool:
        """True when the answer is here."""
        return self._finished

    def cancel_if_open(self) -> None:
        """Cancels a call nobody waits for any more; does nothing when its answer is here."""
        if not self._finished:
            self._transport.read_what_is_there()
        if not self._finished:
            self._transport.forget(self)

    def give_up(self, error: BaseException) -> None:
        """Finishes the call with that error, and asks the server to cancel it."""
        self._transport.forget(self)
        self._finish(None, error)

    def deliver_reports(self) -> None:
        """Calls the progress callback with what was reported since."""
        reports, listener = self._reports, self._on_progress
        while reports:
            try:
                report = reports.popleft()
            except IndexError:  # another thread that waits for this call took it
                return
            if listener is not None:
                listener(progress_from_wire(report))

    def _report(self, value: Any) -> None:
        if isinstance(value, dict):
            super()._report(value)
            if self.future is not None:
                self._transport.settled(self.future)

    def _finish(self, value: Any, error: Optional[BaseException]) -> None:
        self._value = value
        self.error = error
        self._end()
        if self.future is not None:
            self._transport.settled(self.future)


class _Condition(threading.Condition):
    """A condition that Ctrl-C does not leave taken.

    `with` finds these properties, and calls what they give, within C: that is its lock's own
    beginning and end, where those of `threading.Condition` are functions in Python.
    """

    __enter__ = property(operator.attrgetter("_lock.__enter__"))  # type: ignore[assignment]
    __exit__ = property(operator.attrgetter("_lock.__exit__"))  # type: ignore[assignment]


class PendingCall(concurrent.futures.Future[T]):
    """One call on its way, made by `Client.submit`: a future like those of `concurrent.futures`.

    It works with `concurrent.futures.wait` and `as_completed`, and with `asyncio.wrap_future`. A
    thread of the client, which lives while there are such calls, completes it and calls the
    callbacks of `add_done_callback` and of `progress=`; a thread that waits in `result` may do so
    instead. Any number of threads may use one PendingCall.
    """

    def __init__(self, call: Call[T], transport: "Transport") -> None:
        super().__init__()
        self._condition = _Condition()
        self.id = call.id
        """The id of the request."""
        self.method = call.method
        """The method that was called."""
        self._call = call
        self._transport = transport
        self._is_cancelling = threading.Lock()

    def result(self, timeout: Optional[float] = None) -> T:
        """Waits for the answer and returns it, or raises the error the server answered.

        `timeout` is in seconds. When it passes, CallTimedOut, which is a TimeoutError, is raised
        and the call goes on: wait again, or `cancel()` it. Raises CallCancelled, which is both
        RequestCancelled and `concurrent.futures.CancelledError`, after `cancel()`.
        """
        self._await(timeout)
        try:
            return super().result(0)
        except concurrent.futures.CancelledError:
            raise CallCancelled("The call of %s was cancelled." % self.method) from None

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        """Waits for the answer and returns the error the server answered, or None; as `result`."""
        self._await(timeout)
        try:
            return super().exception(0)
        except concurrent.futures.CancelledError:
            raise CallCancelled("The call of %s was cancelled." % self.method) from None

    def done(self) -> bool:
        """True when the answer is here, or the call was cancelled. Never waits."""
        if not super().done():
            self._transport.read_what_is_there()
            self.settle()
        return super().done()

    def cancel(self) -> bool:
        """Gives the call up, and asks the server to do so; False when the answer was already here."""
        self.done()
        if not super().cancel():
            return False
        if self._is_cancelling.acquire(False):
            self.set_running_or_notify_cancel()  # tells those that wait for one of several futures
            self._call.give_up(CallCancelled("The call of %s was cancelled." % self.method))
        return True

    def settle(self) -> None:
        """Delivers the reports that came, and completes the future if the answer is here."""
        try:
            self._call.deliver_reports()
            if not self._call.is_finished or super().done():
                return
            result = self._call.result(0)
        except Exception as error:  # not Ctrl-C, which comes out, and spares the future
            self.fail(error)
            return
        try:
            self.set_result(result)
        except concurrent.futures.InvalidStateError:  # another thread was faster, or cancelled it
            pass

    def fail(self, error: BaseException) -> None:
        """Completes the future with that error, and gives the call up."""
        try:
            self.set_exception(error)
        except concurrent.futures.InvalidStateError:
            return
        if not self._call.is_finished:  # what failed is the progress callback
            self._call.give_up(error)

    def _await(self, timeout: Optional[float]) -> None:
        if super().done():
            return
        deadline = deadline_in(timeout)
        try:
            in_time = self._call.wait_until(deadline)
        except Exception as error:  # of the progress callback
            self.fail(error)
        else:
            if not in_time:
                raise CallTimedOut.after(self.method, timeout)
        self.settle()


class Inbox(Awaited):
    """A queue of what threads wait for; the oldest are dropped when more than `limit` are in it."""

    __slots__ = ()

    LIMIT = 1024
    """The largest number of queued notifications."""

    def __init__(self, limit: Optional[int] = LIMIT) -> None:
        super().__init__(deque(maxlen=limit))

    def receive(self, message: Any, incoming: "Incoming") -> None:
        """Takes over the message in the first line that was read."""
        incoming.hand_over(message, self._reports)
        self._wake()

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
