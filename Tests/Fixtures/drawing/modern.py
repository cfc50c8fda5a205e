"""The valid WebP, AVIF and HEIC fixtures."""

from __future__ import annotations

import struct

from PIL import Image

from . import pictures
from .fixture import Fixture
from .tools import png, through


def webp(image: Image.Image, *arguments: str) -> bytes:
    """A picture through cwebp."""
    return through(
        "cwebp", "-quiet", "-metadata", "none", *arguments, "a.png", "-o", "a.webp", output="a.webp", a_png=png(image)
    )


def webp_animation(*arguments: str, last: str = "120") -> bytes:
    """A four-frame WebP through img2webp; `arguments` choose lossy or lossless frames."""
    inputs = {f"f{index}_png": png(frame) for index, frame in enumerate(pictures.frames(4))}
    shown = [
        part
        for index, delay in enumerate(("80", "80", "100", last))
        for part in ("-d", delay, *arguments, f"f{index}.png")
    ]
    return through("img2webp", "-loop", "0", *shown, "-o", "a.webp", output="a.webp", **inputs)


def webp_with_metadata() -> bytes:
    """A lossy WebP with a colour profile and an EXIF orientation of 6, put in by webpmux."""
    exif = Image.Exif()
    exif[0x0112] = 6
    profiled = through(
        "webpmux",
        "-set",
        "icc",
        "p.icc",
        "a.webp",
        "-o",
        "b.webp",
        output="b.webp",
        a_webp=webp(pictures.scene(61, 37), "-q", "70"),
        p_icc=pictures.srgb_profile(),
    )
    return through(
        "webpmux",
        "-set",
        "exif",
        "e.exif",
        "a.webp",
        "-o",
        "b.webp",
        output="b.webp",
        a_webp=profiled,
        e_exif=exif.tobytes()[6:],
    )


def webp_fixtures() -> list[Fixture]:
    """WebP: the three kinds of first chunk (VP8, VP8L, VP8X), alpha, animation and metadata."""
    return [
        Fixture("webp-lossy.webp", "VP8, odd size", lambda: webp(pictures.scene(61, 37), "-q", "75")),
        Fixture("webp-lossless.webp", "VP8L, odd size", lambda: webp(pictures.scene(61, 37), "-lossless")),
        Fixture("webp-lossy-alpha.webp", "VP8X with an ALPH chunk", lambda: webp(pictures.translucent(), "-q", "75")),
        Fixture("webp-lossless-alpha.webp", "VP8L with alpha", lambda: webp(pictures.translucent(), "-lossless")),
        Fixture("webp-metadata.webp", "VP8X with ICCP and EXIF (orientation 6), no alpha", webp_with_metadata),
        Fixture("webp-animated.webp", "4 lossy frames, endless", lambda: webp_animation("-lossy", "-q", "70")),
        Fixture(
            "webp-animated-lossless.webp",
            "4 lossless frames, the last one 500 ms",
            lambda: webp_animation("-lossless", last="500"),
        ),
        Fixture(
            "webp-1x1.webp",
            "a single pixel, VP8L",
            lambda: webp(Image.new("RGB", (1, 1), pictures.PALETTE[4]), "-lossless"),
        ),
    ]


AVIF = ("-j", "1", "-s", "6", "--codec", "aom")


def avif(image: Image.Image, *arguments: str) -> bytes:
    """A picture through avifenc, one thread."""
    return through("avifenc", *AVIF, *arguments, "a.png", "a.avif", output="a.avif", a_png=png(image))


def avif_animation() -> bytes:
    """A three-frame AVIF sequence, its creation and modification times set to zero (avifenc writes the clock)."""
    inputs = {f"f{index}_png": png(frame) for index, frame in enumerate(pictures.frames(3))}
    made = through(
        "avifenc",
        *AVIF,
        "--min",
        "20",
        "--max",
        "30",
        "--fps",
        "10",
        *(f"f{index}.png" for index in range(3)),
        "a.avif",
        output="a.avif",
        **inputs,
    )
    return without_times(made)


def without_times(file: bytes) -> bytes:
    """An ISO media file with the times of its movie, track and media headers zeroed."""
    content = bytearray(file)
    for kind in (b"mvhd", b"tkhd", b"mdhd"):
        at = content.find(kind)
        while at >= 0:
            version = content[at + 4]
            length = 16 if version == 1 else 8
            struct.pack_into(f">{length}x", content, at + 8)
            at = content.find(kind, at + 4)
    return bytes(content)


def heic(image: Image.Image, *arguments: str) -> bytes:
    """A picture through heif-enc (x265, one thread)."""
    return through(
        "heif-enc",
        "-q",
        "60",
        *arguments,
        "-p",
        "x265:pools=none",
        "-p",
        "x265:frame-threads=1",
        "-o",
        "a.heic",
        "a.png",
        output="a.heic",
        a_png=png(image),
    )


def heif_fixtures() -> list[Fixture]:
    """AVIF and HEIC: plain, with alpha, rotated by a property, with a thumbnail, animated."""
    middling = ("--min", "20", "--max", "30")
    return [
        Fixture(
            "avif-rgb.avif", "8-bit, 4:2:0, odd size", lambda: avif(pictures.scene(61, 37), "-y", "420", *middling)
        ),
        Fixture("avif-alpha.avif", "with an auxiliary alpha picture", lambda: avif(pictures.translucent(), *middling)),
        Fixture("avif-10bit.avif", "10-bit, 4:4:4", lambda: avif(pictures.scene(), "-d", "10", "-y", "444", *middling)),
        Fixture(
            "avif-rotated.avif",
            "an irot property: shown it is 37x61",
            lambda: avif(pictures.scene(61, 37), "--irot", "1", *middling),
        ),
        Fixture(
            "avif-gray-limited.avif",
            "one plane, samples of 16 to 235",
            lambda: avif(pictures.scene().convert("L"), "-y", "400", "-r", "limited", *middling),
        ),
        Fixture(
            "avif-gray-10bit.avif",
            "one plane, 10-bit samples of 64 to 940",
            lambda: avif(pictures.scene().convert("L"), "-y", "400", "-r", "limited", "-d", "10", *middling),
        ),
        Fixture("avif-animated.avif", "an image sequence (brand avis) of 3 frames", avif_animation),
        Fixture("heic-rgb.heic", "8-bit, 4:2:0", lambda: heic(pictures.scene())),
        Fixture("heic-alpha.heic", "with an auxiliary alpha picture", lambda: heic(pictures.translucent())),
        Fixture(
            "heic-thumbnail.heic",
            "with a 40x30 thumbnail picture besides the 160x120 one",
            lambda: heic(pictures.photo(160, 120, 3), "-t", "40"),
        ),
    ]
