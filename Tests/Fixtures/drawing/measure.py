"""Reads each file with programs that are not ours, at least two where two can, and says what they agree on."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import pillow_jxl  # noqa: F401 - Pillow reads JPEG XL with it
from PIL import Image, UnidentifiedImageError

from .tools import ToolError, run

MIME_TYPES = {"heic": "image/heic", "svg": "image/svg+xml", "jxl": "image/jxl", "icns": "image/x-icns", "pdf": "application/pdf"}
"""The types of the formats Pillow does not know, or knows by another; the others are Pillow's own."""
NAMES = {"jpeg2000": "jp2", "ppm": "pnm"}
"""The names of formats that Pillow calls otherwise."""


class Disagreement(Exception):
    """Two readers give different answers about a file, or one reads what should be unreadable."""


@dataclass(frozen=True)
class Measure:
    """A format, its MIME type, the stored size in pixels, and how many frames or pages there are."""

    format: str
    mime_type: str
    width: int
    height: int
    frames: int


def measure(path: Path) -> Measure:
    """What a whole picture is; raises Disagreement when the second reader answers differently."""
    first = by_jxlinfo(path) or by_pdf_text(path) or by_pillow(path) or by_heif_info(path) or by_rsvg(path)
    if first is None:
        raise Disagreement(f"no reader knows {path.name}")
    for second in second_opinions(path, first.format):
        if second != (first.width, first.height, first.frames):
            raise Disagreement(f"{path.name}: the first reader says {first}, the second says {second}")
    return first


def by_pillow(path: Path) -> Optional[Measure]:
    """Pillow's answer after decoding every frame, or None when it does not know the format."""
    try:
        with Image.open(path) as picture:
            width, height = picture.size
            total = int(getattr(picture, "n_frames", 1))
            for index in range(total):
                picture.seek(index)
                picture.load()
            kind = picture.format or ""
            name = NAMES.get(kind.lower(), kind.lower())
            hidden = 1 if getattr(picture, "default_image", False) else 0
    except UnidentifiedImageError:
        return None
    except SyntaxError as fault:
        raise Disagreement(f"Pillow cannot decode {path.name}: {fault}") from fault
    return Measure(name, MIME_TYPES.get(name, Image.MIME[kind]), width, height, total - hidden)


def by_pdf_text(path: Path) -> Optional[Measure]:
    """The size of the pages of a PDF that is not compressed, whose pages are not counted, or None for anything else."""
    content = path.read_bytes()
    box = re.search(rb"/MediaBox \[0 0 (\d+) (\d+)\]", content)
    if not content.startswith(b"%PDF-") or box is None:
        return None
    return Measure("pdf", MIME_TYPES["pdf"], int(box.group(1)), int(box.group(2)), 1)


def by_heif_info(path: Path) -> Optional[Measure]:
    """libheif's answer for a HEIC file, or None for anything else."""
    try:
        text = run("heif-info", str(path)).decode()
    except ToolError:
        return None
    brand, size = (
        re.search(r"^main brand: (\w+)", text, re.MULTILINE),
        re.search(r"^image: (\d+)x(\d+) .*primary", text, re.MULTILINE),
    )
    if brand is None or brand.group(1) != "heic" or size is None:
        return None
    images = len(re.findall(r"^image: ", text, re.MULTILINE))
    return Measure("heic", MIME_TYPES["heic"], int(size.group(1)), int(size.group(2)), images)


def by_jxlinfo(path: Path) -> Optional[Measure]:
    """The answer of libjxl's own program, or None for anything but JPEG XL."""
    try:
        text = run("jxlinfo", str(path)).decode()
    except ToolError:
        return None
    size = re.search(r"^JPEG XL (?:image|animation), (\d+)x(\d+)", text, re.MULTILINE)
    if size is None:
        return None
    frames = len(re.findall(r"^frame: ", text, re.MULTILINE)) or 1
    return Measure("jxl", MIME_TYPES["jxl"], int(size.group(1)), int(size.group(2)), frames)


