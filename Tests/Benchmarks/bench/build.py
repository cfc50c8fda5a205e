"""Builds what is measured: the release binary of the project and the C programs of the benchmarks."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Iterable

from .context import BenchError, progress

FOLDER = Path(__file__).resolve().parent.parent
ROOT = FOLDER.parent.parent

_LIBRARIES = {
    "bench-driver": ["jansson"],
    "bench-echo": ["jansson", "sqlite3"],
    "bench-fetch": ["curl", "crypto", "sqlite3", "pthread"],
    "bench-store": ["sqlite3"],
}


def find_binary() -> Path:
    """The server to measure: ``HALCYON_BIN``, else the project's release binary, built when it is missing or stale."""
    return _find("halcyon", "HALCYON_BIN")


@functools.cache
def find_codec() -> Path:
    """The codec worker to measure: ``HALCYON_CODEC``, else the one beside ``HALCYON_BIN``, else the project's as above."""
    if "HALCYON_BIN" in os.environ and "HALCYON_CODEC" not in os.environ:
        beside = find_binary().parent / "halcyon-codec"
        if beside.exists():
            return beside
    return _find("halcyon-codec", "HALCYON_CODEC")


def _find(product: str, variable: str) -> Path:
    named = os.environ.get(variable)
    if named:
        path = Path(named).resolve()
        if not os.access(path, os.X_OK):
            raise BenchError(f"{variable} names {path}, which is not an executable file.")
        return path
    path = ROOT / ".build" / "release" / product
    sources = [ROOT / "Package.swift", *_files(ROOT / "Sources", ("*.swift", "*.c", "*.h"))]
    if _is_stale(path, sources):
        if not (ROOT / "Package.swift").exists():
            raise BenchError(f"There is no Package.swift in {ROOT}; set {variable} to the binary to measure.")
        progress(f"building the release binary of {product}…")
        subprocess.run(
            [
                "swift",
                "build",
                "-c",
                "release",
                "--static-swift-stdlib",
                "--product",
                product,
                "--package-path",
                str(ROOT),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return path


def build_tools() -> Path:
    """Compiles the load driver and the yardsticks when their sources changed; returns the folder they are in."""
    out = FOLDER / ".build" / "tools"
    out.mkdir(parents=True, exist_ok=True)
    support = FOLDER / "Sources" / "BenchSupport"
    shared = _files(support, ("*.c", "*.h"))
    for name, libraries in _LIBRARIES.items():
        own = _files(FOLDER / "Sources" / name, ("*.c", "*.h"))
        program = out / name
        if not _is_stale(program, [*shared, *own]):
            continue
        sources = [str(file) for file in [*shared, *own] if file.suffix == ".c"]
        flags = ["-O2", "-std=gnu11", "-Wall", "-Wextra", f"-I{support / 'include'}"]
        links = [f"-l{library}" for library in libraries]
        done = subprocess.run(
            [_compiler(), *flags, "-o", str(program), *sources, *links], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise BenchError(f"Cannot compile {name} (they need what the server is built with):\n{done.stderr}")
    return out


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "cc", "clang", "gcc"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise BenchError("There is no C compiler: install gcc or put the Swift toolchain's clang on PATH.")


def _files(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted(file for pattern in patterns for file in folder.rglob(pattern))


def _is_stale(product: Path, sources: Iterable[Path]) -> bool:
    if not product.exists():
        return True
    # SwiftPM leaves an unchanged product alone, so a source may be newer without a need to rebuild: it will say so itself.
    built = product.stat().st_mtime
    return any(source.exists() and source.stat().st_mtime > built for source in sources)
