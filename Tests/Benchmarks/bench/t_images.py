"""T13 and T14: thumbnails of 200 pixels, by the codec worker, vipsthumbnail and Pillow."""

from __future__ import annotations

import json
import os
import random
import resource
import struct
import subprocess
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from codec_worker.messages import MADE, Encoding, Limits, Output, Request, downsample, enlarge
from codec_worker.worker import CodecWorker

from . import build, messages
from .context import BenchError, Context
from .driver import Side, batch
from .table import Limit, Row, absolute, compare, missing


@dataclass(frozen=True)
class Picture:
    """What is shrunk to fit into 200 pixels, how often in a round, and into what."""

    test: str
    title: str
    path: Path
    format: str
    output: str
    count: int
    target: float


@dataclass(frozen=True)
class Cost:
    """Milliseconds per image: of a processor, and by the clock."""

    processor: float
    wall: float


PILLOW = """
import json, sys, time
from PIL import Image, ImageSequence
path, count, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def once():
    image = Image.open(path)
    if getattr(image, "n_frames", 1) > 1:
        frames = []
        for frame in ImageSequence.Iterator(image):
            small = frame.convert("RGB")
            small.thumbnail((200, 200))
            frames.append(small)
        frames[0].save(output, save_all=True, append_images=frames[1:], duration=50, loop=0)
    else:
        image.thumbnail((200, 200))
        image.save(output, quality=90)
once()
begin, clock = time.process_time(), time.perf_counter()
for _ in range(count):
    once()
print(json.dumps([(time.process_time() - begin) * 1000 / count, (time.perf_counter() - clock) * 1000 / count]))
"""


def baseline(context: Context) -> list[Row]:
    """A JPEG of 12 megapixels (T13)."""
    return _run(context, {"T13"})


def others(context: Context) -> list[Row]:
    """Progressive JPEG, PNG, WebP, AVIF, small JPEG and PNG, animated GIF, and the server's own part (T14)."""
    return [*_run(context, {"T14"}), _server(context)]


def _server(context: Context) -> Row:
    """The processor time of the server itself, without the worker, for each picture that it has made of a stored one."""
    count = context.scaled(500)
    folder = context.folder("small")
    pictures = [folder / f"{number}.png" for number in range(count + 20)]
    for number, path in enumerate(pictures):
        path.write_bytes(_noise(number))
    keys = [f"http://127.0.0.1/{path.name}" for path in pictures]
    setup = messages.write(context, "setup", messages.stores(keys, pictures))
    made = {"processors": [{"resize": {"width": 16, "height": 16}}]}
    asked = messages.calls("retrieve", ({"url": key, **made} for key in keys))
    requests = {"few": messages.write(context, "few", asked[:20]), "many": messages.write(context, "many", asked)}
    costs = []
    for _ in range(context.rounds):
        used = {}
        for name, path in requests.items():
            cache = context.path("cache")
            result = batch(context, Side("ours", context.ours(cache), path, setup, log=context.log), 4)
            used[name] = result["cpu"]
            context.discard(cache)
        costs.append((used["many"] - used["few"]) / 1e6 / count)
    row = absolute("T14", "server's part of a made PNG of 16 px, processor", costs, "ms", Limit("≤", 0.3, " ms"))
    reply = json.loads(result["reply"])
    return row if "result" in reply else row.doubt(f"the last answer was {result['reply'][:200]}")


def _run(context: Context, tests: set[str]) -> list[Row]:
    binary = build.find_codec()
    rows: list[Row] = []
    for picture in _pictures(context, binary, tests):
        rows += _measure(context, binary, picture)
    if "T14" in tests and not context.has_module("PIL"):
        rows.append(missing("T14", "animated GIF of 40 frames → 200 px", "Pillow, which draws it, is not installed", "≤ 1.1"))
    return rows


def _pictures(context: Context, binary: Path, tests: set[str]) -> list[Picture]:
    folder = context.folder("pictures")
    source = build.ROOT / "Tests" / "Fixtures" / "jpeg-large.jpg"
    large, middle = enlarge(4000, 3000), enlarge(2000, 1500)
    if context.is_self_check:
        large = middle = enlarge(800, 600)
    drawn = [
        ("T13", "JPEG 12 MP", "baseline.jpg", "jpeg", "jpeg", large, False, 100, 1.0),
        ("T14", "progressive JPEG 12 MP", "progressive.jpg", "jpeg", "jpeg", large, True, 50, 0.3),
        ("T14", "WebP 12 MP", "photo.webp", "webp", "jpeg", large, False, 20, 1.1),
        ("T14", "PNG 3 MP", "photo.png", "png", "png", middle, False, 20, 1.1),
        ("T14", "AVIF 3 MP", "photo.avif", "avif", "jpeg", middle, False, 20, 1.2),
        ("T14", "JPEG 20 KB", "small.jpg", "jpeg", "jpeg", enlarge(320, 240), False, 500, 1.1),
        ("T14", "PNG 1.4 KB", "small.png", "png", "png", downsample(24, 24), False, 500, 1.2),
    ]
    pictures = []
    with CodecWorker(binary) as worker:
        for test, title, name, encoded, output, size, progressive, count, target in drawn:
            if test not in tests:
                continue
            _render(worker, source, "jpeg", size, encoded, folder / name, progressive)
            pictures.append(Picture(test, title, folder / name, encoded, output, context.scaled(count), target))
    if "T14" in tests and context.has_module("PIL"):
        gif = folder / "animated.gif"
        _draw_gif(folder / "progressive.jpg", gif)
        pictures.append(Picture("T14", "animated GIF of 40 frames", gif, "gif", "gif", context.scaled(10), 1.1))
    return pictures


