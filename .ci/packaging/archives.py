"""Archives whose bytes depend on their entries alone: sorted, owned by root, of one time."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterable, List, Tuple


@dataclass(frozen=True)
class Entry:
    """A file in an archive."""

    path: str
    data: bytes
    is_executable: bool = False

    @property
    def mode(self) -> int:
        """The permissions of the file."""
        return 0o755 if self.is_executable else 0o644


def files(folder: Path, patterns: Iterable[str], prefix: str = "") -> List[Entry]:
    """The files of a folder that the patterns name, whole folders with what is in them; each pattern names something."""
    found: Dict[str, Path] = {}
    for pattern in patterns:
        matches = sorted(folder.glob(pattern))
        if not matches:
            raise SystemExit(f"{folder} has no {pattern}: correct the list of files of its package.")
        for match in matches:
            for path in sorted(match.rglob("*")) if match.is_dir() else [match]:
                if path.is_file() and "__pycache__" not in path.parts:
                    found[str(path.relative_to(folder))] = path
    return [
        Entry(prefix + name, path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
        for name, path in found.items()
    ]


def tar(entries: Iterable[Entry], epoch: int, root: str = "") -> bytes:
    """A tar archive with the entries and their folders, below the folder `root`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        known = {""}
        for entry in sorted(entries, key=lambda one: one.path):
            path = root + entry.path
            parts = path.split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                if folder not in known and folder != ".":
                    known.add(folder)
                    archive.addfile(_described(folder + "/", 0o755, epoch, tarfile.DIRTYPE))
            file = _described(path, entry.mode, epoch, tarfile.REGTYPE)
            file.size = len(entry.data)
            archive.addfile(file, io.BytesIO(entry.data))
    return buffer.getvalue()


def _described(path: str, mode: int, epoch: int, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.mtime = kind, mode, epoch
    info.uname = info.gname = "root"
    return info


def gzipped(data: bytes, level: int) -> bytes:
    """The data in a gzip stream without time and name."""
    return gzip.compress(data, level, mtime=0)


def xzipped(data: bytes, level: int) -> bytes:
    """The data in an xz stream."""
    return lzma.compress(data, preset=level)


def zipped(entries: Iterable[Entry], epoch: int, level: int) -> bytes:
    """A zip archive with the entries in their order."""
    buffer = io.BytesIO()
    # The format has no times before 1980.
    moment = time.gmtime(max(epoch, 315_532_800))[:6]
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.path, moment)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | entry.mode) << 16
            archive.writestr(info, entry.data, compresslevel=level)
    return buffer.getvalue()


def ar(members: Iterable[Tuple[str, bytes]], epoch: int) -> bytes:
    """An archive as `ar` writes it (`man 5 ar`)."""
    result = b"!<arch>\n"
    for name, data in members:
        result += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data
        result += b"\n" * (len(data) % 2)
    return result
