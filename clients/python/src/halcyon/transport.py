"""The connection of the synchronous client to one server: many threads, one pipe each way.

Whoever waits for an answer and finds nobody reading reads the pipe itself, and hands every answer
it meets to the call it belongs to. A thread that waits alone therefore gets its answer without a
switch of threads. When the reader has what it wanted, it wakes one of the others to read on. There
is a thread of the connection only while futures are open, and one that answers questions.
"""

from __future__ import annotations

import itertools
import os
import select
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, TypeVar

from .calls import Call, Inbox, PendingCall, ProgressCallback
from .delegates import Delegates, failure_frame, params_of, result_frame
from .errors import HalcyonError, ServerGone, error_from_wire
from .failures import FORKED, NotSent
from .framing import (
    NO_RESULT,
    LineSplitter,
    cancel_frame,
    notification_frame,
    parse,
    request_frame,
    result_of,
)
from .process import ServerProcess
from .turns import ReadingTurn, Woken

T = TypeVar("T")

_CHUNK = 65_536  # what a pipe holds at first


class Transport:
    """Sends requests to one server and gives each answer to the call that waits for it."""

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._in = process.stdin.fileno()
        self._out = process.stdout.fileno()
        # Our end only: the server's standard input keeps blocking as it likes.
        os.set_blocking(self._in, False)
        self._poller = select.poll()
        self._poller.register(self._out, select.POLLIN)
        self._ids = itertools.count(1)
        self._pending: Dict[int, Call[Any]] = {}
        self._lines = LineSplitter()
        self._unsent = memoryview(b"")
        self._gone: Optional[ServerGone] = None
        self._closing = False
        self._events = Inbox()
        self._questions: Optional[Inbox] = None
        self._settled = Inbox(limit=None)
        self._futures: Set[PendingCall[Any]] = set()
        self._settler: Optional[threading.Thread] = None
        self._make_locks()
        process.in_forked_child(self._leave_to_parent)

    def _make_locks(self) -> None:
        self._writing = threading.Lock()
        self._turn = ReadingTurn()
        self._reading = self._turn.lock
        self._stopping = threading.Lock()
        self._submitting = threading.Lock()

    # Sending

    def request(
        self,
        method: str,
        params: str,
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback] = None,
    ) -> Call[T]:
        """Sends one request. Raises NotSent when the server has ended, ServerGone when this side has."""
        call = Call(next(self._ids), method, self, decode, on_progress)
        token = None if on_progress is None else call.id
        self._enter_and_send(call, request_frame(call.id, method, params, token))
        return call

    def submit(
        self,
        method: str,
        params: str,
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback] = None,
    ) -> PendingCall[T]:
        """Sends one request whose answer completes a future. Raises as `request` does."""
        call = Call(next(self._ids), method, self, decode, on_progress)
        token = None if on_progress is None else call.id
        frame = request_frame(call.id, method, params, token)
        call.future = future = PendingCall(call, self)
        with self._submitting:
            self._futures.add(future)
            if self._settler is None:
                self._settler = threading.Thread(
                    target=self._settle_futures, name="halcyon answers", daemon=True
                )
                self._settler.start()
        try:
            self._enter_and_send(call, frame)
        except BaseException:
            self._futures.discard(future)
            call.future = None
            self._settled._report(future)
            raise
        return future

    def _enter_and_send(self, call: Call[Any], frame: bytes) -> None:
        self._enter(call)
        if self._send(frame) < len(frame):
            self._pending.pop(call.id, None)
            raise NotSent

    def call(self, method: str, params: str, decode: Callable[[Any], T]) -> T:
        """Sends one request, waits for its answer and returns it decoded, or raises its error.

        A thread that finds nobody reading writes, reads and is done: no call is entered anywhere
        unless something other than its own answer arrives first.
        """
        identifier = next(self._ids)
        frame = request_frame(identifier, method, params)
        if not self._reading.acquire(False):
            call = Call(identifier, method, self, decode, None)
            self._enter_and_send(call, frame)
            return self._answer_to(call)
        read: Optional[Call[T]] = None
        sent = False
        try:
            if len(frame) <= select.PIPE_BUF:
                sent = self._send_at_once(frame)
            if sent:
                chunk = self._read_chunk()
                if self._lines.is_one_line(chunk):
                    result = result_of(chunk, identifier)
                    if result is not NO_RESULT:
                        return decode(result)
                read = Call(identifier, method, self, decode, None)
                self._pending[identifier] = read
                self._take_chunk(chunk)
        except BaseException:
            # Ctrl-C while waiting; an answer that comes later belongs to nobody.
            if sent and read is None:
                self.cancel(identifier)
            raise
        finally:
            self._turn.end()
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
        self, method: str, many: Sequence[str], decode: Callable[[Any], T]
    ) -> List[Call[T]]:
        """Sends one request for each of `many` parameters, all in one write.

        A call that cannot be sent has failed already when it is returned. Raises NotSent when the
        server has ended before any was sent.
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
            if frames and self._send(b"".join(frames)) == 0:
                raise NotSent
        except NotSent:
            for call in calls:
                self._pending.pop(call.id, None)
            raise
        return calls

    def notify(self, method: str, params: str) -> None:
        """Sends one notification. Raises as `request` does."""
        self._check()
        frame = notification_frame(method, params)
        if self._send(frame) < len(frame):
            raise NotSent

    def cancel(self, identifier: int) -> None:
        """Sends the wish to cancel one request; does nothing when the server is gone."""
        if self._gone is None and not self._closing:
            self._send(cancel_frame(identifier))

    def forget(self, call: Call[Any]) -> None:
        """Cancels a call whose answer is no longer wanted; an answer that comes belongs to nobody."""
        if self._pending.pop(call.id, None) is not None:
            self.cancel(call.id)

    def _enter(self, call: Call[Any]) -> None:
        self._pending[call.id] = call
        # Looked at after the call was entered: whoever ends the connection fails it or we do.
        try:
            self._check()
        except BaseException:
            self._pending.pop(call.id, None)
            raise

    def _check(self) -> None:
        if self._closing:
            raise self.why_gone()
        if self._gone is not None:
            raise NotSent

    def _send(self, frame: bytes) -> int:
        """Writes a whole frame, and tells how much of it: less when the server no longer reads."""
        with self._writing:
            if self._unsent:
                ahead = len(self._unsent)
                return max(0, self._send_rest(memoryview(bytes(self._unsent) + frame)) - ahead)
            try:
                sent = os.write(self._in, frame)
            except BlockingIOError:
                sent = 0
            except OSError:
                # The server ended, but its last answers may still be in the pipe: whoever waits
                # reads them, meets the end and learns how it came about.
                return 0
            return sent if sent == len(frame) else sent + self._send_rest(memoryview(frame)[sent:])

    def _send_at_once(self, frame: bytes) -> bool:
        """Writes a small frame if nothing is in its way; a pipe takes it whole or not at all."""
        if self._gone is not None or self._closing or not self._writing.acquire(False):
            return False
        try:
            return not self._unsent and os.write(self._in, frame) == len(frame)
        except OSError:
            return False
        finally:
            self._writing.release()

    def _send_rest(self, rest: memoryview) -> int:
        # A server whose answers nobody takes stops reading: so take them while the pipe is full.
        # The bytes that an exception leaves unsent are sent before the next frame.
        self._unsent = rest
        whole = len(rest)
        nothing = memoryview(b"")
        poller = select.poll()
        while self._unsent:
            mine = self._reading.acquire(False)
            try:
                poller.register(self._in, select.POLLOUT)
                if mine:
                    poller.register(self._out, select.POLLIN)
                ready = poller.poll(None if mine else 20)
                if mine and any(descriptor == self._out for descriptor, _ in ready):
                    self._read_some()
                    if self._gone is not None:
                        left, self._unsent = len(self._unsent), nothing
                        return whole - left
            finally:
                if mine:
                    poller.unregister(self._out)
                    self._turn.end()
            try:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
            except BlockingIOError:
                continue
            except OSError:
                left, self._unsent = len(self._unsent), nothing
                return whole - left
        self._unsent = nothing  # lets go of the frame
        return whole

    # Waiting

    def wait(self, call: Call[Any], timeout: Optional[float]) -> bool:
        """Waits until `call` is answered; False when `timeout` seconds pass first."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not call._finished or call._reports:
            if call._reports:
                call.deliver_reports()  # nothing is locked here: it may use the client
                continue
            if not self._reading.acquire(False):
                woken = self._turn.await_news_of(call, deadline)
                if woken is Woken.LATE:
                    return False
                if woken is Woken.BY_NEWS:
                    continue
            try:
                while not call._finished and not call._reports:
                    if deadline is not None and not self._readable(deadline):
                        return False
                    self._read_some()
                    if self._gone is not None and not call._finished:
                        call._finish(None, self.why_gone())
            finally:
                self._turn.end()
        return True

    def next_event(self, timeout: Optional[float]) -> Any:
        """The next notification that belongs to no call; None when `timeout` seconds pass first.

        Raises ServerGone when there will be none.
        """
        return self._next(self._events, timeout)

    def _next(self, inbox: Inbox, timeout: Optional[float]) -> Any:
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            event = inbox.take()
            if event is not None:
                return event
            if inbox._finished or self._closing and inbox is not self._settled:
                raise self.why_gone()
            if not self._reading.acquire(False):
                woken = self._turn.await_news_of(inbox, deadline)
                if woken is Woken.LATE:
                    return None
                if woken is Woken.BY_NEWS:
                    continue
            try:
                while not inbox._reports and not inbox._finished:
                    if deadline is not None and not self._readable(deadline):
                        return None
                    self._read_some()
            finally:
                self._turn.end()

    def take_events(self, other: "Transport") -> None:
        """Takes over the notifications that nobody has taken from another connection."""
        event = other._events.take()
        while event is not None:
            self._events._report(event)
            event = other._events.take()

    def _settle_futures(self) -> None:
        while True:
            with self._submitting:
                if not self._futures:
                    self._settler = None
                    return
            try:
                future = self._next(self._settled, None)
            except ServerGone:
                with self._submitting:
                    self._settler = None
                return
            future.settle()
            if future.done():
                self._futures.discard(future)

    def settled(self, future: PendingCall[Any]) -> None:
        """Told by a call that has a future when it has an answer or a report."""
        self._settled._report(future)

    def answer_with(self, delegates: Delegates, one_at_a_time: threading.Lock) -> None:
        """Answers the server's questions from now on, one at a time, on a thread of their own.

        That thread reads the pipe when no other does: a question never waits for a call.
        """
        self._questions = Inbox()
        thread = threading.Thread(
            target=self._answer_questions,
            args=(self._questions, delegates, one_at_a_time),
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
            except Exception as error:
                frame = failure_frame(identifier, method, error)
            if self._gone is None and not self._closing:
                self._send(frame)

    @property
    def closing(self) -> bool:
        """True when this side has ended the connection."""
        return self._closing

    def read_what_is_there(self) -> None:
        """Takes the answers that have arrived, unless another thread is already at it."""
        while self._gone is None and self._reading.acquire(False):
            try:
                if not self._poller.poll(0):
                    return
                self._read_some()
            finally:
                self._turn.end()

    # Reading; whoever calls these holds `_reading`

    def _readable(self, deadline: float) -> bool:
        if self._gone is not None:
            return True
        left = deadline - time.monotonic()
        return bool(self._poller.poll(max(0.0, left) * 1000))

    def _read_some(self) -> None:
        if self._gone is None:
            self._take_chunk(self._read_chunk())

    def _read_chunk(self) -> bytes:
        try:
            return os.read(self._out, _CHUNK)
        except OSError:  # the program ends, and the descriptor was closed beside this thread
            return b""

    def _take_chunk(self, chunk: bytes) -> None:
        if not chunk:
            self._end(None)
            return
        for line in self._lines.feed(chunk):
            try:
                message = parse(line)
            except ValueError:
                self._end("it wrote a line that is not JSON: %r" % line[:80])
                return
            self._take(message)

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        if "method" in message:
            if message["method"] == "$/progress":
                params = message.get("params") or {}
                token = params.get("token")
                followed = self._pending.get(token) if isinstance(token, int) else None
                if followed is not None:
                    followed._report(params.get("value"))
            elif message.get("id") is not None:
                if self._questions is not None:
                    self._questions._report(message)
            elif message["method"] == "$/cancelRequest":
                if self._questions is not None:
                    self._questions.withdraw((message.get("params") or {}).get("id"))
            else:
                self._events._report(message)
            return
        error = message.get("error")
        identifier = message.get("id")
        if identifier is None:
            # The server could not tell which request it refuses, and no other answer will come
            # for it: rather than let one call wait for ever, all that are open fail.
            self._fail_all(lambda: error_from_wire(error or {}))
            return
        call = self._pending.pop(identifier, None) if isinstance(identifier, int) else None
        if call is None:
            return  # the late answer of a call that was given up
        if error is None:
            call._finish(message.get("result"), None)
        else:
            call._finish(None, error_from_wire(error))

    def _end(self, complaint: Optional[str]) -> None:
        if complaint is not None:
            self._process.kill()
        ending = self._process.ending()
        told = "This client is closed; make a new one." if self._closing else ending.told(complaint)
        gone = ServerGone(told, ending.data(retryable=not self._closing))
        self._gone = gone
        self._fail_all(lambda: ServerGone(gone.message, gone.data))
        self._events._end()
        self._settled._end()
        if self._questions is not None:
            self._questions._end()

    def _fail_all(self, error: Callable[[], BaseException]) -> None:
        while self._pending:
            try:
                call = self._pending.popitem()[1]
            except KeyError:
                return
            call._finish(None, error())

    @property
    def gone(self) -> bool:
        """True when the server is known to have ended."""
        return self._gone is not None

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def why_gone(self) -> ServerGone:
        """The error of a call that comes after the end."""
        if self._gone is not None:
            return ServerGone(self._gone.message, self._gone.data)
        return ServerGone("This client is closed; make a new one.")

    # Ending

    def retire(self) -> None:
        """Reads what a server that has ended still wrote, and lets go of it."""
        self._read_to_end(time.monotonic() + 1.0)
        if self._gone is None:
            self._process.kill()
            self._read_to_end(time.monotonic() + 2.0)
        self._let_go()

    def close(self, grace: float) -> None:
        """Closes the server's input and waits for its end, `grace` seconds before using force."""
        with self._stopping:
            if self._closing:
                return
            self._closing = True
            deadline = time.monotonic() + grace
            try:
                # A thread that is stuck in a write keeps the lock; the end of the server frees it.
                if self._writing.acquire(timeout=max(0.0, grace)):
                    try:
                        self._close_input()
                    finally:
                        self._writing.release()
                    self._read_to_end(deadline)
            finally:
                self._force()

    def _force(self) -> None:
        for step in (self._process.terminate, self._process.kill):
            if self._gone is None and self._process.wait(0) is None:
                step()
                self._read_to_end(time.monotonic() + 2.0)
        self._let_go()

    def _let_go(self) -> None:
        with self._writing:
            self._close_input()
        if self._reading.acquire(timeout=2.0):
            try:
                if self._gone is None:
                    self._end(None)
                self._process.stdout.close()
            finally:
                self._turn.end()

    def _close_input(self) -> None:
        self._in = -1  # whoever is about to write finds nothing, not a stranger's descriptor
        self._process.stdin.close()

    def _read_to_end(self, deadline: float) -> None:
        while self._gone is None:
            if not self._reading.acquire(timeout=max(0.0, deadline - time.monotonic())):
                return  # another thread reads, and meets the end itself
            try:
                while self._gone is None:
                    if not self._readable(deadline):
                        return
                    self._read_some()
            finally:
                self._turn.end()

    def _leave_to_parent(self) -> None:
        self._make_locks()
        self._settler = None
        self._closing = True
        self._gone = ServerGone(FORKED)
        self._pending.clear()
