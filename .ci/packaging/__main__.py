"""Makes the packages of a build: `python3 .ci/packaging [--binaries FOLDER] [--toolchain] [--only KIND,…] FOLDER`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Callable, Dict

import debian
import emacs
import neovim
import npm
import start_time
import tarball
import vsix
import wheel
from build import ROOT, Build

KINDS: Dict[str, Callable[[Build], Dict[str, bytes]]] = {
    "deb": debian.package,
    "tarball": tarball.package,
    "wheel": wheel.package,
    "npm": npm.package,
    "vsix": vsix.package,
    "emacs": emacs.package,
    "neovim": neovim.package,
}


def main() -> None:
    """Writes the packages, and prints the path and size of each, and the time that an installed server takes to start."""
    parser = argparse.ArgumentParser(prog="package", description="Makes the packages of halcyon.")
    parser.add_argument("folder", type=Path, help="where the packages are written to")
    parser.add_argument("--binaries", type=Path, default=ROOT / ".build/release", help="the folder of the programs")
    parser.add_argument("--toolchain", action="store_true", help="let the programs use the libraries of the toolchain")
    parser.add_argument("--only", default=",".join(KINDS), help=f"the kinds to make, of {', '.join(KINDS)}")
    given = parser.parse_args()
    kinds = given.only.split(",")
    for kind in kinds:
        if kind not in KINDS:
            parser.error(f"There is no kind {kind!r}; there are {', '.join(KINDS)}.")
    build = Build(given.binaries, given.toolchain)
    given.folder.mkdir(parents=True, exist_ok=True)
    made: Dict[str, Path] = {}
    for kind in kinds:
        for name, data in KINDS[kind](build).items():
            path = given.folder / name
            path.write_bytes(data)
            made[kind] = path
            print(f"{path}  {len(data):,} bytes")
    for line in start_time.report(made, given.binaries):
        print(line)


if __name__ == "__main__":
    main()
