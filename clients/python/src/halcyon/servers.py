"""The servers of the synchronous client, one after the other."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from concurrent.futures import Future
from typing import Any, Callable, List, Optional, Sequence, TypeVar

from .calls import Call, PendingCall, ProgressCallback
from .decoding import as_it_is
from .delegates import Delegates, declaration
from .errors import CallTimedOut, HalcyonError, ServerGone
from .failures import CLOSED, NotSent
from .lives import Lives
from .locks import deadline_in
from .process import Launch, ServerProcess
from .restored import RESTORED, Restored
from .transport import Transport

T = TypeVar("T")

log = logging.getLogger("halcyon")


class Servers:
    """Sends the requests of one client to a server, and starts another one when that has died.

    It is the next call that starts it. A call that was on its way fails with ServerGone; one that
    did not get to a server that had died before goes to the new one.
    """

    def __init__(self, launch: Launch, delegates: Optional[Delegates]) -> None:
        self._launch = launch
        self._delegates = dict(delegates or {})
        self._restored = Restored()
        self._lives = Lives()
        self._ended: Optional[Transport] = None
        self._is_closed = False
        self._forgotten: "Optional[weakref.finalize[..., Servers]]" = None
        self._make_locks()
        self._transport = self._start()
        _all.add(self)
        if self._delegates:
            try:
                self.call("initialize", declaration(self._delegates), as_it_is)
            except BaseException:
                self.close(0)
                raise

    def _make_locks(self) -> None:
        self._starting = threading.Lock()
        self._asking = threading.Lock()

    @property
    def pid(self) -> int:
        """The process id of the server, or of the last one."""
        return self._transport.pid

    @property
    def is_closed(self) -> bool:
        """True when this side has ended the connection."""
        return self._is_closed

    # Requests

    def call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float] = None,
        on_progress: Optional[ProgressCallback] = None,
    ) -> T:
        """Sends one request, waits for its answer and returns it decoded, or raises its error.

        Raises CallTimedOut when that takes longer than `timeout` seconds.
        """
        if timeout is None and on_progress is None:
            transport = self.living()
            try:
                result = transport.call(method, wire, decode)
            except NotSent:
                result = self._again(transport, lambda other: other.call(method, wire, decode))
        else:
            deadline = deadline_in(timeout)
            call = self._send(lambda other: other.request(method, wire, decode, on_progress, deadline))
            try:
                if not call.wait_until(deadline):
                    raise CallTimedOut.after(method, timeout)
                result = call.result()
            except BaseException:
                # Too late, Ctrl-C, or a progress callback that raised: nobody waits for it any more.
                call.cancel_if_open()
                raise
        if method in RESTORED:
            self._restored.note(method, wire)
        return result

    def submit(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        on_progress: Optional[ProgressCallback],
    ) -> PendingCall[T]:
        """Sends one request whose answer completes a future."""
        call = self._send(lambda other: other.submit(method, wire, decode, on_progress))
        if method in RESTORED:
            call.add_done_callback(lambda done: self._note(done, method, wire))
        return call

    def requests(
        self,
        method: str,
        wires: Sequence[str],
        decode: Callable[[Any], T],
        deadline: Optional[float] = None,
    ) -> List[Call[T]]:
        """Sends one request for each of `wires`, all in one write.

        Never raises: a call that cannot be sent has failed already when it is returned.
        """
        try:
            return self._send(lambda other: other.requests(method, wires, decode, deadline))
        except HalcyonError as error:
            failed = [Call(0, method, self._transport, decode, None) for _ in wires]
            for call in failed:
                call._finish(None, error)
            return failed

    def notify(self, method: str, wire: str) -> None:
        """Sends one notification."""
        self._send(lambda other: other.notify(method, wire))

    def next_event(self, timeout: Optional[float]) -> Any:
        """The next notification that belongs to no call; None when `timeout` seconds pass first."""
        return self.living().next_event(timeout)

    def _send(self, send: Callable[[Transport], T]) -> T:
        transport = self.living()
        try:
            return send(transport)
        except NotSent:
            return self._again(transport, send)

    def _again(self, dead: Transport, send: Callable[[Transport], T]) -> T:
        transport = self._replace(dead)
        try:
            return send(transport)
        except NotSent:  # it died at once
            transport.retire()
            raise transport.why_gone() from None

    def _note(self, call: "Future[Any]", method: str, wire: str) -> None:
        if not call.cancelled() and call.exception() is None:
            self._restored.note(method, wire)

    # Lives

    def living(self) -> Transport:
        """The connection to the server, or to another one when that is known to have ended.

        Raises ServerGone when the time for another has not come yet, or this client was closed.
        """
        transport = self._transport
        if not transport.gone or transport.closing:
            return transport
        return self._replace(transport)

    def _replace(self, dead: Transport) -> Transport:
        if dead.closing:
            raise dead.why_gone()
        with self._starting:
            if self._is_closed:
                raise ServerGone(CLOSED)
            if self._transport is not dead:
                return self._transport
            if self._ended is not dead:
                dead.retire()
                self._ended = dead
                self._lives.end()
            self._lives.check(dead.why_gone())
            self._transport = self._start(dead)
            return self._transport

    def _start(self, dead: Optional[Transport] = None) -> Transport:
        """Starts a server, in place of a `dead` one. Ctrl-C meanwhile ends it: nobody else would."""
        transport = Transport(ServerProcess(self._launch))
        try:
            self._lives.begin()
            if self._delegates:
                transport.answer_with(self._delegates, self._asking)
                if self._forgotten is not None:
                    self._forgotten.detach()
                # The thread that answers keeps the connection, which would outlive a forgotten client.
                self._forgotten = weakref.finalize(self, transport.close_input)
                self._forgotten.atexit = False  # a ServerProcess sees to the end of the program
            if dead is not None:
                transport.take_events(dead)
                self._restore(transport)
        except BaseException:
            transport.close(0)
            raise
        return transport

    def _restore(self, transport: Transport) -> None:
        # Never waits for a server that does not read: all calls, and `close`, wait for this.
        for method, wire in self._restored.calls():
            try:
                restored = transport.submit(method, wire, as_it_is, may_wait=False)
            except NotSent:  # the call that follows meets the same end, and tells it
                break
            restored.add_done_callback(_teller(method))

    def close(self, grace: float) -> None:
        """Ends the server, and starts no other."""
        deadline_in(grace)  # raises before anything is done
        self._is_closed = True
        with self._starting:  # a server that is being started is there afterwards
            transport = self._transport
        transport.close(grace)

    def leave_to_parent(self) -> None:
        """Told in a forked child, where threads that held a lock are no more."""
        self._make_locks()
        self._is_closed = True


def _teller(method: str) -> "Callable[[Future[Any]], None]":
    def tell(call: "Future[Any]") -> None:
        error = call.exception()
        if error is not None and not isinstance(error, ServerGone):
            log.warning("The new server does not take %s of the last one: %s", method, error)

    return tell


_all: "weakref.WeakSet[Servers]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for servers in list(_all):
        servers.leave_to_parent()


os.register_at_fork(after_in_child=_after_fork_in_child)
