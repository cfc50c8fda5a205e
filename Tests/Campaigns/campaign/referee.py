"""Other decoders than ours, and how alike two pictures are."""

from __future__ import annotations

import io
import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Optional

from PIL import Image, ImageChops, ImageCms, ImageOps, ImageSequence, ImageStat

#: The programs that decode what Pillow does not, to a PNG.
PROGRAMS = {"avif": "avifdec", "jxl": "djxl", "heic": "heif-convert"}
LOSSLESS = 99.0
"""What is said of equal pictures, in decibels."""


def can_read(kind: str) -> bool:
    """Whether a picture of the format can be judged on this machine."""
    return kind not in PROGRAMS or shutil.which(PROGRAMS[kind]) is not None


def frames(path: Path, kind: str) -> list[Image.Image]:
    """Every frame of a picture as displayed: RGBA of eight bits in sRGB, in which clear pixels are black."""
    if kind in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            made = f"{folder}/made.png"
            subprocess.run([PROGRAMS[kind], str(path), made], check=True, capture_output=True)
            with Image.open(made) as image:
                # It is upright; EXIF says how it was before, or not in the way of a PNG.
                return [plain(image)]
    with Image.open(path) as image:
        # What APNG shows where there are no animations is no frame of it.
        hidden = 1 if image.info.get("default_image") else 0
        is_animated = kind in ("gif", "png", "webp")
        pages = ImageSequence.Iterator(image) if is_animated else [image]
        return [plain(ImageOps.exif_transpose(page)) for page in pages][hidden:]


def plain(image: Image.Image) -> Image.Image:
    """An upright frame in RGBA."""
    image = in_srgb(image)
    if image.mode.startswith("I"):
        image = eight_bits(image)
    return blackened(image.convert("RGBA"))


def eight_bits(image: Image.Image) -> Image.Image:
    """Gray of 16 bits in eight: the upper ones, in the order of the mode's bytes."""
    step = 4 if image.mode == "I" else 2
    high = slice(0 if image.mode.endswith("B") else 1, None, step)
    return Image.frombytes("L", image.size, image.tobytes()[high])


def blackened(image: Image.Image) -> Image.Image:
    """A picture in which clear pixels are black: nobody sees their colour."""
    seen = image.getchannel("A").point(lambda alpha: 255 if alpha else 0)
    return Image.composite(image, Image.new("RGBA", image.size), seen)


def in_srgb(image: Image.Image) -> Image.Image:
    """A picture in RGB without its profile."""
    profile = image.info.get("icc_profile")
    if not profile or image.mode != "RGB":
        return image
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    return ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"))


def made(path: Path, width: int, height: int, count: int) -> list[Image.Image]:
    """The frames in a file of raw pixels, in which clear pixels become black."""
    data, size = path.read_bytes(), width * height * 4
    return [blackened(Image.frombytes("RGBA", (width, height), data[size * at : size * (at + 1)])) for at in range(count)]


def decibels(one: Image.Image, other: Image.Image) -> Optional[float]:
    """How alike two pictures are (peak signal to noise ratio); None for those of different sizes."""
    if one.size != other.size:
        return None
    squares = sum(ImageStat.Stat(ImageChops.difference(one, other)).sum2)
    return 10 * math.log10(65_025 * 4 * one.width * one.height / squares) if squares else LOSSLESS
