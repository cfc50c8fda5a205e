#!/usr/bin/env python3
"""Draws every picture in this folder with encoders other than ours and writes manifest.json.

    make_fixtures.py            draws everything beside this file
    make_fixtures.py --check    draws everything in a scratch folder and compares; exit code 1 names what differs

Needs Pillow with its plug-in for JPEG XL, and the programs listed in drawing/tools.py; the same versions of them give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Optional, Union

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True

from drawing.broken import broken_fixtures, misnamed_fixtures  # noqa: E402
from drawing.classic import gif_fixtures, jpeg_fixtures, png_fixtures  # noqa: E402
from drawing.desktop import desktop_fixtures, svg_fixtures  # noqa: E402
from drawing.fixture import Fixture  # noqa: E402
from drawing.jxl import jxl_fixtures  # noqa: E402
from drawing.measure import Disagreement, measure, require_unreadable  # noqa: E402
from drawing.modern import heif_fixtures, webp_fixtures  # noqa: E402
from drawing.other import other_fixtures  # noqa: E402
from drawing.tools import ToolError  # noqa: E402

Entry = dict[str, Union[str, int, bool, None]]

LIMIT = 1_500_000
"""The most bytes all pictures may have together."""


def everything() -> list[Fixture]:
    """Every fixture, in the order of the manifest."""
    groups = (
        png_fixtures,
        jpeg_fixtures,
        gif_fixtures,
        webp_fixtures,
        heif_fixtures,
        jxl_fixtures,
        desktop_fixtures,
        svg_fixtures,
        other_fixtures,
        misnamed_fixtures,
        broken_fixtures,
    )
    return [fixture for group in groups for fixture in group()]


def entry(fixture: Fixture, path: Path) -> Entry:
    """The manifest's line for a file on disk, measured by other programs; the facts of a broken file are null."""
    content = path.read_bytes()
    found = None
    if fixture.valid:
        found = measure(path)
    else:
        require_unreadable(path)
    return {
        "file": fixture.file,
        "format": found.format if found else None,
        "mimeType": found.mime_type if found else None,
        "width": found.width if found else None,
        "height": found.height if found else None,
        "frameCount": found.frames if found else None,
        "byteCount": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "valid": fixture.valid,
        "note": fixture.note,
    }


def draw(folder: Path) -> list[str]:
    """Draws everything into a folder, writes the manifest there, and returns the names of all files written."""
    entries: list[Entry] = []
    total = 0
    for fixture in everything():
        path = folder / fixture.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(fixture.draw())
        total += path.stat().st_size
        entries.append(entry(fixture, path))
    if total > LIMIT:
        raise Disagreement(f"the pictures have {total} bytes together; the limit is {LIMIT}")
    lines = ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in entries)
    (folder / "manifest.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return [fixture.file for fixture in everything()] + ["manifest.json"]


def differences(committed: Path, drawn: Path, names: list[str]) -> list[str]:
    """The names whose bytes differ between two folders or are missing from the first."""
    return [
        name
        for name in names
        if not (committed / name).is_file() or (committed / name).read_bytes() != (drawn / name).read_bytes()
    ]


def main(arguments: Optional[list[str]] = None) -> int:
    """Draws or checks; returns the exit code: 0 done, 1 something differs, 2 a program is missing or disagrees."""
    parser = argparse.ArgumentParser(description="Draws the picture fixtures and their manifest.")
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare a fresh drawing with the committed files instead of replacing them",
    )
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            print(f"wrote {len(draw(HERE))} files, the manifest among them")
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            names = draw(Path(scratch))
            different = differences(HERE, Path(scratch), names)
    except (ToolError, Disagreement) as failure:
        print(failure, file=sys.stderr)
        return 2
    for name in different:
        print(f"{name} differs from a fresh drawing", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
