"""The Node client as `npm pack` packs it."""

from __future__ import annotations

import json
from typing import List

from archives import Entry, files, gzipped, tar
from build import LICENCE, ROOT, Build, with_repository

CLIENT = "clients/node"


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    folder = ROOT / CLIENT
    description = json.loads((folder / "package.json").read_text())
    entries: List[Entry] = files(folder, description["files"])
    entries += [
        Entry("package.json", manifest(with_repository(description, CLIENT))),
        Entry("LICENCE", LICENCE.encode()),
    ]
    return {f"{description['name']}-{description['version']}.tgz": gzipped(tar(entries, build.epoch, "package/"), build.level)}


def manifest(description: "dict[str, object]") -> bytes:
    """The text of a package.json."""
    return (json.dumps(description, indent=2, ensure_ascii=False) + "\n").encode()
