"""What the programs ask of the machine, as `readelf` tells it, and what is taken out of them."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import List, Tuple

Version = Tuple[int, ...]


def needed(path: Path) -> List[str]:
    """The names of the libraries that the loader must find."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", _told("-d", path))


def search_path(path: Path) -> str:
    """The folders that the loader searches for this program (RUNPATH); empty for none."""
    found = re.findall(r"\(RUNPATH\).*\[(.*)\]", _told("-d", path))
    return found[0] if found else ""


def libc(path: Path) -> Version:
    """The oldest version of the C library that the program starts with."""
    # Packed relative relocations, which have a name instead of a number, are read from 2.36 on.
    needed = _told("-V", path).replace("GLIBC_ABI_DT_RELR", "GLIBC_2.36")
    versions = re.findall(r"Name: GLIBC_([0-9.]+)", needed)
    return max((tuple(map(int, one.split("."))) for one in versions), default=(2, 17))


def stripped(path: Path) -> bytes:
    """The program without symbols and debug information."""
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "--strip-all", "-o", copy.name, str(path)], check=True)
        return Path(copy.name).read_bytes()


def searching_own_folder(program: bytes, searched: str) -> bytes:
    """The program that searches its own folder only, instead of the folders `searched` of the machine that built it."""
    own = b"$ORIGIN"
    if not searched or searched.encode() == own:
        return program
    old = b"\0" + searched.encode() + b"\0"
    if program.count(old) != 1 or len(searched) < len(own):
        raise SystemExit(f"The search path {searched} of a program cannot be replaced.")
    return program.replace(old, b"\0" + own.ljust(len(searched), b"\0") + b"\0")


def _told(what: str, path: Path) -> str:
    return subprocess.run(["readelf", "-W", what, str(path)], check=True, capture_output=True, text=True).stdout
