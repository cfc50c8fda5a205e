#!/usr/bin/env python3
"""Gives the codec worker damaged pictures by the thousand (D1, D2, D5; E2-91).

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
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Optional

from campaign.report import Report

ROOT = Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "Tests" / "Fixtures"
KINDS = ["bad data", "unsupported", "limit", "processing failed", "out of memory", "file failed"]
NATURAL = {"made", "bad data", "unsupported", "limit"}


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<q", len(data)) + data


STEPS = [
    b"",
    text("downsample") + struct.pack("<qq", 32, 32),
    text("crop") + struct.pack("<qqdd", 20, 20, 0.5, 0.5),
    text("blur") + struct.pack("<d", 3),
    text("roundCorner") + b"\0" + struct.pack("<d", 5) + b"\x0f\0\0",
    text("rotate") + b"\1" + struct.pack("<d", 30),
]
"""Chains of one processor, in the form of the messages (Sources/ImageRecipes/RenderMessage+Processor.swift)."""


class Gone(Exception):
    """The worker ended."""


class Worker:
    """One codec worker and its socket."""

    def __init__(self, binary: Path, perturb: int) -> None:
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(60)
        environment = {"PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no", "MALLOC_PERTURB_": str(perturb)}
        self.process = subprocess.Popen(
            [str(binary)], stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        theirs.close()
        self.receive()

    def render(self, source: Path, name: str, step: bytes, output: Path) -> str:
        """What became of a picture: ``made`` or the kind of failure. All of it is decoded besides."""
        encoding = b"\0" * 6 + text("keep")
        one = struct.pack("<q", 1 if step else 0) + step + b"\0\1" + text("png") + encoding + text(str(output))
        limits = struct.pack("<qqqdqq", 4_000_000, 200, 20_000_000, 20.0, 1 << 30, 1_000_000)
        whole = struct.pack("<q", 0) + b"\0\3" + text("")
        body = b"\2" + text(str(source)) + text(name) + b"\0" + struct.pack("<q", 2) + one + whole + limits + b"\1"
        try:
            self.socket.sendall(struct.pack("<I", len(body)) + body)
            reply = self.receive()
        except OSError as error:
            raise Gone(str(error)) from error
        return "made" if reply[9] == 0 else KINDS[reply[10]]

    def receive(self) -> bytes:
        return self.exactly(struct.unpack("<I", self.exactly(4))[0])

    def exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise Gone(f"it ended with {self.process.wait(10)}")
            data += piece
        return data

    def peak(self) -> int:
        """The most memory that it held, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) // 1024

    def end(self) -> int:
        self.socket.close()
        return self.process.wait(30)


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
    workers = [Worker(binary, 0), Worker(binary, 165)]
    report = Report(f"{sys.argv[0]} --seed {options.seed} --count {count}" + (f" --format {options.format}" if options.format else ""))
    slowest = 0.0
    for number in range(count):
        name, whole = chance.choice(sources)
        step = chance.choice(STEPS)
        source = home / "source"
        data = damaged(whole, chance)
        source.write_bytes(mended(data) if name == "png" and chance.random() < 0.8 else data)
        answers: list[tuple[str, Optional[str]]] = []
        fault = ""
        for place, worker in enumerate(workers):
            output = home / "output"
            begin = time.monotonic()
            try:
                kind = worker.render(source, name, step, output)
            except (Gone, TimeoutError) as error:
                fault = f"the worker is gone: {error}"
                worker.process.kill()
                workers[place] = Worker(binary, 165 * place)
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
            report.breach("picture", f"{number}: {name}, step {STEPS.index(step)}: {fault}; kept as {kept}")
    peak = max(worker.peak() for worker in workers)
    for worker in workers:
        if worker.end() != 0:
            report.breach("end", "a worker does not end with its socket")
    if peak > 250:
        report.breach("memory", f"a worker held {peak} MiB")
    shutil.rmtree(home)
    return report.close(f"pictures, seed {options.seed}, slowest {slowest:.2f} s, peak {peak} MiB")


if __name__ == "__main__":
    sys.exit(main())
