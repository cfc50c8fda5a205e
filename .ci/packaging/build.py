"""The build that is packaged: the programs, what they print of themselves, and what is known of the commit."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit

import elf
from archives import Entry

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("halcyon", "halcyon-codec")
#: The owner has chosen no licence, and no package may say that there is one.
LICENCE = (
    "The owner of halcyon has not chosen a licence yet. Until then nobody else has permission\n"
    "to copy, change or distribute it.\n"
)


class Build:
    """A folder with the two programs."""

    def __init__(self, folder: Path, uses_toolchain: bool) -> None:
        self.folder = folder
        self.uses_toolchain = uses_toolchain
        self.machine = platform.machine()
        #: How much archives are compressed, of 9: hardly where they do not leave this machine.
        self.level = 1 if uses_toolchain else 6
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct"))
        for name in PROGRAMS:
            if not os.access(folder / name, os.X_OK):
                raise SystemExit(f"There is no {folder / name}: build it first, or name another folder with --binaries.")

    @cached_property
    def version(self) -> str:
        """The version of the programs, without the commit behind it."""
        return self.printed("--version").split()[0]

    @cached_property
    def programs(self) -> Dict[str, bytes]:
        """The programs without symbols. They find libraries in their own folder, and nothing else of the build's machine."""
        result = {}
        for name in PROGRAMS:
            data = elf.stripped(self.folder / name)
            searched = elf.search_path(self.folder / name)
            result[name] = data if self.uses_toolchain else elf.searching_own_folder(data, searched)
        return result

    def needed(self, name: str) -> List[str]:
        """The libraries that a program needs and the machine must have."""
        path = self.folder / name
        libraries = elf.needed(path)
        folders = [Path(one) for one in elf.search_path(path).split(":") if one.startswith("/")]
        own = [one for one in libraries if any((folder / one).exists() for folder in folders)]
        if own and not self.uses_toolchain:
            raise SystemExit(
                f"{path} needs {', '.join(own)} of the toolchain: build it with --static-swift-stdlib, "
                "or say --toolchain for packages that are to work on this machine only."
            )
        return [one for one in libraries if one not in own]

    @cached_property
    def libc(self) -> elf.Version:
        """The oldest version of the C library that both programs start with."""
        return max(elf.libc(self.folder / name) for name in PROGRAMS)

    def printed(self, *words: str) -> str:
        """What the program prints."""
        environment = {**os.environ, "XDG_CONFIG_HOME": "/nonexistent"}
        command = [str(self.folder / "halcyon"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    def installed(self, zsh: str) -> List[Entry]:
        """The files of an installation below its prefix; `zsh` is the folder of completions for zsh."""
        return [
            *(Entry(f"bin/{name}", data, True) for name, data in self.programs.items()),
            Entry("share/bash-completion/completions/halcyon", self.printed("completions", "bash").encode()),
            Entry(f"share/zsh/{zsh}/_halcyon", self.printed("completions", "zsh").encode()),
            Entry("share/fish/vendor_completions.d/halcyon.fish", self.printed("completions", "fish").encode()),
        ]

    @property
    def notices(self) -> List[Entry]:
        """The licences and notices of the packages that are linked into the programs."""
        result = []
        for package in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
            folder = ROOT / ".build/checkouts" / package["identity"]
            for path in sorted(folder.glob("*.txt")):
                if re.match(r"LICEN[CS]E|NOTICE", path.name):
                    result.append(Entry(f"{package['identity']}/{path.name}", path.read_bytes()))
        return result


def repository() -> Optional[str]:
    """The address of the repository for everybody, if it has one: HALCYON_REPOSITORY, or that of the remote `origin`."""
    given = os.environ.get("HALCYON_REPOSITORY") or _git("config", "--default", "", "--get", "remote.origin.url")
    short = re.fullmatch(r"(?:[^@/]+@)?([^:/]+\.[^:/]+):([^/].*)", given)
    if short:
        return f"https://{short[1]}/{short[2]}"
    parts = urlsplit(given)
    # What stands before the host may be a password.
    return f"https://{parts.hostname}{parts.path}" if parts.scheme in ("http", "https", "ssh") and parts.hostname else None


def with_repository(description: Dict[str, Any], folder: str) -> Dict[str, Any]:
    """The content of a package.json with the repository's address, when that is known."""
    address = repository()
    if address is None:
        return description
    return {**description, "repository": {"type": "git", "url": f"git+{address}", "directory": folder}}


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout.strip()
