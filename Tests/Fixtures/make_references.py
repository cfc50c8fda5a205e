#!/usr/bin/env python3
"""Writes what the pixels of every whole picture are, as other decoders than ours have them.

    make_references.py            writes references.json and references/*.png beside this file
    make_references.py --check    compares; exit code 1 names what differs

Needs Pillow with its plug-in for JPEG XL, and heif-convert for HEIC. A picture is taken upright and as RGBA of eight bits; clear pixels are black.
Of a picture without loss, references.json has the SHA-256 of each frame's samples; of one with loss, a PNG has the pixels.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pillow_jxl  # noqa: F401 - Pillow reads JPEG XL with it
from PIL import Image, ImageCms, ImageOps

HERE = Path(__file__).resolve().parent
LOSSLESS = {"png", "gif", "tiff", "bmp", "ico", "pnm", "icns"}
LOSSLESS_FILES = {"webp-lossless.webp", "webp-lossless-alpha.webp", "webp-1x1.webp", "webp-animated-lossless.webp"}
LOSSLESS_FILES |= {f"jxl-{name}.jxl" for name in ("lossless", "gray", "alpha", "split", "late", "animated")}
LOSSLESS_FILES |= {f"jp2-{name}.jp2" for name in ("rgb", "gray", "alpha", "codestream")} | {"icns-jp2.icns"}
# Profiles and the cutting of 16 bits are rounded in one way or another.
ROUNDED = {"png-icc-exif.png", "png-gray-16bit.png", "tiff-big-endian-gray16.tiff", "pnm-rgb-10bit.pnm", "pnm-gray-text.pnm"}
# Each decoder turns inks into colours, and smooths colours that are coded at half the size, in its own way.
DECIBELS = {"jpeg-cmyk.jpg": 17, "avif-rgb.avif": 28, "jxl-orientation-5.jxl": 30}
# Large; or what lies outside of the first picture is background, which is black, clear or a colour elsewhere.
# Or Pillow does not divide by alpha.
SKIPPED = {"jpeg-large.jpg", "gif-offset-frame.gif", "jxl-premultiplied.jxl", "jxl-animated.jxl"}


def in_srgb(image: Image.Image) -> Image.Image:
    profile = image.info.get("icc_profile")
    if profile is None or image.mode != "RGB":
        return image
    return ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"))


def upright(image: Image.Image) -> Image.Image:
    if image.format == "JXL":
        # Its reader has turned it already.
        image = in_srgb(image)
    else:
        image = ImageOps.exif_transpose(image)
    if image.mode in ("I;16", "I;16B"):
        high = slice(0 if image.mode == "I;16B" else 1, None, 2)
        image = Image.frombytes("L", image.size, image.tobytes()[high])
    image = image.convert("RGBA")
    clear = Image.new("RGBA", image.size)
    return Image.composite(image, clear, image.getchannel("A").point(lambda alpha: 255 if alpha else 0))


def frames(path: Path, entry: dict) -> list[Image.Image]:
    if entry["format"] == "heic":
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["heif-convert", str(path), f"{folder}/picture.png"], check=True, capture_output=True)
            return [upright(Image.open(f"{folder}/picture.png"))]
    with Image.open(path) as image:
        count = entry["frameCount"] if entry["format"] in ("gif", "webp", "png") else 1
        found = []
        hidden = 1 if image.info.get("default_image") else 0
        for number in range(count):
            if count > 1:
                image.seek(number + hidden)
            found.append(upright(image.copy() if count > 1 else image))
        return found


def references() -> tuple[dict, dict[str, bytes]]:
    table: dict[str, dict] = {}
    files: dict[str, bytes] = {}
    for entry in json.loads((HERE / "manifest.json").read_text()):
        name = entry["file"]
        if not entry["valid"] or entry["format"] in ("svg", "pdf") or name in SKIPPED or "/" in name:
            continue
        # A JPEG XL that is turned was made of the JPEG that is turned so.
        is_turned = "-orientation-" in name
        source = name
        if entry["format"] == "jxl" and is_turned:
            source = f"jpeg-{Path(name).stem[4:]}.jpg"
        pictures = frames(HERE / source, entry)
        if name == "jxl-animated-whole.jxl":
            # Its reader shows the last picture; it was made of the PNG.
            pictures = frames(HERE / "png-animated.png", {"format": "png", "frameCount": 3})
        fact = {"width": pictures[0].width, "height": pictures[0].height}
        if (entry["format"] in LOSSLESS or name in LOSSLESS_FILES) and name not in ROUNDED:
            fact["sha256"] = [hashlib.sha256(picture.tobytes()).hexdigest() for picture in pictures]
        else:
            stem = "jpeg-orientation" if is_turned else Path(name).stem
            fact["reference"] = f"references/{stem}.png"
            fact["decibels"] = DECIBELS.get(name, 35)
            if fact["reference"] not in files:
                output = io.BytesIO()
                picture = pictures[0]
                if picture.getextrema()[3] == (255, 255):
                    picture = picture.convert("RGB")
                picture.save(output, "PNG", optimize=True)
                files[fact["reference"]] = output.getvalue()
        table[name] = fact
    return table, files


def main() -> int:
    table, files = references()
    files["references.json"] = (json.dumps(table, indent=1) + "\n").encode()
    wrong = []
    for name, content in files.items():
        path = HERE / name
        if "--check" in sys.argv[1:]:
            if not path.is_file() or path.read_bytes() != content:
                wrong.append(name)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    for name in wrong:
        print(f"{name} differs", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
