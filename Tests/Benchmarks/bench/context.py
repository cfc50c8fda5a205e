"""What every benchmark needs to know: the programs, the folders and how much to do."""

from __future__ import annotations

import dataclasses
import importlib.util
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

    ``rounds`` is how often each side is measured (at least five for a result that counts); ``divisor`` is what the work is
    divided by, 1 for a result that counts. ``work`` is a scratch folder, on a tmpfs when there is room for one, removed at the
    end; ``kept``, if there is one, stays and holds what takes long to make; ``disk`` is a scratch folder on a disk, if ``work``
    is on none. A self-check measures nothing that counts: it shows that the benchmarks can be run, and does so with one of each and
    without anything that a machine may not have.
    """

    root: Path
    binary: Path
    tools: Path
    client: Path
    work: Path
    rounds: int = 7
    divisor: int = 1
    is_self_check: bool = False
    pin: bool = True
    kept: Path | None = None
    disk: Path | None = None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def on_disk(self) -> Context:
        """The same with its scratch folder on a disk, where there is one: a tmpfs has nothing to wait for."""
        return dataclasses.replace(self, work=self.disk) if self.disk else self

    def scaled(self, count: int) -> int:
        """``count``, or a part of it when the work is divided."""
        return max(1, count // self.divisor)

    @property
    def starts(self) -> int:
        """How often a process is started in a round."""
        return 15 if self.divisor == 1 else 1 if self.is_self_check else 5

    def program(self, name: str, path: str | None = None) -> str | None:
        """Where a program to compare with is; ``None`` when it is not installed, and in a self-check."""
        return None if self.is_self_check else shutil.which(name, path=path)

    def has_module(self, name: str) -> bool:
        """Whether a Python library to compare with is installed; never in a self-check."""
        return not self.is_self_check and importlib.util.find_spec(name) is not None

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
        """Whether our server's help names ``flag``; a self-check takes it for granted, and so sees when it is gone."""
        if self.is_self_check:
            return True
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
