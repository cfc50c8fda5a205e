"""The other end of ``fault.c``: builds it, arms it, and reads what it did."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

OPEN, WRITE, NAME, SYNC, CUT, MODE, READ, LOCK, MAKE, OPEN_TO_WRITE = (1 << bit for bit in range(10))
FAIL, SHORT, KILL, TORN = range(4)

WRITING = MAKE | WRITE | NAME | SYNC | CUT
# Which calls can fail in that way on a real system.
KINDS = {
    errno.ENOSPC: WRITING,
    errno.EDQUOT: WRITING,
    errno.EACCES: OPEN | NAME | MODE,
    errno.EIO: WRITING | OPEN | MODE | READ | LOCK,
    errno.EROFS: MAKE | OPEN_TO_WRITE | NAME | CUT | MODE,
    errno.EMFILE: OPEN,
    errno.EINTR: OPEN | WRITE | SYNC | READ | LOCK,
    errno.ENAMETOOLONG: OPEN | NAME,
    errno.ENOLCK: LOCK,
}
_FORMAT = "8i64s448s"


def build(folder: str) -> str | None:
    """Compiles the shim into ``folder``; nothing where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return None
    library = os.path.join(folder, "fault.so")
    source = Path(__file__).resolve().parents[1] / "fault.c"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, str(source), "-ldl"], check=True)
    return library


class Fault:
    """The shim of one or more servers: what is to happen, and what has."""

    def __init__(self, library: str, home: str, root: str) -> None:
        path = os.path.join(home, "control")
        with open(path, "wb") as file:
            file.write(bytes(struct.calcsize(_FORMAT)))
        self._file = open(path, "r+b")
        self._map = mmap.mmap(self._file.fileno(), 0)
        self.environment = {"LD_PRELOAD": library, "FAULT_ROOT": root, "FAULT_CONTROL": path}

    def arm(self, at: int, mode: int, error: int = 0, persistent: bool = False, mask: int = 1023) -> None:
        """From now on: ``mode`` happens at the call number ``at``, and after it too if ``persistent``."""
        self._map[:] = struct.pack(_FORMAT, 0, mode, error, persistent, at, mask, 0, 0, b"", b"")
        self._map[0:4] = struct.pack("i", 1)

    def disarm(self) -> None:
        """Nothing happens any more."""
        self._map[0:4] = bytes(4)

    @property
    def count(self) -> int:
        """How many calls there were since it was armed."""
        return int(struct.unpack(_FORMAT, self._map[:])[6])

    @property
    def hits(self) -> int:
        """How often it happened."""
        return int(struct.unpack(_FORMAT, self._map[:])[7])

    @property
    def place(self) -> str:
        """Which call it happened to first, and on what."""
        fields = struct.unpack(_FORMAT, self._map[:])
        return " ".join(field.partition(b"\0")[0].decode(errors="replace") for field in fields[8:])
