"""The valid PNG, JPEG and GIF fixtures: a name, how it is drawn, and what it is for."""

from __future__ import annotations

import io
from functools import partial

from PIL import Image, ImageOps

from . import pictures
from .fixture import Fixture
from .tools import convert, encoded, png, run, through

PNG_ONLY = ("-define", "png:exclude-chunks=date,time")


def apng(default_image: bool, disposal: int = 0) -> bytes:
    """A three-frame APNG, or one whose default image (a fourth picture) is outside its three frames. With a disposal of 1,
    to the background, every frame is as large as the picture."""
    first, *rest = pictures.frames(4 if default_image else 3)
    return encoded(
        first,
        "PNG",
        save_all=True,
        append_images=rest,
        duration=[80, 120, 200],
        loop=0,
        default_image=default_image,
        disposal=disposal,
    )


def png_fixtures() -> list[Fixture]:
    """PNG in every colour type, at 1, 8 and 16 bits, interlaced and animated."""
    clear = {"transparency": bytes([0, 255, 128])}
    return [
        Fixture("png-gray.png", "8-bit gray", lambda: png(pictures.scene().convert("L"))),
        Fixture("png-gray-alpha.png", "8-bit gray with alpha", lambda: png(pictures.translucent().convert("LA"))),
        Fixture(
            "png-palette.png",
            "palette of 8 colours, 4 bits a pixel, odd width",
            lambda: encoded(pictures.flat(61, 37), "PNG", bits=4),
        ),
        Fixture(
            "png-palette-trns.png",
            "palette with a tRNS chunk: entry 0 clear, entry 2 half clear",
            lambda: encoded(pictures.flat(), "PNG", **clear),
        ),
        Fixture("png-rgb.png", "8-bit RGB, odd size", lambda: png(pictures.scene(61, 37))),
        Fixture("png-rgba.png", "8-bit RGBA, odd size", lambda: png(pictures.translucent(61, 37))),
        Fixture("png-gray-16bit.png", "16-bit gray", lambda: png(pictures.gray16())),
        Fixture(
            "png-rgb-16bit.png",
            "16-bit RGB",
            lambda: convert(pictures.scene(), "-depth", "16", "-evaluate", "multiply", "0.73", *PNG_ONLY, "PNG48:-"),
        ),
        Fixture(
            "png-adam7.png",
            "RGB, Adam7 interlaced, odd size",
            lambda: convert(pictures.scene(61, 37), "-interlace", "PNG", *PNG_ONLY, "PNG24:-"),
        ),
        Fixture("png-1bit.png", "1-bit gray, odd width", lambda: png(pictures.scene(61, 37).convert("1"))),
        Fixture("png-1x1.png", "a single red pixel", lambda: png(Image.new("RGB", (1, 1), pictures.PALETTE[2]))),
        Fixture("png-1x64.png", "one pixel wide", lambda: png(pictures.scene(64, 64).crop((20, 0, 21, 64)))),
        Fixture("png-icc-exif.png", "iCCP, eXIf (orientation 6) and pHYs chunks before the pixels", png_with_metadata),
        Fixture("png-animated.png", "APNG, 3 frames, the first one being the default image", lambda: apng(False)),
        Fixture(
            "png-animated-hidden-default.png",
            "APNG, 3 frames, the default image not being one of them",
            lambda: apng(True),
        ),
    ]


