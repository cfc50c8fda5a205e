"""The files that are no whole picture, and the pictures whose names lie."""

from __future__ import annotations

import json
import random
from typing import Callable

from . import pictures
from .classic import gif_still, jpeg
from .fixture import Fixture
from .modern import webp
from .tools import encoded, png

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in to the network</title></head>
<body><h1>Sign in to the network</h1><p>You are offline until you accept the terms.</p><form method="post" action="/accept"><button>Accept</button></form></body>
</html>
"""


def cut(file: bytes, after: bytes) -> bytes:
    """The file up to the middle of what follows the last `after`, the mark where its pixel data begins."""
    start = file.rindex(after)
    return file[: start + (len(file) - start) // 2]


def noise() -> bytes:
    """4096 seeded random bytes whose beginning is no known signature."""
    return random.Random(11).randbytes(4096)


def broken_fixtures() -> list[Fixture]:
    """Truncated pictures, bodies that are something else, and nothing at all."""

    def bad(file: str, note: str, draw: Callable[[], bytes]) -> Fixture:
        return Fixture(f"broken/{file}", note, draw, valid=False)

    return [
        bad(
            "truncated.png",
            "a 160x120 PNG cut in the middle of IDAT",
            lambda: cut(png(pictures.photo(160, 120, 6)), b"IDAT"),
        ),
        bad(
            "truncated.jpg",
            "a 160x120 baseline JPEG cut in the middle of its scan",
            lambda: cut(jpeg(pictures.photo(160, 120, 6)), b"\xff\xda"),
        ),
        bad(
            "truncated.gif",
            "a 160x120 GIF cut in the middle of its picture data",
            lambda: cut(
                gif_still(pictures.photo(160, 120, 6).quantize(16), interlace=0), b"\x2c\x00\x00\x00\x00\xa0\x00"
            ),
        ),
        bad(
            "truncated.webp",
            "a 160x120 lossy WebP cut in the middle of its VP8 chunk",
            lambda: cut(webp(pictures.photo(160, 120, 6)), b"VP8 "),
        ),
        bad("html-page.jpg", "an HTML sign-in page", lambda: PAGE.encode()),
        bad(
            "json-body.png",
            "a JSON error body",
            lambda: json.dumps({"error": {"code": 404, "message": "no such picture"}}).encode(),
        ),
        bad("empty.png", "no bytes", lambda: b""),
        bad("random.bin", "4096 seeded random bytes", noise),
        bad(
            "signature-only.png", "the 8 bytes of the PNG signature and nothing else", lambda: png(pictures.scene())[:8]
        ),
        bad("plain-text.txt", "a line of text", lambda: b"GI joe wrote this line; it is not a picture.\n"),
    ]


def misnamed_fixtures() -> list[Fixture]:
    """Whole pictures under names that say something else."""
    return [
        Fixture("misnamed/png-named.jpg", "a PNG", lambda: png(pictures.scene(61, 37))),
        Fixture("misnamed/jpeg-without-extension", "a JPEG", lambda: jpeg(pictures.scene(61, 37))),
        Fixture("misnamed/webp-named.png", "a lossy WebP", lambda: webp(pictures.scene(61, 37), "-q", "75")),
        Fixture(
            "misnamed/gif-named.webp",
            "an animated GIF of 2 frames",
            lambda: encoded(
                pictures.flat(), "GIF", save_all=True, append_images=[pictures.flat().rotate(180)], duration=100
            ),
        ),
    ]
