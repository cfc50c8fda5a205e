"""Valid JPEGs of 20,000 bytes, or of 20 MB, each with bytes of its own."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

from .context import BenchError, Context

SIZE = 20_000
LARGE = 20_000_000
_START = b"\xff\xd8"


def make(context: Context, count: int, first: int = 0) -> list[Path]:
    """Writes ``count`` distinct JPEGs of 20,000 bytes into a new folder; they differ in a comment after the SOI marker.

    Pictures with other numbers, from ``first`` on, have other bytes.
    """
    original = base(context)
    folder = context.folder("pictures")
    paths = []
    for number in range(first, first + count):
        path = folder / f"{number:05d}.jpg"
        path.write_bytes(numbered(original, number))
        paths.append(path)
    return paths


def make_large(context: Context, count: int) -> list[Path]:
    """Writes ``count`` distinct JPEGs of 20 MB into a new folder: noise follows what a decoder would read."""
    original = base(context)
    folder = context.folder("large")
    paths = []
    for number in range(count):
        path = folder / f"{number:05d}.jpg"
        start = numbered(original, number)
        noise = random.Random(number).randbytes(LARGE - len(start)).replace(b"\xff", b"\x00")
        path.write_bytes(start[:-2] + noise + start[-2:])
        paths.append(path)
    return paths


def numbered(original: bytes, number: int) -> bytes:
    """``original`` with a comment segment that holds ``number`` and fills the picture up to 20,000 bytes."""
    room = SIZE - len(original) - 4
    text = f"picture {number:09d} ".encode().ljust(room, b".")
    return _START + b"\xff\xfe" + struct.pack(">H", len(text) + 2) + text + original[2:]


def base(context: Context) -> bytes:
    """A JPEG that leaves room for the comment: drawn by Pillow when it is there, else one of the project's test pictures."""
    drawn = _drawn() if context.has_module("PIL") else b""
    if drawn:
        return drawn
    whole = [
        data
        for data in (path.read_bytes() for path in sorted((context.root / "Tests" / "Fixtures").glob("*.jp*g")))
        if data[:3] == _START + b"\xff" and data[-2:] == b"\xff\xd9" and len(data) < SIZE - 64
    ]
    if not whole:
        raise BenchError("There is no JPEG below 20 KB in Tests/Fixtures, and Pillow is not installed to draw one.")
    return max(whole, key=len)


def _drawn() -> bytes:
    try:
        from PIL import Image
    except ImportError:
        return b""
    out = io.BytesIO()
    Image.effect_mandelbrot((640, 480), (-2.2, -1.2, 1.0, 1.2), 60).convert("RGB").save(out, "JPEG", quality=60)
    return out.getvalue()
