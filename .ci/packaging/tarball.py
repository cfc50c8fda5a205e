"""The archive for every Linux, with a script that installs it."""

from __future__ import annotations

from pathlib import Path

from archives import Entry, gzipped, tar
from build import LICENCE, ROOT, Build


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    document = "share/doc/halcyon/"
    entries = [
        *build.installed("site-functions"),
        Entry("share/man/man1/halcyon.1", build.printed("manual").encode()),
        Entry(document + "LICENCE", LICENCE.encode()),
        Entry(document + "CHANGELOG.md", (ROOT / "protocol/CHANGELOG.md").read_bytes()),
        *(Entry(document + "third-party/" + one.path, one.data) for one in build.notices),
        Entry("install.sh", Path(__file__).with_name("install.sh").read_bytes(), True),
    ]
    name = f"halcyon-{build.version}-linux-{build.machine}"
    return {name + ".tar.gz": gzipped(tar(entries, build.epoch, name + "/"), build.level)}
