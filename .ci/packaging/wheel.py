"""The Python client with the programs: `pip install` of one file is all that a script needs."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tomllib
from pathlib import Path
from typing import List

import elf
from archives import Entry, files, zipped
from build import LICENCE, ROOT, Build

CLIENT = ROOT / "clients/python"
#: The libraries that come along: small, not on every machine, and used by nothing else that the program loads.
CARRIED = {"libjansson.so.4": "libjansson4", "libsqlite3.so.0": "libsqlite3-0"}
#: The command `halcyon` of the environment.
COMMAND = '''#!python
import importlib.util, os, sys
folder = importlib.util.find_spec("halcyon").submodule_search_locations[0]
os.execv(os.path.join(folder, "bin", "halcyon"), ["halcyon", *sys.argv[1:]])
'''


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    name = f"{re.sub('[-_.]+', '_', project['name'])}-{project['version']}"
    carried = [_library(one) for one in CARRIED if one in build.needed("halcyon")]
    libc = max([build.libc, *map(elf.libc, carried)])
    tag = f"py3-none-manylinux_{libc[0]}_{libc[1]}_{build.machine}"
    entries = files(CLIENT / "src", ["halcyon/*.py", "halcyon/py.typed"])
    entries += [Entry(f"halcyon/bin/{program}", data, True) for program, data in build.programs.items()]
    entries += [Entry(f"halcyon/bin/{path.name}", elf.stripped(path)) for path in carried]
    entries.append(Entry(f"{name}.data/scripts/halcyon", COMMAND.encode(), True))
    about = f"{name}.dist-info/"
    entries += [
        Entry(about + "METADATA", _metadata(project).encode()),
        Entry(about + "WHEEL", f"Wheel-Version: 1.0\nGenerator: halcyon\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()),
        Entry(about + "LICENCE", LICENCE.encode()),
        *(Entry(about + "third-party/" + one.path, one.data) for one in build.notices),
        *(_notice(about, CARRIED[path.name]) for path in carried),
    ]
    entries.sort(key=lambda one: (one.path.startswith(about), one.path))
    record = "".join(f"{one.path},sha256={_digest(one.data)},{len(one.data)}\n" for one in entries)
    entries.append(Entry(about + "RECORD", f"{record}{about}RECORD,,\n".encode()))
    return {f"{name}-{tag}.whl": zipped(entries, build.epoch, build.level)}


def _metadata(project: "dict[str, object]") -> str:
    lines: List[str] = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        f"Keywords: {','.join(project['keywords'])}",  # type: ignore[arg-type]
        *(f"Classifier: {one}" for one in project["classifiers"]),  # type: ignore[attr-defined]
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (CLIENT / str(project["readme"])).read_text()


def _library(name: str) -> Path:
    """The file of a library of this machine."""
    for folder in (f"/usr/lib/{os.uname().machine}-linux-gnu", "/usr/lib64", "/usr/lib"):
        if os.path.exists(f"{folder}/{name}"):
            return Path(folder, name)
    raise SystemExit(f"{name} was not found on this machine: install its package.")


def _notice(about: str, package: str) -> Entry:
    return Entry(f"{about}third-party/{package}/copyright", Path(f"/usr/share/doc/{package}/copyright").read_bytes())


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
