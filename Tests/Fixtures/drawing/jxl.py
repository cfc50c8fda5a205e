"""The valid JPEG XL fixtures."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import _jxlpy
from PIL import Image

from . import pictures
from .classic import apng, turned
from .fixture import Fixture
from .tools import ToolError, encoded, png, through

SIGNATURE = struct.pack(">I4s4s", 12, b"JXL ", b"\r\n\x87\n")
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'


def jxl(source: bytes, *arguments: str, kind: str = "png") -> bytes:
    """A picture through cjxl, one thread."""
    name = f"a.{kind}"
    return through(
        "cjxl", "--quiet", "--num_threads", "0", name, "a.jxl", *arguments, output="a.jxl", **{f"a_{kind}": source}
    )


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def boxed(*boxes: bytes) -> bytes:
    """A file of boxes."""
    return SIGNATURE + box(b"ftyp", b"jxl \0\0\0\0jxl ") + b"".join(boxes)


def split(codestream: bytes) -> bytes:
    """The codestream in four parts, the first of which ends within its head, with other boxes between them."""
    cuts = [0, 3, 40, 41, len(codestream)]
    parts = [
        box(b"jxlp", struct.pack(">I", number | (number == 3) << 31) + codestream[start:end])
        for number, (start, end) in enumerate(zip(cuts, cuts[1:]))
    ]
    return boxed(parts[0], box(b"free", bytes(50)), parts[1], parts[2], parts[3], box(b"xml ", XMP))


def late(codestream: bytes) -> bytes:
    """The codestream behind 70 KB of other things, so that the first 64 KiB tell nothing; EXIF asks for a turn that does
    not count."""
    exif = Image.Exif()
    exif[0x0112] = 8
    exif[0x010E] = "a hill"
    return boxed(
        box(b"Exif", bytes(4) + exif.tobytes()[6:]), box(b"xml ", XMP), box(b"free", bytes(70_000)), box(b"jxlc", codestream)
    )


def premultiplied() -> bytes:
    """RGBA whose colours are multiplied by alpha, without loss, by a newer libjxl: 0.7 does not write them."""
    picture = pictures.translucent()
    samples = bytearray(picture.tobytes())
    for place in range(0, len(samples), 4):
        for band in range(3):
            samples[place + band] = (samples[place + band] * samples[place + 3] + 127) // 255
    library = ctypes.CDLL(str(next((Path(_jxlpy.__file__).parent / "jxlpy.libs").glob("libjxl-*"))))
    for name in ("JxlEncoderCreate", "JxlEncoderFrameSettingsCreate"):
        getattr(library, name).restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(library.JxlEncoderCreate(None))
    info = (ctypes.c_uint32 * 64)()
    library.JxlEncoderInitBasicInfo(info)
    # Size, depth, the original's colours, one channel besides three, its depth, and that it is multiplied in.
    for member, value in ((1, picture.width), (2, picture.height), (3, 8), (9, 1), (13, 3), (14, 1), (15, 8), (17, 1)):
        info[member] = value
    channel = (ctypes.c_uint32 * 16)()
    library.JxlEncoderInitExtraChannelInfo(0, channel)
    channel[1], channel[5] = 8, 1
    colours = (ctypes.c_uint8 * 256)()
    library.JxlColorEncodingSetToSRGB(colours, 0)
    output, kind = ctypes.create_string_buffer(1 << 16), (ctypes.c_uint64 * 3)(4 | 2 << 32, 0, 0)
    done = [library.JxlEncoderSetBasicInfo(encoder, info), library.JxlEncoderSetColorEncoding(encoder, colours)]
    done.append(library.JxlEncoderSetExtraChannelInfo(encoder, ctypes.c_size_t(0), channel))
    settings = ctypes.c_void_p(library.JxlEncoderFrameSettingsCreate(encoder, None))
    done.append(library.JxlEncoderSetFrameLossless(settings, 1))
    done.append(library.JxlEncoderAddImageFrame(settings, kind, bytes(samples), ctypes.c_size_t(len(samples))))
    library.JxlEncoderCloseInput(encoder)
    place, left = ctypes.c_void_p(ctypes.addressof(output)), ctypes.c_size_t(len(output))
    done.append(library.JxlEncoderProcessOutput(encoder, ctypes.byref(place), ctypes.byref(left)))
    library.JxlEncoderDestroy(encoder)
    if any(done):
        raise ToolError(f"libjxl answers {done}")
    return output.raw[: len(output) - left.value]


def with_profile() -> bytes:
    """A lossless picture with another profile than sRGB."""
    wide = encoded(pictures.scene(61, 37), "PNG", icc_profile=pictures.linear_profile())
    return jxl(wide, "-d", "0")


def jxl_fixtures() -> list[Fixture]:
    """JPEG XL: naked and in boxes, without loss and with, gray, deep, translucent, turned, animated."""
    still = lambda: jxl(png(pictures.scene(61, 37)), "-d", "0")  # noqa: E731
    return [
        Fixture("jxl-lossless.jxl", "a codestream without boxes, odd size, without loss", still),
        Fixture("jxl-lossy.jxl", "a codestream, distance 1", lambda: jxl(png(pictures.scene()), "-d", "1")),
        Fixture("jxl-gray.jxl", "8-bit gray, lossless", lambda: jxl(png(pictures.scene().convert("L")), "-d", "0")),
        Fixture("jxl-gray-16bit.jxl", "16-bit gray, lossless", lambda: jxl(encoded(pictures.gray16(), "PNG"), "-d", "0")),
        Fixture("jxl-alpha.jxl", "RGBA, lossless", lambda: jxl(png(pictures.translucent()), "-d", "0")),
        Fixture(
            "jxl-premultiplied.jxl",
            "RGBA, lossless, colours multiplied by alpha",
            premultiplied,
        ),
        Fixture("jxl-icc.jxl", "lossless, a profile other than sRGB", with_profile),
        Fixture(
            "jxl-orientation-6.jxl",
            "a JPEG of orientation 6 packed without loss (boxes jbrd and Exif); upright it is 64x48",
            lambda: jxl(turned(6), kind="jpg"),
        ),
        Fixture(
            "jxl-orientation-5.jxl",
            "orientation 5, coded anew; upright it is 64x48",
            lambda: jxl(turned(5), "-j", "0", "-d", "0.3", kind="jpg"),
        ),
        Fixture("jxl-split.jxl", "a codestream in four jxlp boxes, then XMP", lambda: split(still())),
        Fixture("jxl-late.jxl", "a codestream behind 70 KB of other boxes", lambda: late(still())),
        # cjxl 0.7 leaves black what a smaller frame does not cover.
        Fixture(
            "jxl-animated.jxl",
            "3 frames, of which the later ones are black around what changes",
            lambda: jxl(apng(False), "-d", "0", kind="apng"),
        ),
        Fixture(
            "jxl-animated-whole.jxl",
            "3 frames, each as large as the picture",
            lambda: jxl(apng(False, disposal=1), "-d", "0", kind="apng"),
        ),
    ]
