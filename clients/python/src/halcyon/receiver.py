"""The messages of one server, each given to the call or the inbox that it is for."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from .calls import Call, Inbox
from .errors import ServerGone, error_from_wire
from .failures import CLOSED, FORKED
from .framing import parse
from .incoming import Incoming
from .process import ServerProcess


class Receiver:
    """The calls that are open, the inboxes, and the end of the server.

    Ctrl-C may come between any two steps: what was not finished is done again.
    """

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self.pending: Dict[int, Call[Any]] = {}
        self.events = Inbox()
        """The notifications that belong to no call."""
        self.settled = Inbox(limit=None)
        """The futures that have an answer or a report."""
        self.questions: Optional[Inbox] = None
        """The requests of the server, when there are delegates."""
        self.closing = False
        """True when this side has ended the connection."""
        self._gone: Optional[ServerGone] = None

    @property
    def is_over(self) -> bool:
        """True when the server is known to have ended."""
        return self._gone is not None

    @property
    def is_open(self) -> bool:
        """True when requests may be sent."""
        return self._gone is None and not self.closing

    def deal(self, incoming: Incoming) -> None:
        """Deals with what was read. Ctrl-C in between loses nothing: the rest is dealt with next."""
        while not self.is_over:
            line = incoming.next_line()
            if line is None:
                return
            if not line:
                return self.end(None)
            # Whatever a line does wrong, it must not stay the first one: it would fail every call.
            try:
                message = parse(line)
            except Exception:  # RecursionError too, of what is nested too deep
                return self.end("it wrote a line that is not JSON: %r" % line[:80])
            try:
                inbox = self._take(message)
            except Exception:
                return self.end("it wrote a line that is no message of the protocol: %r" % line[:80])
            if inbox is None:
                incoming.done()
            else:
                inbox.receive(message, incoming)
        self._fail_open()

    def _take(self, message: Any) -> Optional[Inbox]:
        """Deals with an answer, which may be done twice, or tells the inbox of anything else."""
        if not isinstance(message, dict):
            return None
        if "method" in message:
            if message["method"] == "$/progress":
                params = message.get("params") or {}
                token = params.get("token")
                followed = self.pending.get(token) if isinstance(token, int) else None
                if followed is not None:
                    followed._report(params.get("value"))
            elif message.get("id") is not None:
                return self.questions
            elif message["method"] == "$/cancelRequest":
                if self.questions is not None:
                    self.questions.withdraw((message.get("params") or {}).get("id"))
            else:
                return self.events
            return None
        error = message.get("error")
        identifier = message.get("id")
        if identifier is None:
            # The server could not tell which request it refuses, and no other answer will come
            # for it: rather than let one call wait for ever, all that are open fail.
            self._fail_all(lambda: error_from_wire(error or {}))
            return None
        call = self.pending.get(identifier) if isinstance(identifier, int) else None
        if call is None:
            return None  # the late answer of a call that was given up
        if error is None:
            call._finish(message.get("result"), None)
        else:
            call._finish(None, error_from_wire(error))
        self.pending.pop(call.id, None)
        return None

    def end(self, complaint: Optional[str]) -> None:
        if complaint is not None:
            self._process.kill()
        ending = self._process.ending()
        told = CLOSED if self.closing else ending.told(complaint)
        self._gone = ServerGone(told, ending.data(retryable=not self.closing))
        self._fail_open()

    def _fail_open(self) -> None:
        """Tells all that wait that the server is gone."""
        self._fail_all(self.why_gone)
        for inbox in (self.events, self.settled, self.questions):
            if inbox is not None and not inbox._finished:
                inbox._end()

    def _fail_all(self, error: Callable[[], BaseException]) -> None:
        for call in list(self.pending.values()):
            call._finish(None, error())
            self.pending.pop(call.id, None)

    def why_gone(self) -> ServerGone:
        """The error of a call that comes after the end."""
        gone = self._gone
        if gone is None or self.closing and gone.retryable:  # closed after a death: only the closing counts
            return ServerGone(CLOSED)
        return ServerGone(gone.message, gone.data)

    def leave_to_parent(self) -> None:
        """Told in a forked child."""
        self.closing = True
        self._gone = ServerGone(FORKED)
        self.pending.clear()
