"""Runs the installed encoders and readers on bytes, through a scratch folder that is removed afterwards."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Optional

from PIL import Image

PACKAGES = {
    "avifenc": "libavif-bin",
    "avifdec": "libavif-bin",
    "cwebp": "webp",
    "img2webp": "webp",
    "webpmux": "webp",
    "convert": "imagemagick",
    "identify": "imagemagick",
    "gifsicle": "gifsicle",
    "heif-enc": "libheif-examples",
    "heif-info": "libheif-examples",
    "exiftool": "libimage-exiftool-perl",
    "rsvg-convert": "librsvg2-bin",
    "tiffcp": "libtiff-tools",
    "cjxl": "libjxl-tools",
    "jxlinfo": "libjxl-tools",
}
"""The Debian package that holds each program."""

ALIASES = {"convert": ("convert-im6.q16", "convert"), "identify": ("identify-im6.q16", "identify")}
"""Names to try before the plain one; Debian's ImageMagick 6 has names nothing else takes."""


class ToolError(Exception):
    """A program is missing or failed; the sentence says which and why."""


def program(name: str) -> str:
    """The path of a program; raises ToolError naming the package to install when it is absent."""
    for candidate in ALIASES.get(name, (name,)):
        found = shutil.which(candidate)
        if found is not None:
            return found
    raise ToolError(f"{name} is not installed: apt-get install {PACKAGES.get(name, name)}")


def run(name: str, *arguments: str, stdin: bytes = b"", folder: Optional[Path] = None) -> bytes:
    """Runs a program with a fixed clock zone, language and one thread, and returns its standard output."""
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", SOURCE_DATE_EPOCH="0", MAGICK_THREAD_LIMIT="1")
    done = subprocess.run(
        [program(name), *arguments], input=stdin, capture_output=True, check=False, cwd=folder, env=environment
    )
    if done.returncode != 0:
        raise ToolError(f"{name} {' '.join(arguments)} failed: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def through(name: str, *arguments: str, output: str, **inputs: bytes) -> bytes:
    """Runs a program on files and returns the file it made.

    `inputs` maps file names to bytes, "_" standing for "." (a_png becomes a.png); `output` is the name of the
    file the program writes. Programs that work in place name an input as `output`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for key, content in inputs.items():
            (folder / key.replace("_", ".")).write_bytes(content)
        run(name, *arguments, folder=folder)
        return (folder / output).read_bytes()


def convert(image: Image.Image, *arguments: str) -> bytes:
    """ImageMagick's reading of a picture, written as the last argument says (for example "TIFF:-")."""
    return run("convert", "png:-", *arguments[:-1], "-strip", arguments[-1], stdin=png(image))


def png(image: Image.Image) -> bytes:
    """A picture as a plain PNG, the form in which it is handed to the other encoders."""
    return encoded(image, "PNG")


def encoded(image: Image.Image, kind: str, **settings: object) -> bytes:
    """A picture in a format that Pillow writes; `settings` are Pillow's save settings."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **settings)
    return buffer.getvalue()