def png_with_metadata() -> bytes:
    """A PNG with a colour profile, an EXIF orientation and a resolution."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(pictures.scene(), "PNG", icc_profile=pictures.srgb_profile(), exif=exif, dpi=(144, 144))


def jpeg(image: Image.Image, quality: int = 80, subsampling: str = "4:2:0", **settings: object) -> bytes:
    """A baseline JPEG by libjpeg-turbo with optimised tables."""
    if image.mode == "RGB":
        settings["subsampling"] = subsampling
    return encoded(image, "JPEG", quality=quality, optimize=True, **settings)


def turned(orientation: int) -> bytes:
    """A JPEG that shows the upright 64x48 scene once its EXIF orientation is applied.

    Even orientations carry little-endian EXIF, odd ones big-endian.
    """
    plain = jpeg(pictures.stored_for(orientation, pictures.scene()), 90, "4:4:4")
    order = "II" if orientation % 2 == 0 else "MM"
    made = through(
        "exiftool",
        "-q",
        "-n",
        "-overwrite_original",
        f"-ExifByteOrder={order}",
        f"-Orientation={orientation}",
        "a.jpg",
        output="a.jpg",
        a_jpg=plain,
    )
    with Image.open(io.BytesIO(made)) as opened:
        if ImageOps.exif_transpose(opened).size != (64, 48):
            raise AssertionError(f"orientation {orientation} does not stand upright")
    return made


def with_thumbnail() -> bytes:
    """A JPEG whose EXIF block holds a whole smaller JPEG (40x30), which a careless scan takes for the picture."""
    small = jpeg(pictures.photo(40, 30, 5), 70)
    return through(
        "exiftool",
        "-q",
        "-n",
        "-overwrite_original",
        "-ExifByteOrder=MM",
        "-Orientation=1",
        "-ThumbnailImage<=t.jpg",
        "a.jpg",
        output="a.jpg",
        a_jpg=jpeg(pictures.photo(160, 120, 5), 75),
        t_jpg=small,
    )


def jpeg_fixtures() -> list[Fixture]:
    """JPEG: coding processes, colour layouts, orientations and the segments found before the picture."""
    upright = [
        Fixture(
            f"jpeg-orientation-{number}.jpg",
            f"EXIF orientation {number}; upright it is 64x48 and equal to the other seven",
            partial(turned, number),
        )
        for number in range(1, 9)
    ]
    return upright + [
        Fixture("jpeg-420.jpg", "baseline, 4:2:0, odd size", lambda: jpeg(pictures.scene(61, 37))),
        Fixture("jpeg-422.jpg", "baseline, 4:2:2, odd size", lambda: jpeg(pictures.scene(61, 37), subsampling="4:2:2")),
        Fixture("jpeg-444.jpg", "baseline, 4:4:4, odd size", lambda: jpeg(pictures.scene(61, 37), subsampling="4:4:4")),
        Fixture("jpeg-progressive.jpg", "progressive, 4:2:0", lambda: jpeg(pictures.scene(), progressive=True)),
        Fixture("jpeg-gray.jpg", "one component", lambda: jpeg(pictures.scene().convert("L"))),
        Fixture(
            "jpeg-cmyk.jpg",
            "four components, inverted CMYK with an Adobe segment",
            lambda: jpeg(pictures.scene().convert("CMYK")),
        ),
        Fixture("jpeg-1x1.jpg", "a single pixel", lambda: jpeg(Image.new("RGB", (1, 1), pictures.PALETTE[5]))),
        Fixture(
            "jpeg-restart.jpg",
            "a restart marker after every MCU row",
            lambda: jpeg(pictures.scene(), restart_marker_rows=1),
        ),
        Fixture(
            "jpeg-icc.jpg",
            "an sRGB profile in an APP2 segment, and a comment",
            lambda: jpeg(pictures.scene(), icc_profile=pictures.srgb_profile(), comment="drawn for tests"),
        ),
        Fixture("jpeg-thumbnail.jpg", "EXIF with a 40x30 JPEG inside, ahead of the 160x120 picture", with_thumbnail),
        Fixture("jpeg-photo.jpg", "photo-like, about 20 KB", lambda: jpeg(pictures.photo(320, 240, 1), 90)),
        Fixture("jpeg-large.jpg", "photo-like, 1200x900", lambda: jpeg(pictures.photo(1200, 900, 2), 75)),
    ]


def gif_still(image: Image.Image, **settings: object) -> bytes:
    """A one-picture GIF by Pillow."""
    return encoded(image, "GIF", **settings)


def gif_animation() -> bytes:
    """A four-frame GIF by ImageMagick: whole frames, different delays, endless."""
    inputs = {f"f{index}_png": png(frame) for index, frame in enumerate(pictures.frames(4))}
    delays = [part for index in range(4) for part in ("-delay", str(5 + 5 * index), f"f{index}.png")]
    return through(
        "convert",
        "-dispose",
        "none",
        *delays,
        "+dither",
        "-colors",
        "32",
        "-loop",
        "0",
        "-strip",
        "a.gif",
        output="a.gif",
        **inputs,
    )


def gif_offset_frame() -> bytes:
    """A GIF whose only picture (24x18) is smaller than its screen (64x48) and lies at 20,10."""
    small = gif_still(pictures.flat(24, 18))
    return run("gifsicle", "--logical-screen", "64x48", "--position", "20,10", "-", stdin=small)


def gif_fixtures() -> list[Fixture]:
    """GIF: both versions, interlacing, transparency, comments, animation whole and optimised."""
    return [
        Fixture("gif-static.gif", "one picture, not interlaced", lambda: gif_still(pictures.flat(61, 37), interlace=0)),
        Fixture("gif-87a.gif", "version 87a", lambda: convert(pictures.flat(), "GIF87:-")),
        Fixture("gif-interlaced.gif", "one picture, interlaced", lambda: gif_still(pictures.flat(61, 37), interlace=1)),
        Fixture(
            "gif-transparent.gif",
            "entry 0 transparent",
            lambda: gif_still(pictures.flat(), transparency=0, interlace=0),
        ),
        Fixture(
            "gif-comment.gif",
            "a comment extension ahead of the picture",
            lambda: run(
                "gifsicle", "--comment", "drawn for tests; not a picture: GIF89a", stdin=gif_still(pictures.flat())
            ),
        ),
        Fixture("gif-offset-frame.gif", "a 24x18 picture at 20,10 of a 64x48 screen", gif_offset_frame),
        Fixture("gif-animated.gif", "4 whole frames, delays 50 to 200 ms, endless", gif_animation),
        Fixture(
            "gif-animated-optimised.gif",
            "the same animation after gifsicle -O3: frames cut to what changes",
            lambda: run("gifsicle", "-O3", stdin=gif_animation()),
        ),
    ]