def _render(
    worker: CodecWorker, source: Path, name: str, step: bytes, encoded: str, path: Path, progressive: bool = False
) -> None:
    """Makes one file of a picture of the format ``name``."""
    output = Output(str(path), encoded, [step], Encoding(quality=90, progressive=progressive))
    outcome = worker.render(Request(str(source), name, [output], Limits(decode_seconds=60)))[0]
    if outcome.kind != MADE:
        raise BenchError(f"The worker could not make {path.name} of {source.name}: {outcome.kind}, {outcome.reason}.")


def _measure(context: Context, binary: Path, picture: Picture) -> list[Row]:
    work = f"{picture.title} → 200 px"
    peaks: list[float] = []
    tools: dict[str, Callable[[], Cost]] = {"ours": lambda: _ours(context, binary, picture, peaks)}
    if context.program("vipsthumbnail"):
        tools["vipsthumbnail"] = lambda: _vipsthumbnail(context, picture)
    if context.has_module("PIL") and _pillow_reads(picture.format):
        tools["Pillow"] = lambda: _pillow(context, picture)
    rounds: dict[str, list[Cost]] = {name: [] for name in tools}
    for _ in range(context.rounds):
        for name, measure in tools.items():
            rounds[name].append(measure())
    rows = []
    others_ = [name for name in tools if name != "ours"]
    best = min(others_, key=lambda name: sum(cost.processor for cost in rounds[name]), default=None)
    for name in others_:
        limit = Limit("≤", picture.target) if name == best else None
        ours, theirs = ([cost.processor for cost in rounds[side]] for side in ("ours", name))
        rows.append(compare(picture.test, f"{work}, processor", ours, name, theirs, "ms", limit))
        if name == best:
            ours, theirs = ([cost.wall for cost in rounds[side]] for side in ("ours", name))
            rows.append(compare(picture.test, f"{work}, one worker by the clock", ours, name, theirs, "ms"))
    rows.append(absolute(picture.test, f"{work}, peak memory", peaks, "MiB", Limit("≤", 50, " MiB")))
    return rows


def _ours(context: Context, binary: Path, picture: Picture, peaks: list[float]) -> Cost:
    path = context.path("ours")
    with CodecWorker(binary, parts=("heif",) if picture.format == "avif" else ()) as worker:
        # The first starts what is started once in the life of a worker.
        for count in (1, picture.count):
            processor, clock = worker.processor_time(), time.perf_counter()
            for _ in range(count):
                _render(worker, picture.path, picture.format, downsample(200, 200), picture.output, path)
                path.unlink()
            cost = Cost((worker.processor_time() - processor) / count, (time.perf_counter() - clock) * 1000 / count)
        peaks.append(worker.peak())
    return cost


def _vipsthumbnail(context: Context, picture: Picture) -> Cost:
    folder = context.folder("vips")
    extension = {"jpeg": "jpg"}.get(picture.output, picture.output)
    name = f"{picture.path}[n=-1]" if picture.format == "gif" else str(picture.path)
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Without the option it decodes a file that is named twice once.
    subprocess.run(
        ["vipsthumbnail", "--vips-cache-max=0", "--size", "200", *[name] * picture.count, "-o", f"{folder}/%s.{extension}"],
        check=True,
        env={**os.environ, "VIPS_CONCURRENCY": "1"},
    )
    wall = (time.perf_counter() - clock) * 1000
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
    return Cost(used / picture.count, wall / picture.count)


def _pillow_reads(name: str) -> bool:
    """Whether Pillow has a decoder of a format: only some builds of it have one of AVIF."""
    script = f"from PIL import Image; Image.init(); raise SystemExit({name.upper()!r} not in Image.OPEN)"
    return subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def _pillow(context: Context, picture: Picture) -> Cost:
    extension = {"jpeg": "jpg"}.get(picture.output, picture.output)
    output = context.path(f"pillow.{extension}")
    done = subprocess.run(
        [sys.executable, "-c", PILLOW, str(picture.path), str(picture.count), str(output)],
        check=True,
        capture_output=True,
        text=True,
    )
    return Cost(*json.loads(done.stdout))


def _noise(number: int) -> bytes:
    """A PNG of 21 × 21 pixels, some 1.4 KB long, that differs from those with other numbers in its pixels."""
    side = 21
    generator = random.Random(number)
    rows = b"".join(b"\0" + generator.randbytes(3 * side) for _ in range(side))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _draw_gif(source: Path, path: Path) -> None:
    script = """
import sys
from PIL import Image
whole = Image.open(sys.argv[1])
frames = [whole.crop((10 * n, 0, 480 + 10 * n, 270)).convert("P", palette=Image.ADAPTIVE) for n in range(40)]
frames[0].save(sys.argv[2], save_all=True, append_images=frames[1:], duration=50, loop=0)
"""
    subprocess.run([sys.executable, "-c", script, str(source), str(path)], check=True)
