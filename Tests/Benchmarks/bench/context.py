"""What every benchmark needs to know: the programs, the folders and how much to do."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator


class BenchError(Exception):
    """A benchmark could not be run; the message says why and what to do."""


@dataclass
class Context:
    """One run of the benchmarks.

    ``rounds`` is how often each side is measured (at least five for a result that counts); ``quick`` divides the work by
    ten. ``work`` is a scratch folder, on a tmpfs when there is room for one, removed at the end; ``kept``, if there is one,
    stays and holds what takes long to make.
    """

    root: Path
    binary: Path
    tools: Path
    client: Path
    work: Path
    rounds: int = 7
    quick: bool = False
    pin: bool = True
    kept: Path | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def scaled(self, count: int) -> int:
        """``count``, or a tenth of it in a quick run."""
        return max(1, count // 10) if self.quick else count

    def tool(self, name: str) -> str:
        """The path of one of the C programs, for instance ``bench-echo``."""
        return str(self.tools / name)

    def path(self, name: str) -> Path:
        """A path in the scratch folder that nothing has used yet; its parent exists, itself does not."""
        return self.work / f"{next(self._numbers):05d}-{name}"

    def folder(self, name: str) -> Path:
        """A new, empty folder in the scratch folder."""
        path = self.path(name)
        path.mkdir(mode=0o700)
        return path

    def ours(self, cache: Path, *flags: str) -> list[str]:
        """The command of our server with its cache in ``cache``."""
        return [str(self.binary), "serve", "--cache-dir", str(cache), *flags]

    @property
    def log(self) -> Path:
        """Where our server's stderr goes: an unread pipe would block it."""
        return self.work / "ours.log"

    def discard(self, path: Path) -> None:
        """Removes a folder at once on a tmpfs; elsewhere it stays to the end, because mass deletes slow what follows."""
        if file_system(self.work) == "tmpfs":
            shutil.rmtree(path, ignore_errors=True)

    def offers(self, flag: str) -> bool:
        """Whether our server's help names ``flag``."""
        help_text = subprocess.run(
            [str(self.binary), "serve", "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
        )
        return flag in help_text.stdout + help_text.stderr


def file_system(path: Path) -> str:
    """The type of the file system that holds ``path``, for instance ``tmpfs`` or ``ext4``."""
    real = os.path.realpath(path)
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount, name = line.split(" ")[:3]
        inside = real == mount or real.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, name
    return kind


def progress(text: str) -> None:
    """Says on stderr what is being measured now."""
    print(text, file=sys.stderr, flush=True)
