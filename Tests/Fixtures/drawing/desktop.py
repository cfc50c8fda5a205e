"""The valid TIFF, BMP, ICO and SVG fixtures."""

from __future__ import annotations

import struct

from PIL import Image

from . import pictures
from .fixture import Fixture
from .tools import convert, encoded, png, through


def tiff_pages() -> bytes:
    """A TIFF of two pages, 64x48 and 61x37."""
    return encoded(
        pictures.scene(), "TIFF", save_all=True, append_images=[pictures.photo(61, 37, 4)], compression="tiff_lzw"
    )


def big_endian(image: Image.Image, compression: str) -> bytes:
    """A big-endian TIFF through tiffcp; `compression` is "zip" or "none"."""
    return through(
        "tiffcp", "-B", "-c", compression, "a.tiff", "b.tiff", output="b.tiff", a_tiff=encoded(image, "TIFF")
    )


def top_down(bitmap: bytes) -> bytes:
    """A 24-bit BMP with its rows reversed and its height made negative, which no encoder at hand writes."""
    start, width, height = struct.unpack_from("<I4xii", bitmap, 10)
    stride = (width * 3 + 3) // 4 * 4
    rows = [bitmap[start + index * stride : start + (index + 1) * stride] for index in range(height)]
    return bitmap[:22] + struct.pack("<i", -height) + bitmap[26:start] + b"".join(reversed(rows))


def icon(*sides: int, kind: str) -> bytes:
    """An ICO of square entries through Pillow, each stored as a bitmap ("bmp") or as a PNG ("png")."""
    return encoded(
        pictures.translucent(max(sides), max(sides)), "ICO", sizes=[(side, side) for side in sides], bitmap_format=kind
    )


def mixed_icon() -> bytes:
    """An ICO through ImageMagick: bitmaps of 16 and 32 pixels, then a PNG of 256."""
    inputs = {f"i{side}_png": png(pictures.translucent(side, side)) for side in (16, 32, 256)}
    return through("convert", "i16.png", "i32.png", "i256.png", "-strip", "a.ico", output="a.ico", **inputs)


def desktop_fixtures() -> list[Fixture]:
    """TIFF, BMP and ICO in the layouts that differ in their headers."""
    return [
        Fixture(
            "tiff-little-endian.tiff",
            "II, RGB, not compressed, odd size",
            lambda: encoded(pictures.scene(61, 37), "TIFF"),
        ),
        Fixture(
            "tiff-big-endian.tiff", "MM, RGB, deflate, odd size", lambda: big_endian(pictures.scene(61, 37), "zip")
        ),
        Fixture(
            "tiff-big-endian-gray16.tiff",
            "MM, 16-bit gray, not compressed",
            lambda: big_endian(pictures.gray16(), "none"),
        ),
        Fixture("tiff-two-pages.tiff", "II, LZW, a 64x48 page and a 61x37 page", tiff_pages),
        Fixture(
            "bmp-24bit.bmp",
            "24-bit, bottom-up, odd width (padded rows)",
            lambda: encoded(pictures.scene(61, 37), "BMP"),
        ),
        Fixture(
            "bmp-top-down.bmp",
            "24-bit, top-down (negative height)",
            lambda: top_down(encoded(pictures.scene(61, 37), "BMP")),
        ),
        Fixture("bmp-palette.bmp", "8-bit palette", lambda: encoded(pictures.flat(), "BMP")),
        Fixture(
            "bmp-core-header.bmp",
            "12-byte OS/2 header with 16-bit sizes",
            lambda: convert(pictures.scene(), "-type", "TrueColor", "BMP2:-"),
        ),
        Fixture(
            "bmp-v5-alpha.bmp",
            "32-bit with alpha and a 124-byte header",
            lambda: convert(pictures.translucent(), "BMP:-"),
        ),
        Fixture("ico-sizes.ico", "bitmaps of 16, 32 and 48", lambda: icon(16, 32, 48, kind="bmp")),
        Fixture(
            "ico-png.ico", "one 256x256 PNG; its directory says 0x0, which means 256", lambda: icon(256, kind="png")
        ),
        Fixture("ico-mixed.ico", "bitmaps of 16 and 32, then a 256x256 PNG", mixed_icon),
    ]


SHAPES = (
    '  <rect width="64" height="48" fill="#3a6ec4"/>\n'
    '  <circle cx="14" cy="12" r="9" fill="#f4b03e"/>\n'
    '  <path d="M21 48 L48 24 L64 48 Z" fill="#348c60"/>\n'
)
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
DOCTYPE = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
PROLOG = f'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- Drawn for tests; a comment may hold <html> and "quotes". -->\n{DOCTYPE}\n'


def svg(attributes: str, before: str = "") -> bytes:
    """An SVG of the scene's shapes; `attributes` follow the namespace, `before` stands ahead of the root element."""
    return f"{before}<svg {NAMESPACE} {attributes}>\n{SHAPES}</svg>\n".encode()


def svg_fixtures() -> list[Fixture]:
    """SVG: size by attributes, by viewBox alone, and behind everything that may precede the root element."""
    return [
        Fixture("svg-sized.svg", "width and height attributes", lambda: svg('width="64" height="48"')),
        Fixture("svg-viewbox.svg", "a viewBox and no size", lambda: svg('viewBox="0 0 64 48"')),
        Fixture(
            "svg-sized-viewbox.svg",
            "width and height in px, twice the viewBox",
            lambda: svg('width="128px" height="96px" viewBox="0 0 64 48"'),
        ),
        Fixture(
            "svg-prolog.svg",
            "XML declaration, comment and doctype ahead of <svg",
            lambda: svg('width="64" height="48"', PROLOG),
        ),
        Fixture(
            "svg-bom.svg",
            "a UTF-8 byte order mark and blank lines ahead of <svg",
            lambda: svg('width="64" height="48"', "\ufeff\n\n"),
        ),
    ]
