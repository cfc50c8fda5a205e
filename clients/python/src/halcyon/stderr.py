"""What a server writes to its standard error: passed on as it comes, its last lines kept for the report of its end."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import IO, Callable, Deque, List, Optional

from .framing import LineSplitter

KEPT_LINES = 10
"""The number of last lines that are kept."""
LINE_LIMIT = 500
"""The most characters of a line that are kept."""


class StandardError:
    """Reads the standard error of one server, on a thread of its own, until it ends.

    `write` is a descriptor that gets the bytes as they come, `listen` a function that gets each
    line; with neither the lines are only kept.
    """

    def __init__(
        self, stream: IO[bytes], write: Optional[int], listen: Optional[Callable[[str], object]]
    ) -> None:
        self.stream = stream
        self._lines: Deque[str] = deque(maxlen=KEPT_LINES)
        self._ended = threading.Event()
        threading.Thread(
            target=self._read, args=(write, listen), name="halcyon stderr", daemon=True
        ).start()

    def last_lines(self) -> List[str]:
        """The last lines of a server that has ended."""
        self.wait()
        return list(self._lines)

    def wait(self) -> None:
        """Waits until all is read; not long, for a process that the server left behind may hold the pipe open."""
        self._ended.wait(0.5)

    def _read(self, write: Optional[int], listen: Optional[Callable[[str], object]]) -> None:
        splitter = LineSplitter()
        try:
            with self.stream:
                while True:
                    chunk = os.read(self.stream.fileno(), 65_536)
                    if write is not None:
                        _write(write, chunk)
                    for line in splitter.feed(chunk) if chunk else splitter.rest():
                        text = line.decode(errors="replace").rstrip("\r\n")
                        self._lines.append(text[:LINE_LIMIT])
                        if listen is not None:
                            _tell(listen, text)
                    if not chunk:
                        return
        except (OSError, ValueError):
            return
        finally:
            self._ended.set()


def _write(descriptor: int, chunk: bytes) -> None:
    try:
        while chunk:
            chunk = chunk[os.write(descriptor, chunk) :]
    except OSError:  # nobody reads it; the server must not stop for that
        return


def _tell(listen: Callable[[str], object], text: str) -> None:
    try:
        listen(text)
    except BaseException:  # SystemExit too: a listener that fails must not stop the server
        return
