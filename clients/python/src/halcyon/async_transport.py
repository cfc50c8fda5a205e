"""The connection of the asynchronous client to one server: two pipes on the event loop."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Sequence

from .async_questions import AsyncQuestions
from .calls import Inbox, ProgressCallback
from .delegates import AsyncDelegates
from .errors import CallTimedOut, HalcyonError, ServerGone, error_from_wire
from .failures import CLOSED, FORKED, NotSent
from .framing import LineSplitter, cancel_frame, notification_frame, parse, request_frame
from .locks import deadline_in
from .notices import progress_from_wire
from .process import Ending, ServerProcess


class Sent(NamedTuple):
    """A request on its way: its id, and where its answer will be."""

    id: int
    answer: "asyncio.Future[Any]"
    on_progress: Optional[ProgressCallback] = None


class AsyncTransport:
    """Sends requests to one server and gives each answer to the task that awaits it.

    Belongs to the event loop it was opened on. Use `await AsyncTransport.open(process)`.
    """

    def __init__(self, process: ServerProcess, loop: asyncio.AbstractEventLoop) -> None:
        self._process = process
        self._loop = loop
        self._ids = itertools.count(1)
        self._pending: Dict[int, Sent] = {}
        self._lines = LineSplitter()
        self._unread: Deque[bytes] = deque()
        self._gone: Optional[ServerGone] = None
        self._closing = False
        self._events: Deque[Any] = deque(maxlen=Inbox.LIMIT)
        self._event_waiters: Deque["asyncio.Future[None]"] = deque()
        self.answer_with({})
        self._complaint: Optional[str] = None
        self._ended: "asyncio.Future[None]" = loop.create_future()
        self._is_ending = False
        self._full = False
        self._waiting_for_room: Deque["asyncio.Future[None]"] = deque()
        self._input: Optional[asyncio.WriteTransport] = None
        self._output: Optional[asyncio.ReadTransport] = None
        process.in_forked_child(self._leave_to_parent)

    @classmethod
    async def open(cls, process: ServerProcess) -> "AsyncTransport":
        """Takes over the pipes of a server that was just started."""
        loop = asyncio.get_running_loop()
        self = cls(process, loop)
        try:
            self._output, _ = await loop.connect_read_pipe(lambda: _Reader(self), process.stdout)
            self._input, _ = await loop.connect_write_pipe(lambda: _Writer(self), process.stdin)
        except BaseException:
            process.kill()
            process.wait(2.0)
            raise
        return self

    async def request(
        self,
        method: str,
        params: str,
        on_progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Sends one request and returns its result as JSON gave it.

        A task that is cancelled in here, or waits longer than `timeout` seconds, cancels the
        request as well. Raises NotSent when the server had ended before.
        """
        deadline = deadline_in(timeout, self._loop.time)
        identifier = next(self._ids)
        token = None if on_progress is None else identifier
        frame = request_frame(identifier, method, params, token)
        sent = Sent(identifier, self._loop.create_future(), on_progress)
        self._write(frame)
        self._pending[identifier] = sent
        timer: Optional[asyncio.TimerHandle] = None
        if deadline is not None:
            late = CallTimedOut.after(method, timeout)
            timer = self._loop.call_at(deadline, _fail, sent.answer, late)
        try:
            return await sent.answer
        finally:
            if timer is not None:
                timer.cancel()
            self.abandon(sent)

    def requests(self, method: str, many: Sequence[str]) -> List[Sent]:
        """Sends one request for each of `many` parameters, all in one write.

        A request that cannot be sent has failed already when it is returned. Raises NotSent when
        the server had ended before.
        """
        all_sent: List[Sent] = []
        frames: List[bytes] = []
        for params in many:
            sent = Sent(next(self._ids), self._loop.create_future())
            all_sent.append(sent)
            try:
                frames.append(request_frame(sent.id, method, params))
            except HalcyonError as error:
                _fail(sent.answer, error)
        self._write(b"".join(frames))
        self._pending.update((sent.id, sent) for sent in all_sent if not sent.answer.done())
        return all_sent

    def abandon(self, sent: Sent) -> None:
        """Cancels a request whose answer is no longer wanted; does nothing when it is here."""
        if self._pending.pop(sent.id, None) is not None:
            self._write_if_open(cancel_frame(sent.id))
        if sent.answer.done() and not sent.answer.cancelled():
            sent.answer.exception()  # seen: asyncio need not warn of it

    async def notify(self, method: str, params: str) -> None:
        """Sends one notification, and waits while the pipe is full."""
        self._write(notification_frame(method, params))
        await self.room()

    def _write(self, frame: bytes) -> None:
        if self._closing or self._input is None:
            raise self.why_gone()
        if self.ended or self._input.is_closing():
            raise NotSent
        self._input.write(frame)
        # A pipe that nobody reads any more is found broken at once, and then closes.
        if self._input.is_closing():
            raise NotSent

    def _write_if_open(self, frame: bytes) -> None:
        if self._gone is None and not self._closing and self._input is not None:
            # Of what is written to a broken pipe, asyncio warns.
            if not self._input.is_closing():
                self._input.write(frame)

    async def room(self) -> None:
        """Waits while the pipe is full."""
        while self._full:
            room: "asyncio.Future[None]" = self._loop.create_future()
            self._waiting_for_room.append(room)
            await room

    def set_full(self, full: bool) -> None:
        """Told by the event loop when the pipe takes no more, and when it does again."""
        self._full = full
        while not full and self._waiting_for_room:
            room = self._waiting_for_room.popleft()
            if not room.done():
                room.set_result(None)

    def take(self, chunk: bytes) -> None:
        """Told by the event loop what the server wrote."""
        self._unread.extend(self._lines.feed(chunk))
        while self._unread and self._complaint is None:
            line = self._unread.popleft()
            # As `Receiver.deal`: RecursionError too, of what is nested too deep.
            try:
                message = parse(line)
            except Exception:
                return self._refuse("it wrote a line that is not JSON: %r" % line[:80])
            try:
                if isinstance(message, dict):
                    self._take_message(message)
            except Exception:
                self._refuse("it wrote a line that is no message of the protocol: %r" % line[:80])
            except BaseException:  # of a progress callback: it ends the loop, which may run again
                self._loop.call_soon(self.take, b"")
                raise

    def _refuse(self, complaint: str) -> None:
        self._complaint = complaint
        self._process.kill()
        self.output_ended()  # what it started may hold its output open

    def _take_message(self, message: Dict[str, Any]) -> None:
        if "method" in message:
            if message["method"] == "$/progress":
                self._take_progress(message.get("params") or {})
            elif message.get("id") is not None:
                self._questions.ask(message)
            elif message["method"] == "$/cancelRequest":
                self._questions.withdraw((message.get("params") or {}).get("id"))
            else:
                self._events.append(message)
                self._wake_event_waiters()
            return
        error = message.get("error")
        identifier = message.get("id")
        if identifier is None:
            # It cannot be known which request is refused; rather than let one wait for ever,
            # all that are open fail.
            self._fail_all(lambda: error_from_wire(error or {}))
            return
        waiting = self._pending.get(identifier) if isinstance(identifier, int) else None
        if waiting is None:
            return
        if error is not None:
            _fail(waiting.answer, error_from_wire(error))
        elif not waiting.answer.done():
            waiting.answer.set_result(message.get("result"))
        self._pending.pop(waiting.id, None)

    def _take_progress(self, params: Dict[str, Any]) -> None:
        token, value = params.get("token"), params.get("value")
        waiting = self._pending.get(token) if isinstance(token, int) else None
        if waiting is None or waiting.on_progress is None or not isinstance(value, dict):
            return
        if waiting.answer.done():
            return
        try:
            waiting.on_progress(progress_from_wire(value))
        except asyncio.CancelledError:
            waiting.answer.cancel()
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            _fail(waiting.answer, error)

    def answer_with(self, delegates: AsyncDelegates) -> None:
        """Answers the server's questions from now on, each in a task of its own."""
        self._questions = AsyncQuestions(self._loop, delegates, self._write_if_open)

    async def next_event(self, timeout: Optional[float]) -> Any:
        """The next notification that belongs to no call; None when `timeout` seconds pass first.

        Raises ServerGone when there will be none.
        """
        deadline = deadline_in(timeout, self._loop.time)
        while not self._events:
            if self._gone is not None or self._closing:
                raise self.why_gone()
            news: "asyncio.Future[None]" = self._loop.create_future()
            self._event_waiters.append(news)
            left = None if deadline is None else max(0.0, deadline - self._loop.time())
            done, _ = await asyncio.wait({news}, timeout=left)
            if not done:
                news.cancel()
                if not self._events:
                    return None
        return self._events.popleft()

    def _wake_event_waiters(self) -> None:
        while self._event_waiters:
            news = self._event_waiters.popleft()
            if not news.done():
                news.set_result(None)

    @property
    def closing(self) -> bool:
        """True when this side has ended the connection."""
        return self._closing

    def _fail_all(self, error: Callable[[], HalcyonError]) -> None:
        pending, self._pending = self._pending, {}
        for sent in pending.values():
            _fail(sent.answer, error())

    # Ending

    def output_ended(self) -> None:
        """Told by the event loop when the server's output has ended."""
        if not self._is_ending:
            self._is_ending = True
            # A thread of its own: those of the loop may all wait for calls that this will end.
            threading.Thread(target=self._hear_out, name="halcyon end", daemon=True).start()

    def _hear_out(self) -> None:
        try:
            end = self._process.ending()
        except Exception:
            end = Ending("its end was not seen")
        try:
            self._loop.call_soon_threadsafe(self._end, end)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    def _end(self, end: Ending) -> None:
        told = CLOSED if self._closing else end.told(self._complaint)
        data = end.data(retryable=not self._closing)
        self._gone = ServerGone(told, data)
        self._fail_all(lambda: ServerGone(told, data))
        self._questions.withdraw_all()
        self.set_full(False)
        self._wake_event_waiters()
        if self._input is not None and not self._input.is_closing():
            self._input.abort()
        if not self._ended.done():
            self._ended.set_result(None)

    @property
    def ended(self) -> bool:
        """True when the server's output is known to have ended."""
        return self._is_ending

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def why_gone(self) -> ServerGone:
        """The error of a call that comes after the end."""
        gone = self._gone
        if gone is None or self._closing and gone.retryable:  # closed after a death: only the closing counts
            return ServerGone(CLOSED)
        return ServerGone(gone.message, gone.data)

    async def retire(self) -> None:
        """Waits until a server that has ended was heard out, and lets go of it."""
        await asyncio.wait({self._ended}, timeout=2.0)
        if not self._ended.done():
            self._process.kill()
            await asyncio.wait({self._ended}, timeout=2.0)
        for pipe in (self._input, self._output):
            if pipe is not None:
                pipe.close()

    def take_events(self, other: "AsyncTransport") -> None:
        """Takes over the notifications that nobody has taken from another connection."""
        self._events.extend(other._events)
        other._events.clear()

    async def close(self, grace: float) -> None:
        """Closes the server's input and waits for its end, `grace` seconds before using force."""
        self._closing = True
        self._wake_event_waiters()
        try:
            if self._input is not None:
                self._input.close()  # what is still to be written goes out first
            for seconds, force in (
                (grace, self._process.terminate),
                (2.0, self._process.kill),
                (2.0, None),
            ):
                await asyncio.wait({self._ended}, timeout=seconds)
                if self._ended.done() or force is None:
                    break
                force()
        finally:
            if not self._ended.done():
                self._process.kill()  # the closing task was itself cancelled
            if self._output is not None:
                self._output.close()

    def _leave_to_parent(self) -> None:
        self._closing = True
        self._gone = ServerGone(FORKED)
        # Not closed: its descriptor was, and may be that of a file of the child by now.
        self._input = self._output = None
        self._pending.clear()


class _Reader(asyncio.Protocol):
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.take(data)

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._transport.output_ended()


class _Writer(asyncio.BaseProtocol):
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def pause_writing(self) -> None:
        self._transport.set_full(True)

    def resume_writing(self) -> None:
        self._transport.set_full(False)


def _fail(answer: "asyncio.Future[Any]", error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)
