"""The package for Emacs: `M-x package-install-file`."""

from __future__ import annotations

import re

from archives import Entry, files, tar
from build import LICENCE, ROOT, Build, repository

CLIENT = ROOT / "clients/emacs"
NAME = "halcyon"


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    text = (CLIENT / f"{NAME}.el").read_text()
    summary = re.findall(r"\A;;; \S+ --- (.*?)  -\*-", text)[0]
    version, requires, keywords = (_header(text, name) for name in ("Version", "Package-Requires", "Keywords"))
    words = " ".join(f'"{word}"' for word in keywords.split(", "))
    address = repository()
    described = "\n".join(
        [
            f'(define-package "{NAME}" "{version}"',
            f'  "{summary}"',
            f"  '{requires}",
            *([f'  :url "{address}"'] if address else []),
            f"  :keywords '({words}))",
            # Without this, installing compiles this file, which is no program.
            ";; Local Variables:",
            ";; no-byte-compile: t",
            ";; End:",
            "",
        ]
    )
    entries = files(CLIENT, ["*.el", "images", "README.md"])
    entries += [Entry(f"{NAME}-pkg.el", described.encode()), Entry("LICENCE", LICENCE.encode())]
    return {f"{NAME}-{version}.tar": tar(entries, build.epoch, f"{NAME}-{version}/")}


def _header(text: str, name: str) -> str:
    """A header of the main file."""
    return re.findall(rf"^;; {name}: (.*)$", text, re.MULTILINE)[0]