def by_rsvg(path: Path) -> Optional[Measure]:
    """librsvg's answer for an SVG (the size it draws it in), or None for anything else."""
    with tempfile.TemporaryDirectory() as scratch:
        drawn = Path(scratch) / "drawn.png"
        try:
            run("rsvg-convert", "-o", str(drawn), str(path))
        except ToolError:
            return None
        with Image.open(drawn) as picture:
            return Measure("svg", MIME_TYPES["svg"], picture.width, picture.height, 1)


def second_opinions(path: Path, kind: str) -> list[tuple[int, int, int]]:
    """Width, height and frames from the other readers of a format."""
    if kind == "webp":
        return [by_webpmux(path), by_identify(path)] if "animated" not in path.name else [by_webpmux(path)]
    if kind == "jxl":
        return [by_pillow_turned(path)]
    if kind == "avif":
        return [by_avifdec(path)]
    if kind in ("icns", "pdf"):
        return []
    if kind == "png":
        return [by_identify(path, by_exiftool_frames(path))]
    if kind == "svg":
        return [by_identify(path), by_root_element(path)]
    return [by_identify(path)]


def by_identify(path: Path, frames: Optional[int] = None) -> tuple[int, int, int]:
    """ImageMagick's answer: the canvas of the first picture, or the largest entry of an ICO.

    `frames` replaces its count, for animations it cannot count (APNG).
    """
    format_prefix = "svg:" if path.suffix == ".svg" else ""
    lines = run("identify", "-format", "%m %W %H\n", format_prefix + str(path)).decode().split("\n")
    rows = [(int(width), int(height)) for _, width, height in (line.split() for line in lines if line)]
    if path.suffix == ".ico":
        return (*max(rows), 1)
    return (*rows[0], len(rows) if frames is None else frames)


def by_pillow_turned(path: Path) -> tuple[int, int, int]:
    """The answer of Pillow's plug-in for JPEG XL, which shows some pictures upright and knows no animations."""
    found, told = by_pillow(path), by_jxlinfo(path)
    if found is None or told is None:
        raise Disagreement(f"Pillow does not know {path.name}")
    is_same = {found.width, found.height} == {told.width, told.height}
    return (told.width, told.height, told.frames) if is_same else (found.width, found.height, found.frames)


def by_exiftool_frames(path: Path) -> int:
    """ExifTool's count of APNG frames (from acTL), 1 for a still."""
    return int(run("exiftool", "-s3", "-AnimationFrames", str(path)).decode().strip() or 1)


def by_webpmux(path: Path) -> tuple[int, int, int]:
    """libwebp's answer: the canvas and its frames."""
    text = run("webpmux", "-info", str(path)).decode()
    canvas, frames = re.search(r"Canvas size: (\d+) x (\d+)", text), re.search(r"Number of frames: (\d+)", text)
    if canvas is None:
        raise Disagreement(f"webpmux finds no canvas in {path.name}")
    return int(canvas.group(1)), int(canvas.group(2)), int(frames.group(1)) if frames else 1


def by_avifdec(path: Path) -> tuple[int, int, int]:
    """libavif's answer: the size before rotation and the frames it decoded."""
    text = run("avifdec", "--info", str(path)).decode()
    size = re.search(r"Resolution +: (\d+)x(\d+)", text)
    if size is None:
        raise Disagreement(f"avifdec finds no size in {path.name}")
    return int(size.group(1)), int(size.group(2)), len(re.findall(r"Decoded frame \[", text))


def by_root_element(path: Path) -> tuple[int, int, int]:
    """What an SVG's root element says: width and height, else the viewBox."""
    root = re.search(r"<svg [^>]*>", path.read_text("utf-8-sig"))
    text = root.group(0) if root else ""
    sized = re.search(r'width="(\d+)(?:px)?" height="(\d+)(?:px)?"', text) or re.search(
        r'viewBox="0 0 (\d+) (\d+)"', text
    )
    if sized is None:
        raise Disagreement(f"{path.name} has no size")
    return int(sized.group(1)), int(sized.group(2)), 1


def require_unreadable(path: Path) -> None:
    """Raises Disagreement when Pillow, libheif or librsvg makes a whole picture of a broken file."""
    try:
        found = by_pillow(path)
    except (OSError, Disagreement):
        found = None
    if found or by_heif_info(path) or by_rsvg(path):
        raise Disagreement(f"{path.name} is meant to be broken, but a reader decodes it")
