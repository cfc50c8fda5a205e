"""Encoders of one still picture with loss: ours, those of libvips and those of Pillow, each with its own defaults."""

from __future__ import annotations

import importlib
import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Callable

from codec_worker.messages import MADE, Encoding, Output, Request
from codec_worker.worker import CodecWorker
from PIL import Image, features

from .context import BenchError

#: Makes a file of a PNG at a number for the quality.
Writer = Callable[[Path, int], bytes]
FORMATS = ("jpeg", "webp", "avif", "heic", "jxl")
_VIPS = {
    "jpeg": ("jpegsave",),
    "webp": ("webpsave",),
    "avif": ("heifsave", "--compression", "av1"),
    "heic": ("heifsave", "--compression", "hevc"),
    "jxl": ("jxlsave",),
}
_LIKE_OURS = {"avif": ("--effort", "3", "--subsample-mode", "on"), "heic": ("--subsample-mode", "on")}


def ours(worker: CodecWorker, name: str, folder: Path) -> Writer:
    """The codec worker."""

    def write(source: Path, quality: int) -> bytes:
        made = folder / f"ours.{name}"
        made.unlink(missing_ok=True)
        outcome = worker.render(Request(str(source), "png", [Output(str(made), name, [], Encoding(quality=quality))]))[0]
        if outcome.kind != MADE:
            raise BenchError(f"The worker made no {name} of {source.name}: {outcome.kind}, {outcome.reason}")
        return made.read_bytes()

    return write


def libvips(name: str, folder: Path, is_like_ours: bool = False) -> Writer:
    """The program ``vips``: with its own defaults, or so that it does what ours has it do at a number of its own scale."""

    def write(source: Path, quality: int) -> bytes:
        made = folder / f"vips.{name}"
        environment = {**os.environ, "VIPS_CONCURRENCY": "1"}
        operation, *options = [*_VIPS[name], *(_LIKE_OURS.get(name, ()) if is_like_ours else ())]
        command = ["vips", operation, str(source), str(made), *options, "--Q", str(quality), "--strip"]
        subprocess.run(command, check=True, capture_output=True, env=environment)
        return made.read_bytes()

    return write


def pillow(name: str) -> Writer | None:
    """Pillow, with pillow-heif for HEIC; None when it does not write the format."""
    if name == "heic" and not _register_heif():
        return None
    if name == "jxl" or (name == "avif" and not features.check("avif")):
        return None
    known = {"heic": "HEIF"}.get(name, name.upper())

    def write(source: Path, quality: int) -> bytes:
        out = io.BytesIO()
        with Image.open(source) as image:
            image.save(out, known, quality=quality)
        return out.getvalue()

    return write


def decoded(name: str, data: bytes, folder: Path) -> Image.Image:
    """The pixels of a file, by the same decoder whoever wrote it."""
    if name == "jxl" or (name == "avif" and not features.check("avif")) or (name == "heic" and not _register_heif()):
        source, made = folder / f"file.{name}", folder / "file.png"
        source.write_bytes(data)
        program = {"jxl": "djxl", "avif": "avifdec", "heic": "heif-convert"}[name]
        subprocess.run([program, str(source), str(made)], check=True, capture_output=True)
        data = made.read_bytes()
    return Image.open(io.BytesIO(data)).convert("RGB")


def has_vips() -> bool:
    """Whether the program is installed."""
    return shutil.which("vips") is not None


def _register_heif() -> bool:
    try:
        importlib.import_module("pillow_heif").register_heif_opener()
    except ImportError:
        return False
    return True
