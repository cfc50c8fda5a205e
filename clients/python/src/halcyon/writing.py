"""The pipe to a server, which many threads write to."""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from typing import IO, Callable, Deque, List, Optional

from .locks import seconds_until, take


class Frame:
    """One message, and how much of it the server has been given."""

    __slots__ = ("is_broken", "is_late", "_bytes", "_counts")

    def __init__(self, message: bytes) -> None:
        self.is_broken = False
        """True when the server ended before it was given all of it."""
        self.is_late = False
        """True when its deadline has passed; it is completed only if it was begun."""
        self._bytes = memoryview(message)
        self._counts: List[int] = []

    @property
    def written(self) -> int:
        """The number of bytes that were written."""
        return sum(self._counts)

    @property
    def is_over(self) -> bool:
        """True when nothing is left to be written, or nobody to read it, or nobody who wants it."""
        written = self.written
        return self.is_broken or written == len(self._bytes) or self.is_late and written == 0

    def write(self, descriptor: int) -> None:
        """Writes some of what is left. Raises OSError."""
        # The number is noted within one call into C: Ctrl-C cannot come between the two.
        self._counts.extend(map(os.write, (descriptor,), (self._bytes[self.written :],)))


class Writer:
    """Writes whole messages, in the order in which they come.

    One that Ctrl-C interrupted is completed before the next, and so is one that was begun when its
    deadline passed. `make_room` waits until a full pipe may take more; False when the deadline
    passes first.
    """

    def __init__(self, pipe: IO[bytes], make_room: Callable[[int, Optional[float]], bool]) -> None:
        self._pipe = pipe
        self._make_room = make_room
        self.descriptor = pipe.fileno()
        """That of the pipe; -1 when it is closed."""
        # Our end only: the server's standard input keeps blocking as it likes.
        os.set_blocking(self.descriptor, False)
        self._frames: Deque[Frame] = deque()
        self._make_lock()

    def _make_lock(self) -> None:
        self._lock = threading.Lock()

    def leave_to_parent(self) -> None:
        """Told in a forked child, where no thread gives the old lock back.

        A signal handler may fork, so whoever takes a lock gives back that very one.
        """
        self._make_lock()
        self.descriptor = -1  # its number may be that of another file soon

    def send(self, message: bytes, deadline: Optional[float] = None) -> int:
        """Writes a message, unless the deadline passes before it is begun.

        The number of its bytes; when the server no longer reads, of those that it was given.
        """
        if self.send_at_once(message):
            return len(message)
        frame = Frame(message)
        self._frames.append(frame)
        mine: List[bool] = []
        lock = self._lock
        try:
            if take(lock, mine, seconds_until(deadline)):
                self._write_until(deadline, frame)
            frame.is_late = seconds_until(deadline) == 0
            if mine == [True] and frame.is_late:
                self._drop_late()
        finally:
            if mine == [True]:
                lock.release()
        self._write_on()
        return frame.written if frame.is_broken else len(message)

    def send_at_once(self, message: bytes) -> bool:
        """Writes a small message if nothing is in its way; a pipe takes it whole or not at all."""
        if len(message) > select.PIPE_BUF:
            return False
        mine: List[bool] = []
        lock = self._lock
        try:
            mine.extend(map(lock.acquire, (False,)))  # as `take` does
            if mine != [True] or self._frames:
                return False
            return os.write(self.descriptor, message) == len(message)
        except OSError:
            return False
        finally:
            if mine == [True]:
                lock.release()
                if self._frames:
                    self._write_on()

    def add(self, message: bytes) -> None:
        """Writes a message if the pipe takes it now, else before the next one. Never waits."""
        self._frames.append(Frame(message))
        self._write_on()

    def finish(self, deadline: Optional[float]) -> None:
        """Writes what was added, unless the deadline passes first."""
        mine: List[bool] = []
        lock = self._lock
        try:
            if self._frames and take(lock, mine, seconds_until(deadline)):
                self._write_until(deadline)
        finally:
            if mine == [True]:
                lock.release()
        self._write_on()

    def close(self, seconds: float) -> bool:
        """Closes the pipe; False when another thread still writes after that time."""
        mine: List[bool] = []
        lock = self._lock
        try:
            if take(lock, mine, seconds):
                self.descriptor = -1  # whoever is about to write finds nothing, not a stranger's
                self._pipe.close()
        finally:
            if mine == [True]:
                lock.release()
        return mine == [True]

    def _write_until(self, deadline: Optional[float], last: Optional[Frame] = None) -> None:
        """Writes all there is, or up to the frame that is the `last`, unless the deadline passes first."""
        while not self._write() and not (last is not None and last.is_over):
            if not self._make_room(self.descriptor, deadline):
                break

    def _write_on(self) -> None:
        """Writes what is left, as far as it goes without waiting.

        Whoever finds another thread writing leaves it to that thread, which looks once more when
        it has given the lock back.
        """
        while self._frames:
            mine: List[bool] = []
            lock = self._lock
            try:
                if not take(lock, mine) or not self._write():
                    return
            finally:
                if mine == [True]:
                    lock.release()

    def _drop_late(self) -> None:
        """Lets go of what nobody wants any more, behind what the pipe does not take."""
        for waiting in tuple(self._frames):
            if waiting.is_late and waiting.is_over:
                self._frames.remove(waiting)

    def _write(self) -> bool:
        """Writes as much as the pipe takes now; False when something is left."""
        while self._frames:
            frame = self._frames[0]
            if frame.is_over:
                self._frames.popleft()
                continue
            try:
                frame.write(self.descriptor)
            except BlockingIOError:
                return False
            except OSError:
                # The server ended, but its last answers may still be in the pipe: whoever waits
                # reads them, meets the end and learns how it came about.
                for broken in tuple(self._frames):
                    broken.is_broken = True
        return True
