#!/usr/bin/env python3
"""Gives the codec worker damaged pictures by the thousand.

What holds: the worker answers each with a picture or a reason, in bounded time and memory, and never ends; the same bytes
give the same answer, whatever lies in memory that was not written (MALLOC_PERTURB_).
A picture that breaks this is kept, and belongs among the fixtures.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import struct
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Optional, Sequence

from campaign.report import Report

sys.path.append(str(Path(__file__).resolve().parents[1] / "Support"))

from codec_worker.messages import MADE, Limits, MessageError, Output, Request, blur, crop, crop_interesting  # noqa: E402
from codec_worker.messages import downsample, pixelate, rotate, round_corner, trim  # noqa: E402
from codec_worker.worker import CodecWorker, WorkerGone  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "Tests" / "Fixtures"
NATURAL = {MADE, "bad data", "unsupported", "limit"}
STEPS = [[], [downsample(32, 32)], [crop(20, 20)], [blur(3)], [round_corner(5)], [rotate(30)]]
STEPS += [[crop_interesting(20, 20)], [trim(10)], [pixelate(7)]]
"""Recipes of one processor, or none."""
LIMITS = Limits(max_pixels=4_000_000, max_frames=200, max_animation_pixels=20_000_000)


def started(binary: Path, perturb: int) -> CodecWorker:
    """A worker that fills memory with ``perturb`` before and after its use; 0 for not at all."""
    environment = {"PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no", "MALLOC_PERTURB_": str(perturb)}
    return CodecWorker(binary, environment, patience=60, is_quiet=True)


def render(worker: CodecWorker, source: Path, name: str, steps: Sequence[bytes], output: Path) -> str:
    """What became of a picture: ``made`` or the kind of failure. All of it is decoded besides."""
    outputs = [Output(str(output), "png", steps), Output()]
    return worker.render(Request(str(source), name, outputs, LIMITS, wants_placeholder=True))[0].kind


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """The picture with one to eight blows."""
    data = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        if len(data) < 2:
            break
        place = chance.randrange(len(data))
        other = chance.randrange(len(data))
        blow = chance.randrange(7)
        if blow == 0:
            data[place] ^= 1 << chance.randrange(8)
        elif blow == 1:
            data[place] = chance.choice((0, 1, 127, 128, 255))
        elif blow == 2:
            del data[place:]
        elif blow == 3:
            del data[place : place + chance.randrange(1, 40)]
        elif blow == 4:
            data[place:place] = data[other : other + chance.randrange(1, 60)]
        elif blow == 5:
            data[place : place + 4] = chance.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", bytes(4), b"\0\0\xff\xff"))
        else:
            data[place : place + 16] = data[other : other + 16]
    return bytes(data)


def mended(data: bytes) -> bytes:
    """A PNG with right checksums, so that what lies behind them is reached."""
    out, place = bytearray(data[:8]), 8
    while place + 12 <= len(data):
        length = struct.unpack(">I", data[place : place + 4])[0]
        end = place + 8 + length
        if end + 4 > len(data):
            break
        out += data[place:end] + struct.pack(">I", zlib.crc32(data[place + 4 : end]))
        place = end + 4
    return bytes(out) + data[place:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="how many pictures")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", help="only pictures of this format")
    parser.add_argument("--short", action="store_true", help="2,000 pictures")
    options = parser.parse_args()
    count = 2_000 if options.short else options.count
    server = Path(os.environ.get("HALCYON_BIN", ROOT / ".build" / "debug" / "halcyon"))
    binary = Path(os.environ.get("HALCYON_CODEC", server.resolve().parent / "halcyon-codec"))
    chance = random.Random(options.seed)
    entries = json.loads((FIXTURES / "manifest.json").read_text(encoding="utf-8"))
    sources = [
        (entry["format"], (FIXTURES / entry["file"]).read_bytes())
        for entry in entries
        if entry["valid"] and entry["byteCount"] < 30_000 and options.format in (None, entry["format"])
    ]
    home = Path(tempfile.mkdtemp(prefix="campaign-"))
    workers = [started(binary, 0), started(binary, 165)]
    report = Report(f"{sys.argv[0]} --seed {options.seed} --count {count}" + (f" --format {options.format}" if options.format else ""))
    slowest = 0.0
    for number in range(count):
        name, whole = chance.choice(sources)
        steps = chance.choice(STEPS)
        source = home / "source"
        data = damaged(whole, chance)
        source.write_bytes(mended(data) if name == "png" and chance.random() < 0.8 else data)
        answers: list[tuple[str, Optional[str]]] = []
        fault = ""
        for place, worker in enumerate(workers):
            output = home / "output"
            begin = time.monotonic()
            try:
                kind = render(worker, source, name, steps, output)
            except (WorkerGone, MessageError) as error:
                fault = f"the worker is gone: {error}"
                worker.kill()
                workers[place] = started(binary, 165 * place)
                continue
            slowest = max(slowest, time.monotonic() - begin)
            digest = hashlib.sha256(output.read_bytes()).hexdigest() if output.exists() else None
            output.unlink(missing_ok=True)
            answers.append((kind, digest))
            report.count(f"{name} {kind}", 1 - place)
            if kind not in NATURAL:
                fault = f"it is answered with {kind}"
        if not fault and len(set(answers)) > 1:
            fault = f"two workers answer differently: {answers}"
        if fault:
            kept = f"/tmp/picture-{options.seed}-{number}.{name}"
            shutil.copy(source, kept)
            report.breach("picture", f"{number}: {name}, step {STEPS.index(steps)}: {fault}; kept as {kept}")
    peak = max(worker.peak() for worker in workers)
    for worker in workers:
        if worker.close() != 0:
            report.breach("end", "a worker does not end with its socket")
    if peak > 250:
        report.breach("memory", f"a worker held {peak:.0f} MiB")
    shutil.rmtree(home)
    return report.close(f"pictures, seed {options.seed}, slowest {slowest:.2f} s, peak {peak:.0f} MiB")


if __name__ == "__main__":
    sys.exit(main())
