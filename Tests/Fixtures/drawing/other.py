"""The valid JPEG 2000, PNM, ICNS and PDF fixtures."""

from __future__ import annotations

import io
import struct

from PIL import Image

from . import pictures
from .fixture import Fixture
from .tools import png


def jp2(image: Image.Image, **options: object) -> bytes:
    """A picture through Pillow's OpenJPEG."""
    out = io.BytesIO()
    image.save(out, "JPEG2000", **options)
    return out.getvalue()


def codestream(image: Image.Image) -> bytes:
    """The codestream in a JP2, in several tiles."""
    whole = jp2(image, irreversible=False, tile_size=(32, 32))
    return whole[whole.index(b"\xff\x4f\xff\x51") :]


def pnm(kind: int, image: Image.Image, most: int = 255) -> bytes:
    """A PBM, PGM or PPM, with a comment in its head; ``most`` is the sample that is white."""
    head = f"P{kind}\n# a picture\n{image.width} {image.height}\n" + ("" if kind in (1, 4) else f"{most}\n")
    if kind == 4:
        return head.encode() + bytes(255 - byte for byte in image.tobytes())
    samples = [value * most // 255 for value in image.tobytes()]
    if kind < 4:
        width = image.width * len(image.getbands())
        rows = [samples[start : start + width] for start in range(0, len(samples), width)]
        return (head + "".join(" ".join(map(str, row)) + "\n" for row in rows)).encode()
    return head.encode() + (struct.pack(f">{len(samples)}H", *samples) if most > 255 else bytes(samples))


def icns(*icons: tuple[str, bytes]) -> bytes:
    """A file of icons, each a type and what it holds."""
    body = b"".join(name.encode() + struct.pack(">I", 8 + len(data)) + data for name, data in icons)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def pdf(*contents: str, size: str = "0 0 64 48") -> bytes:
    """A document with a page for each content, in a font that it does not hold."""
    pages = [f"{4 + 2 * index} 0 R" for index in range(len(contents))]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(pages)}] /Count {len(pages)} /MediaBox [{size}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, content in enumerate(contents):
        objects.append(f"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return (out + end + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n").encode()


#: A red ground, and a blue part at its top left.
DRAWING = "1 0 0 rg 0 0 64 48 re f 0 0 1 rg 0 24 32 24 re f"
TEXT = DRAWING + " 1 g BT /F 20 Tf 2 4 Td (text) Tj ET"


def other_fixtures() -> list[Fixture]:
    """Formats that are read and not written."""
    deep = pictures.scene(61, 37).convert("L").point(lambda value: value * 257, "I").convert("I;16")
    return [
        Fixture("jp2-rgb.jp2", "RGB without loss", lambda: jp2(pictures.scene(61, 37), irreversible=False)),
        Fixture("jp2-lossy.jp2", "RGB with loss", lambda: jp2(pictures.scene(), irreversible=True, quality_layers=[20])),
        Fixture("jp2-gray.jp2", "gray", lambda: jp2(pictures.scene().convert("L"))),
        Fixture("jp2-gray-16bit.jp2", "gray, 16 bits", lambda: jp2(deep)),
        Fixture("jp2-alpha.jp2", "RGBA", lambda: jp2(pictures.translucent())),
        Fixture("jp2-codestream.jp2", "a codestream without boxes, in tiles", lambda: codestream(pictures.scene())),
        Fixture("pnm-bits-text.pnm", "P1", lambda: pnm(1, Image.frombytes("L", (3, 2), b"\0\1\0\1\1\0"), 255)),
        Fixture("pnm-gray-text.pnm", "P2, white is 15", lambda: pnm(2, pictures.scene(20, 15).convert("L"), 15)),
        Fixture("pnm-rgb-text.pnm", "P3", lambda: pnm(3, pictures.scene(20, 15))),
        Fixture("pnm-bits.pnm", "P4", lambda: pnm(4, pictures.scene(61, 37).convert("1"))),
        Fixture("pnm-gray.pnm", "P5", lambda: pnm(5, pictures.scene(61, 37).convert("L"))),
        Fixture("pnm-rgb.pnm", "P6", lambda: pnm(6, pictures.scene(61, 37))),
        Fixture("pnm-rgb-10bit.pnm", "P6, white is 1023", lambda: pnm(6, pictures.scene(61, 37), 1023)),
        Fixture(
            "icns-png.icns",
            "two PNGs, and an older icon that is not looked at",
            lambda: icns(
                ("icp4", png(pictures.translucent(16, 16))),
                ("is32", b"\x8f\x80" * 3 + b"\xff\x80" * 12),
                ("icp6", png(pictures.translucent(64, 64))),
            ),
        ),
        Fixture("icns-jp2.icns", "a JPEG 2000", lambda: icns(("icp5", jp2(pictures.scene(32, 32))))),
        Fixture("pdf-page.pdf", "a page, two colours", lambda: pdf(DRAWING)),
        Fixture("pdf-text.pdf", "two pages, text in a font that is not in the file", lambda: pdf(TEXT, DRAWING)),
    ]
