#!/usr/bin/env python3
"""Draws one picture of what every processor does: each example of the catalog, with its text below it.

    contact_sheet.py sheet.png [processor…]    all processors, or those that are named

The processors and their examples are those of ``halcyon discover``, so none can be forgotten: one without an example ends
the script with 1, and so does one that fails. Each example is shown for a photograph and for a drawing with a margin and
clear places; clear is shown as squares. The pictures and the letters are made by the binary (HALCYON_BIN, else the debug
build), asked over a pipe; nothing else is needed than Python 3.9.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple
from urllib.parse import quote
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
PHOTOGRAPH = (ROOT / "Tests/Fixtures/jpeg-photo.jpg").as_uri()
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="240" height="180">
<rect width="240" height="180" fill="#f4f0e8"/><g transform="translate(24 24)">
<rect width="192" height="132" fill="#7ab8d8"/><rect y="96" width="192" height="36" fill="#5a8a4a"/>
<circle cx="150" cy="30" r="16" fill="#fff2a0"/><path d="M10 100l40-60 40 60z" fill="#8a6a50"/>
<path d="M36 62l14-22 14 22z" fill="#fff"/><text x="100" y="120" font-size="22" font-family="serif" fill="#fff">Rr</text>
</g></svg>"""
PUNCHED = """<svg xmlns="http://www.w3.org/2000/svg" width="240" height="180">
<circle cx="150" cy="80" r="70" fill="#c83c50"/><circle cx="150" cy="80" r="30" fill="#ffd23c"/>
<rect x="20" y="110" width="90" height="50" rx="12" fill="#3c5ac8" fill-opacity="0.6"/></svg>"""
TILE, LABEL, GAP, COLUMNS, LETTERS = (160, 124), 34, 10, 3, 52
"""The room for a picture, for its text, between them, the number of examples in a row, and of letters in a line, in pixels."""

Picture = Tuple[int, int, bytes]
"""The width, the height and RGBA samples."""


def binary() -> str:
    """The program that is shown."""
    return os.environ.get("HALCYON_BIN") or str(ROOT / ".build/debug/halcyon")


def examples(wanted: Sequence[str]) -> List[str]:
    """The examples of all processors in the order of the catalog, or of those that are wanted."""
    document = json.loads(subprocess.run([binary(), "discover"], check=True, stdout=subprocess.PIPE).stdout)
    found: Dict[str, List[str]] = {
        kind["required"][0]: kind.get("x-examples", []) for kind in document["components"]["schemas"]["Processor"]["oneOf"]
    }
    lacking = [name for name, uses in found.items() if not uses] + [name for name in wanted if name not in found]
    if lacking:
        sys.exit(f"There is no example of {', '.join(lacking)}.")
    return [use for name, uses in found.items() if not wanted or name in wanted for use in uses]


def data_url(drawing: str) -> str:
    """A drawing as a URL."""
    return "data:image/svg+xml," + quote(drawing)


def made(requests: Sequence[Dict[str, Any]]) -> List[Picture]:
    """The pixels that answer each request; one that fails ends the script."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            {"jsonrpc": "2.0", "id": number, "method": "retrieve", "params": {"as": "pixels", **request}}
            for number, request in enumerate(requests)
        ]
        server = subprocess.Popen(
            [binary(), "--cache-dir", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdin is not None and server.stdout is not None
        pictures: List[Picture] = []
        for line in lines:
            # One at a time: the file of pixels lasts as long as the process.
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            reply = json.loads(server.stdout.readline())
            while "id" not in reply:
                reply = json.loads(server.stdout.readline())
            if "error" in reply:
                sys.exit(f"{line['params'].get('processors')}: {reply['error']['message']}")
            pixels = reply["result"]["pixels"]
            data = Path(pixels["path"]).read_bytes()[: pixels["stride"] * pixels["height"]]
            pictures.append((pixels["width"], pixels["height"], data))
        server.stdin.close()
        server.wait()
    return pictures


class Sheet:
    """An opaque picture that others are laid on."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(b"\xff\xff\xff" * width) for _ in range(height)]

    def squares(self, left: int, top: int, width: int, height: int) -> None:
        """Draws the ground that shows what is clear."""
        for y in range(height):
            for x in range(width):
                shade = 0xE4 if (x // 8 + y // 8) % 2 else 0xFA
                self._rows[top + y][3 * (left + x) : 3 * (left + x) + 3] = bytes([shade] * 3)

    def lay(self, picture: Picture, left: int, top: int) -> None:
        """Lays a picture on the sheet by its alpha; what does not fit is left out."""
        width, height, data = picture
        for y in range(min(height, self.height - top)):
            row = self._rows[top + y]
            for x in range(min(width, self.width - left)):
                place, to = 4 * (y * width + x), 3 * (left + x)
                alpha = data[place + 3]
                for band in range(3):
                    row[to + band] = (data[place + band] * alpha + row[to + band] * (255 - alpha) + 127) // 255

    def png(self) -> bytes:
        """The sheet as a file."""

        def chunk(kind: bytes, body: bytes) -> bytes:
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        size = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        rows = zlib.compress(b"".join(b"\0" + bytes(row) for row in self._rows), 9)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def lettering(texts: Sequence[Tuple[int, int, str]], width: int, height: int) -> str:
    """A drawing with texts at their places, each in lines."""
    lines = []
    for left, top, text in texts:
        parts = [text[start : start + LETTERS] for start in range(0, len(text), LETTERS)]
        for number, part in enumerate(parts):
            lines.append(f'<text x="{left}" y="{top + 12 + 14 * number}">{escape(part)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' font-family="monospace" font-size="10.5" fill="#222">{"".join(lines)}</svg>'
    )


def sheet(uses: Sequence[str]) -> bytes:
    """The sheet with every use, the sources first."""
    sources = [PHOTOGRAPH, data_url(DRAWING), data_url(PUNCHED)]
    shown = ["downsample:120x90"] + [f"downsample:120x90/{use}" for use in uses]
    cell = (len(sources) * (TILE[0] + 2) + GAP, TILE[1] + LABEL + GAP)
    rows = (len(shown) + COLUMNS - 1) // COLUMNS
    result = Sheet(cell[0] * COLUMNS + GAP, cell[1] * rows + GAP)
    requests, places, texts = [], [], []
    for number, processors in enumerate(shown):
        left, top = GAP + cell[0] * (number % COLUMNS), GAP + cell[1] * (number // COLUMNS)
        texts.append((left, top + TILE[1], uses[number - 1] if number else "(as they are)"))
        for column, source in enumerate(sources):
            requests.append({"url": source, "processors": processors})
            places.append((left + column * (TILE[0] + 2), top))
    requests.append({"url": data_url(lettering(texts, result.width, result.height))})
    *pictures, letters = made(requests)
    for (left, top), picture in zip(places, pictures):
        result.squares(left, top, *TILE)
        # The middle of what is larger than its room.
        width, height, data = picture
        across, down = min(width, TILE[0]), min(height, TILE[1])
        skipped = ((width - across) // 2, (height - down) // 2)
        cut = b"".join(
            data[4 * ((skipped[1] + y) * width + skipped[0]) :][: 4 * across] for y in range(down)
        )
        result.lay((across, down, cut), left + (TILE[0] - across) // 2, top + (TILE[1] - down) // 2)
    result.lay(letters, 0, 0)
    return result.png()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("Usage: contact_sheet.py sheet.png [processor…]")
    uses = examples(sys.argv[2:])
    Path(sys.argv[1]).write_bytes(sheet(uses))
    print(f"{sys.argv[1]}: {len(uses)} examples")


if __name__ == "__main__":
    main()
