#!/usr/bin/env python3
"""Measures what the numbers for the quality mean: how alike the picture is (SSIM), and the bytes beside libvips and Pillow.

    python3 Tests/Benchmarks/quality.py --photos DIR [--photos DIR] [--formats jpeg,webp] [--numbers 50,80] [--scale]

The README beside this file says which photographs the tables of the project were measured with.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "Support")]

try:
    from bench import writers
    from bench.looks import Curve, ratio, ssim, together
    from PIL import Image, ImageOps
except ImportError as error:
    sys.exit(f"It needs Python's libraries numpy and Pillow: {error}.")
from bench import build  # noqa: E402
from codec_worker.worker import CodecWorker  # noqa: E402

SIZE = (600, 400)
#: The numbers between which looks are interpolated.
STEPS = (10, 25, 40, 50, 60, 70, 80, 90, 95, 98)
#: What one encoder makes of one picture: numbers, SSIM and bytes.
Points = List[Tuple[int, float, int]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", action="append", required=True, type=Path, help="a folder with photographs, or a picture")
    parser.add_argument("--formats", default=",".join(writers.FORMATS))
    parser.add_argument("--numbers", default="30,40,50,60,70,80,90", help="the numbers for the quality that are shown")
    parser.add_argument("--scale", action="store_true", help="show instead which number of libvips' encoders looks like JPEG's")
    options = parser.parse_args()
    numbers = [int(number) for number in options.numbers.split(",")]
    formats = options.formats.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photos = _photographs(options.photos, folder)
        print(f"{len(photos)} photographs of {SIZE[0]}×{SIZE[1]}, SSIM of their light, means")
        if options.scale:
            _show_scale(photos, formats, numbers, folder)
        else:
            with CodecWorker(build.find_codec()) as worker:
                for kind in formats:
                    _show_bytes(worker, photos, kind, numbers, folder)
    return 0


def _photographs(places: Sequence[Path], folder: Path) -> list[Path]:
    """Each photograph cut to one size, as a PNG without anything but pixels."""
    files = [file for place in places for file in (sorted(place.iterdir()) if place.is_dir() else [place])]
    made = []
    for file in files:
        if file.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp"):
            with Image.open(file) as image:
                whole = ImageOps.fit(image.convert("RGB"), SIZE, Image.Resampling.LANCZOS)
            whole.info.clear()
            made.append(folder / f"{len(made):03d}.png")
            whole.save(made[-1], compress_level=1)
    return made


def _points(photo: Path, name: str, write: writers.Writer, steps: Sequence[int], folder: Path) -> Points:
    """Number, SSIM and bytes at each step."""
    points = []
    with Image.open(photo) as original:
        for number in steps:
            data = write(photo, number)
            points.append((number, ssim(original, writers.decoded(name, data, folder)), len(data)))
    return points


def _every(photos: Sequence[Path], name: str, write: writers.Writer, steps: Sequence[int], folder: Path) -> list[Points]:
    return [_points(photo, name, write, steps, folder) for photo in photos]


def _show_scale(photos: Sequence[Path], formats: Sequence[str], numbers: Sequence[int], folder: Path) -> None:
    jpeg = together(_every(photos, "jpeg", writers.libvips("jpeg", folder), numbers, folder))
    print(_line("JPEG", numbers))
    print(_line("SSIM", [f"{similarity:.4f}" for _, similarity, _ in jpeg]))
    for name in formats:
        if name != "jpeg":
            curve = Curve(together(_every(photos, name, writers.libvips(name, folder, is_like_ours=True), STEPS, folder)))
            found = [curve.number_at(similarity) for _, similarity, _ in jpeg]
            print(_line(name, ["–" if number is None else f"{number:.1f}" for number in found]), flush=True)


def _show_bytes(
    worker: CodecWorker, photos: Sequence[Path], name: str, numbers: Sequence[int], folder: Path
) -> None:
    ours = _every(photos, name, writers.ours(worker, name, folder), numbers, folder)
    others: dict[str, Optional[writers.Writer]] = {
        "libvips": writers.libvips(name, folder) if writers.has_vips() else None,
        "Pillow": writers.pillow(name),
    }
    print(f"\n{_line(name, numbers)}")
    print(_line("SSIM", [f"{similarity:.4f}" for _, similarity, _ in together(ours)]))
    print(_line("KB", [f"{count / 1000:.1f}" for _, _, count in together(ours)]))
    for title, other in others.items():
        if other is None:
            continue
        curves = [Curve(points) for points in _every(photos, name, other, STEPS, folder)]
        found = []
        for at in range(len(numbers)):
            theirs = [curve.bytes_at(points[at][1]) for curve, points in zip(curves, ours)]
            found.append(ratio([points[at][2] for points in ours], theirs))
        print(_line(f"÷ {title}", ["–" if value is None else f"{value:.3f}" for value in found]), flush=True)


def _line(title: str, values: Sequence[object]) -> str:
    return f"{title:10}" + "".join(f"{value!s:>9}" for value in values)


if __name__ == "__main__":
    sys.exit(main())
