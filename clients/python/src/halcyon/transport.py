"""The connection of the synchronous client to one server: many threads, one pipe each way.

Whoever waits for an answer and finds nobody reading reads the pipe itself, and hands every answer
it meets to the call it belongs to. A thread that waits alone therefore gets its answer without a
switch of threads. When the reader has what it wanted, it wakes one of the others to read on. The
connection has threads of its own only while futures are open, and when there are delegates.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any, Callable, List, Optional, Sequence, TypeVar

from .calls import Call, Inbox, PendingCall, ProgressCallback
from .delegates import Delegates, failure_frame, params_of, result_frame
from .errors import HalcyonError, ServerGone
from .failures import NotSent
from .framing import NO_RESULT, cancel_frame, notification_frame, request_frame, result_of
from .locks import deadline_in, seconds_until
from .process import ServerProcess
from .reading import Reader
from .receiver import Receiver
from .settling import Settler
from .writing import Writer

T = TypeVar("T")

_LAST_WAIT = 2.0  # seconds for each step of the end of a server that does not end by itself


class Transport:
    """Sends requests to one server and gives each answer to the call that waits for it.

    Ctrl-C may raise KeyboardInterrupt almost anywhere in the main thread. It loses no lock (see
    `take`) and no byte (see `Incoming` and `Writer`), so all calls go on as before.
    """

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._receiver = Receiver(process)
        self._reader = Reader(process.stdout, self._receiver)
        self._writer = Writer(process.stdin, self._reader.make_room)
        self._ids = itertools.count(1)
        self._settler = Settler(self._receiver.settled)
        self._is_closed = False
        self._make_locks()
        process.in_forked_child(self._leave_to_parent)

    def _make_locks(self) -> None:
        self._stopping = threading.RLock()  # a signal handler may close what its thread closes

    # Sending

    def request(
        self,
        method: str,
        params: str,
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback] = None,
        deadline: Optional[float] = None,
    ) -> Call[T]:
        """Sends one request. Raises NotSent when the server has ended, ServerGone when this side has.

        One that is not begun when the `deadline` passes is not written any more.
        """
        call = Call(next(self._ids), method, self, decode, on_progress)
        token = None if on_progress is None else call.id
        self._enter_and_send(call, request_frame(call.id, method, params, token), deadline)
        return call

    def submit(
        self,
        method: str,
        params: str,
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback] = None,
        may_wait: bool = True,
    ) -> PendingCall[T]:
        """Sends one request whose answer completes a future. Raises as `request` does.

        Unless it `may_wait`, what the pipe does not take is written before the next request.
        """
        call = Call(next(self._ids), method, self, decode, on_progress)
        token = None if on_progress is None else call.id
        frame = request_frame(call.id, method, params, token)
        call.future = future = PendingCall(call, self)
        try:
            self._settler.add(future, self._next)
            if may_wait:
                self._enter_and_send(call, frame)
            else:
                self._enter(call)
                self._writer.add(frame)
        except BaseException:
            call.future = None
            self._settler.discard(future)
            raise
        return future

    def _enter_and_send(
        self, call: Call[Any], message: bytes, deadline: Optional[float] = None
    ) -> None:
        try:
            self._enter(call)
            self._send(message, deadline)
        except HalcyonError:
            self._receiver.pending.pop(call.id, None)
            raise
        except BaseException:  # Ctrl-C
            self.forget(call)
            raise

    def call(self, method: str, params: str, decode: Callable[[Any], T]) -> T:
        """Sends one request, waits for its answer and returns it decoded, or raises its error.

        A thread that finds nobody reading writes, reads and is done: no call is entered anywhere
        unless something other than its own answer arrives first.
        """
        identifier = next(self._ids)
        frame = request_frame(identifier, method, params)
        read: Optional[Call[T]] = None
        incoming, turn = self._reader.incoming, self._reader.turn
        lock = turn.lock
        mine: List[bool] = []
        try:
            mine.extend(map(lock.acquire, (False,)))  # as `take` does
            if mine == [True] and self._receiver.is_open and self._writer.send_at_once(frame):
                if incoming.is_empty:
                    incoming.read()
                    line = incoming.only_line()
                    result = NO_RESULT if line is None else result_of(line, identifier)
                    if result is not NO_RESULT:
                        incoming.drop()
                        return decode(result)
                read = Call(identifier, method, self, decode, None)
                self._receiver.pending[identifier] = read
                self._receiver.deal(incoming)
        except BaseException:
            # Ctrl-C while waiting; an answer that comes later belongs to nobody.
            if mine == [True]:
                self._receiver.pending.pop(identifier, None)
                self.cancel(identifier)
            raise
        finally:
            if mine == [True]:
                lock.release()
                turn.pass_on()
        if read is None:
            read = Call(identifier, method, self, decode, None)
            self._enter_and_send(read, frame)
        return self._answer_to(read)

    def _answer_to(self, call: Call[T]) -> T:
        try:
            return call.result()
        except BaseException:
            call.cancel_if_open()
            raise

    def requests(
        self,
        method: str,
        many: Sequence[str],
        decode: Callable[[Any], T],
        deadline: Optional[float] = None,
    ) -> List[Call[T]]:
        """Sends one request for each of `many` parameters, all in one write.

        A call that cannot be sent has failed already when it is returned. Raises NotSent when the
        server has ended before any was sent. When the `deadline` passes before the write has begun,
        none is written any more.
        """
        calls = [Call(next(self._ids), method, self, decode, None) for _ in many]
        frames: List[bytes] = []
        try:
            for call, params in zip(calls, many):
                try:
                    frame = request_frame(call.id, method, params)
                    self._enter(call)
                except HalcyonError as error:
                    call._finish(None, error)
                else:
                    frames.append(frame)
            if frames and self._writer.send(b"".join(frames), deadline) == 0:
                raise NotSent
        except NotSent:
            for call in calls:
                self._receiver.pending.pop(call.id, None)
            raise
        except BaseException:  # Ctrl-C
            for call in calls:
                self.forget(call)
            raise
        return calls

    def notify(self, method: str, params: str) -> None:
        """Sends one notification. Raises as `request` does."""
        self._check()
        self._send(notification_frame(method, params))

    def cancel(self, identifier: int) -> None:
        """Sends the wish to cancel one request; does nothing when the server is gone.

        Never waits: what the pipe does not take is sent before the next request.
        """
        if self._receiver.is_open:
            self._writer.add(cancel_frame(identifier))

    def forget(self, call: Call[Any]) -> None:
        """Cancels a call whose answer is no longer wanted; an answer that comes belongs to nobody."""
        if self._receiver.pending.pop(call.id, None) is not None:
            self.cancel(call.id)

    def _enter(self, call: Call[Any]) -> None:
        self._receiver.pending[call.id] = call
        # Looked at after the call was entered: whoever ends the connection fails it or we do.
        try:
            self._check()
        except BaseException:
            self._receiver.pending.pop(call.id, None)
            raise

    def _check(self) -> None:
        if self._receiver.closing:
            raise self.why_gone()
        if self._receiver.is_over:
            raise NotSent

    def _send(self, message: bytes, deadline: Optional[float] = None) -> None:
        if self._writer.send(message, deadline) < len(message):
            raise NotSent

    # Waiting

    def wait(self, call: Call[Any], deadline: Optional[float]) -> bool:
        """Waits until `call` is answered; False when the deadline passes first."""
        while not call._finished or call._reports:
            if call._reports:
                call.deliver_reports()  # nothing is locked here: it may use the client
            elif self._receiver.is_over:
                if not call._finished:  # by the last answer, which came before the end
                    call._finish(None, self.why_gone())
            elif not self._reader.await_news(call, deadline):
                return False
        return True

    def next_event(self, timeout: Optional[float]) -> Any:
        """The next notification that belongs to no call; None when `timeout` seconds pass first.

        Raises ServerGone when there will be none.
        """
        deadline = deadline_in(timeout)
        self._writer.finish(deadline)  # the subscription may be in what was not waited for
        return self._next(self._receiver.events, deadline)

    def _next(self, inbox: Inbox, deadline: Optional[float]) -> Any:
        while True:
            event = inbox.take()
            if event is not None:
                return event
            if inbox._finished or self._receiver.closing and inbox is not self._receiver.settled:
                event = inbox.take()  # one that came between the first look and the end
                if event is None:
                    raise self.why_gone()
                return event
            if not self._reader.await_news(inbox, deadline):
                return None

    def take_events(self, other: "Transport") -> None:
        """Takes over the notifications that nobody has taken from another connection."""
        event = other._receiver.events.take()
        while event is not None:
            self._receiver.events._report(event)
            event = other._receiver.events.take()

    def settled(self, future: PendingCall[Any]) -> None:
        """Told by a call that has a future when it has an answer or a report."""
        self._receiver.settled._report(future)

    def answer_with(self, delegates: Delegates, one_at_a_time: threading.Lock) -> None:
        """Answers the server's questions from now on, one at a time, on a thread of their own.

        That thread reads the pipe when no other does: a question never waits for a call.
        """
        self._receiver.questions = questions = Inbox()
        thread = threading.Thread(
            target=self._answer_questions,
            args=(questions, delegates, one_at_a_time),
            name="halcyon delegates",
            daemon=True,
        )
        thread.start()

    def _answer_questions(
        self, questions: Inbox, delegates: Delegates, one_at_a_time: threading.Lock
    ) -> None:
        while True:
            try:
                question = self._next(questions, None)
            except ServerGone:
                return
            identifier, method = question["id"], question["method"]
            delegate = delegates.get(method)
            try:
                if delegate is None:
                    frame = failure_frame(identifier, method, None)
                else:
                    with one_at_a_time:
                        answer = delegate(params_of(question))
                    frame = result_frame(identifier, answer)
            except BaseException as error:  # SystemExit too: the thread goes on for the other questions
                frame = failure_frame(identifier, method, error)
            if self._receiver.is_open:
                self._writer.send(frame)

    @property
    def closing(self) -> bool:
        """True when this side has ended the connection."""
        return self._receiver.closing

    def read_what_is_there(self) -> None:
        """Takes the answers that have arrived, unless another thread is already at it."""
        self._reader.read_until(0.0)

    @property
    def gone(self) -> bool:
        """True when the server is known to have ended."""
        return self._receiver.is_over

    def why_gone(self) -> ServerGone:
        """The error of a call that comes after the end."""
        return self._receiver.why_gone()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    # Ending

    def retire(self) -> None:
        """Reads what a server that has ended still wrote, and lets go of it."""
        self._read_until(time.monotonic() + 1.0)
        if not self._receiver.is_over:
            self._process.kill()
            self._read_until(time.monotonic() + 2.0)
        self._let_go()

    def close(self, grace: float) -> None:
        """Closes the server's input and waits for its end, `grace` seconds before using force."""
        with self._stopping:
            if self._is_closed:
                return
            try:
                self._receiver.closing = True
                deadline = time.monotonic() + grace
                # A thread that is stuck in a write keeps the pipe; the end of the server frees it.
                if self._writer.close(seconds_until(deadline)):
                    self._read_until(deadline)
            finally:
                self._force()
            self._is_closed = True  # not before: one that Ctrl-C interrupted is done again

    def close_input(self) -> None:
        """Lets the server end when it has answered what is open; whoever reads meets its end."""
        self._writer.close(0.0)

    def _force(self) -> None:
        for step in (self._process.terminate, self._process.kill):
            if not self._receiver.is_over and self._process.wait(0) is None:
                step()
                self._read_until(time.monotonic() + _LAST_WAIT)
        self._let_go()

    def _read_until(self, deadline: float) -> None:
        self._reader.read_until(deadline, turn=seconds_until(deadline))

    def _let_go(self) -> None:
        # The end of the reading lets go those who write. Not for ever: the one who writes may be
        # this very thread, in whose signal handler the client is closed.
        self._reader.close()
        self._writer.close(_LAST_WAIT)

    def _leave_to_parent(self) -> None:
        self._make_locks()
        self._reader.turn.renew_locks()
        self._writer.leave_to_parent()
        self._settler.renew_locks()
        self._is_closed = True
        self._receiver.leave_to_parent()
