"""What a server has written and nobody has dealt with yet."""

from __future__ import annotations

import itertools
import operator
import os
from collections import deque
from typing import Any, Deque, NamedTuple, Optional, Tuple

from .framing import split_lines

_first = operator.itemgetter(0)
_CHUNK = 65_536  # what a pipe holds at first


class _Cut(NamedTuple):
    """The number of the last chunk that was cut, its lines, and the pieces of the line that it begins."""

    number: int
    lines: Deque[bytes]
    partial: Tuple[bytes, ...]


class Incoming:
    """The lines of a pipe, of which none is lost to an exception at any point, such as Ctrl-C.

    A read puts its bytes into a queue within one call into C, where no exception of a signal
    comes between. They are cut into lines with one assignment, and a line stays until it is done
    with; what was interrupted is done again. Used by one thread at a time.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._numbers = itertools.count(1)
        self._chunks: Deque[Tuple[int, bytes]] = deque()
        self._cut = _Cut(0, deque(), ())

    def read(self) -> None:
        """Reads what is there, and waits for it if nothing is."""
        try:
            self._chunks.extend(zip(self._numbers, map(os.read, (self._descriptor,), (_CHUNK,))))
        except OSError:  # the program ends, and the descriptor was closed beside this thread
            self._chunks.append((next(self._numbers), b""))

    @property
    def is_empty(self) -> bool:
        """True when everything that was read is done with, but for a part of a line."""
        return not self._chunks and not self._cut.lines

    def only_line(self) -> Optional[bytes]:
        """The line that was just read when nothing else is here, not even a part of another."""
        if len(self._chunks) == 1 and not self._cut.partial and not self._cut.lines:
            number, chunk = self._chunks[0]
            end = chunk.find(b"\n")
            if end > 1 and end == len(chunk) - 1 and number > self._cut.number:
                return chunk
        return None

    def drop(self) -> None:
        """Done with the only line."""
        self._chunks.clear()

    def next_line(self) -> Optional[bytes]:
        """The first line that is not done with; empty at the end of the stream, None when there is none yet."""
        cut, chunks = self._cut, self._chunks
        while not cut.lines:
            if not chunks:
                return None
            number, chunk = chunks[0]
            if number <= cut.number:
                chunks.popleft()
            elif not chunk:
                return b""
            else:
                lines, partial = split_lines(cut.partial, chunk)
                self._cut = cut = _Cut(number, deque(lines), partial)
        return cut.lines[0]

    def hand_over(self, message: Any, queue: Deque[Any]) -> None:
        """Done with the first line, which has become that message in that queue: both within one call into C."""
        queue.extend(map(_first, zip((message,), iter(self._cut.lines.popleft, None))))

    def done(self) -> None:
        """Done with the first line."""
        self._cut.lines.popleft()
