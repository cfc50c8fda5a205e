"""The pipe from a server, which one of the threads that wait for answers reads at a time."""

from __future__ import annotations

import select
import time
from typing import IO, List, Optional

from .calls import Awaited
from .incoming import Incoming
from .locks import seconds_until, take
from .receiver import Receiver
from .turns import ReadingTurn

_LONGEST_POLL = 3600.0  # seconds; a longer wait is one of several
_LONGEST_TURN = 1.0  # seconds; who reads looks that often whether its call was given up, or the client closed
_BESIDE_A_READER = 0.02  # seconds; a writer looks that often whether another thread still reads


class Reader:
    """Reads while somebody waits, and has the receiver deal with each line that was read."""

    def __init__(self, pipe: IO[bytes], receiver: Receiver) -> None:
        self._pipe = pipe
        self._receiver = receiver
        self._descriptor = pipe.fileno()
        self._poller = select.poll()
        self._poller.register(self._descriptor, select.POLLIN)
        self.incoming = Incoming(self._descriptor)
        self.turn = ReadingTurn()

    def await_news(self, call: Awaited, deadline: Optional[float]) -> bool:
        """Reads until there is news of `call`, or sleeps while another thread reads.

        False when the deadline passes first. True does not mean that there is news.
        """
        mine: List[bool] = []
        lock = self.turn.lock
        try:
            if take(lock, mine):
                self._deal_with_rest()
                while not (call._finished or call._reports or self._receiver.is_over):
                    turn = self._end_of_turn(call, deadline)
                    if self._is_readable(turn):
                        self._read_some()
                    elif turn == deadline:
                        return False
                return True
        finally:
            if mine == [True]:
                lock.release()
                self.turn.pass_on()
        return self.turn.sleep(call, deadline)

    def read_until(self, deadline: float, turn: float = 0.0) -> None:
        """Reads until the deadline, or the end, once the turn is this thread's, within `turn` seconds.

        Another thread that reads meets the end itself.
        """
        mine: List[bool] = []
        lock = self.turn.lock
        try:
            if take(lock, mine, turn):
                self._deal_with_rest()
                while not self._receiver.is_over and self._is_readable(deadline):
                    self._read_some()
        finally:
            if mine == [True]:
                lock.release()
                self.turn.pass_on()

    def make_room(self, descriptor: int, deadline: Optional[float]) -> bool:
        """Waits until a full pipe may take more; False when the deadline passes first, or the server is gone.

        A server whose answers nobody takes stops reading, so this thread takes them while it waits.
        """
        left = seconds_until(deadline)
        if left == 0 or descriptor < 0 or self._receiver.is_over:
            return False
        mine: List[bool] = []
        lock = self.turn.lock
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLOUT)
            longest = _BESIDE_A_READER
            if not self._receiver.closing and take(lock, mine):  # whoever closes reads
                poller.register(self._descriptor, select.POLLIN)
                longest = _LONGEST_TURN
            ready = poller.poll(1000 * (longest if left < 0 else min(left, longest)))
            if mine == [True] and any(found == self._descriptor for found, _ in ready):
                self._read_some()
        finally:
            if mine == [True]:
                lock.release()
                self.turn.pass_on()
        return True

    def close(self) -> None:
        """Closes the pipe, unless another thread still reads after two seconds; it meets the end."""
        mine: List[bool] = []
        lock = self.turn.lock
        try:
            if take(lock, mine, 2.0):
                if not self._receiver.is_over:
                    self._receiver.end(None)
                self._pipe.close()
        finally:
            if mine == [True]:
                lock.release()
                self.turn.pass_on()

    def _end_of_turn(self, call: Awaited, deadline: Optional[float]) -> Optional[float]:
        """The time at which the reader looks whether another thread has given `call` up."""
        if not call.may_be_given_up:
            return deadline
        turn = time.monotonic() + _LONGEST_TURN
        return turn if deadline is None else min(turn, deadline)

    def _is_readable(self, deadline: Optional[float]) -> bool:
        """Waits until there is something to read; False when the deadline passes first.

        Without a deadline it is the read that waits.
        """
        while deadline is not None:
            left = seconds_until(deadline)
            if self._poller.poll(1000 * min(left, _LONGEST_POLL)):
                return True
            if left == 0:
                return False
        return True

    def _deal_with_rest(self) -> None:
        """Deals with what Ctrl-C has left of what was read, or of the end."""
        if self._receiver.is_over or not self.incoming.is_empty:
            self._receiver.deal(self.incoming)

    def _read_some(self) -> None:
        if not self._receiver.is_over:
            self.incoming.read()
        self._receiver.deal(self.incoming)
