"""The plugin for Neovim with its help tags: a folder for `pack/*/start`."""

from __future__ import annotations

import re
from typing import Iterable

from archives import Entry, files, gzipped, tar
from build import LICENCE, ROOT, Build

CLIENT = ROOT / "clients/neovim"
NAME = "halcyon.nvim"


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    entries = files(CLIENT, ["plugin", "lua", "doc/*.txt", "README.md"])
    helps = [one for one in entries if one.path.startswith("doc/")]
    entries += [Entry("doc/tags", tags(helps)), Entry("LICENCE", LICENCE.encode())]
    return {f"{NAME}-{build.version}.tar.gz": gzipped(tar(entries, build.epoch, NAME + "/"), build.level)}


def tags(helps: Iterable[Entry]) -> bytes:
    """The tags of the pages of help, as `:helptags` writes them."""
    lines = []
    for page in helps:
        name = page.path.split("/")[-1]
        for tag in re.findall(r"(?:^|(?<=\s))\*([^\s*|]+)\*(?=\s|$)", page.data.decode(), re.MULTILINE):
            # The third column is a search, in which a backslash and a slash stand for themselves after a backslash.
            search = re.sub(r"[/\\]", r"\\\g<0>", tag)
            lines.append(f"{tag}\t{name}\t/*{search}*\n")
    return "".join(sorted(lines, key=str.encode)).encode()
