#!/usr/bin/env python3
"""Compares the pixels that the server gives of pictures with those of other decoders.

What holds: of every picture of the corpus, and of pictures that are drawn by chance and written by Pillow, avifenc and cjxl, the
server gives the size and the frames that another decoder finds, and the pixels are alike by 35 dB at least. Those that are least
alike are listed at the end. A picture that breaks this is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

try:
    import PIL  # noqa: F401
except ImportError:
    # Debian's Python has its package python3-pil; another one that comes first in the path may not.
    if Path("/usr/bin/python3").exists() and "HALCYON_PIL" not in os.environ:
        os.execve("/usr/bin/python3", ["/usr/bin/python3", *sys.argv], {**os.environ, "HALCYON_PIL": "sought"})
    print("There is no Pillow to compare with: nothing is compared.")
    sys.exit(0)

from campaign import drawn, referee
from campaign.report import Report
from campaign.server import ROOT, Server, drop, fresh

FIXTURES = ROOT / "Tests" / "Fixtures"
LEAST = 35.0
#: Pictures of the corpus that are less alike, by how much, and why.
LESS = {
    "jpeg-cmyk.jpg": (17.0, "each decoder turns inks into colours in its own way"),
    "avif-rgb.avif": (25.0, "colours that are coded at half the size are smoothed by each decoder in its own way"),
}
#: Pictures of the corpus that the other decoder does not show as browsers do, and why.
SKIPPED = {
    "gif-offset-frame.gif": "what lies outside of the first frame is clear, and black in Pillow",
    "jxl-animated.jxl": "djxl writes one picture of an animation",
    "jxl-animated-whole.jxl": "djxl writes one picture of an animation",
    "jxl-premultiplied.jxl": "djxl does not divide by alpha",
    "avif-rotated.avif": "avifdec does not turn it",
    "avif-gray-limited.avif": "avifdec 0.11 leaves gray of limited range as it is coded, 16 for black",
}


class Judge:
    """Asks a server for pixels and compares them."""

    def __init__(self, server: Server, report: Report, home: str) -> None:
        self._server, self._report, self._home = server, report, Path(home)
        self.found: list[tuple[float, str]] = []
        """How alike each picture is, by its least frame, and which it is."""

    def judge(self, path: Path, kind: str, words: str, least: float = LEAST) -> None:
        """Compares one picture; ``words`` say which it is."""
        self._report.count(kind)
        theirs = referee.frames(path, kind)
        reply = self._server.ask("retrieve", {"url": f"file://{path}", "as": "pixels", "options": {"cacheMemoryOnly": True}})
        pixels = reply.get("result", {}).get("pixels")
        if pixels is None:
            return self._breach(path, "refused", f"{words}: {reply.get('error', {}).get('message')}")
        ours = referee.made(Path(pixels["path"]), pixels["width"], pixels["height"], pixels["frameCount"])
        if len(ours) != len(theirs):
            return self._breach(path, "frames", f"{words}: {len(ours)} frames, {len(theirs)} elsewhere")
        alike = referee.LOSSLESS
        for number, (one, other) in enumerate(zip(ours, theirs)):
            found = referee.decibels(one, other)
            if found is None:
                return self._breach(path, "size", f"{words}: {one.size}, {other.size} elsewhere")
            if found < least:
                self._breach(path, "pixels", f"{words}: frame {number} is alike by {found:.1f} dB")
            alike = min(alike, found)
        self.found.append((alike, words))

    def _breach(self, path: Path, kind: str, text: str) -> None:
        kept = f"/tmp/pixels-{path.name}"
        if path.parent != FIXTURES:
            shutil.copy(path, kept)
            text += f"; kept as {kept}"
        self._report.breach(kind, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_500, help="how many pictures are drawn")
    parser.add_argument("--seed", type=int, default=1, help="the number of the first")
    parser.add_argument("--short", action="store_true", help="500 pictures")
    options = parser.parse_args()
    count = 500 if options.short else options.count
    report = Report(f"{sys.argv[0]} --seed {options.seed} --count {count}")
    home = fresh("pixels")
    with Server(f"{home}/cache") as server:
        judge = Judge(server, report, home)
        for entry in json.loads((FIXTURES / "manifest.json").read_text(encoding="utf-8")):
            name, kind = entry["file"], entry["format"]
            if entry["valid"] and kind not in ("svg", "pdf") and name not in SKIPPED and referee.can_read(kind):
                judge.judge(FIXTURES / name, kind, name, LESS.get(name, (LEAST, ""))[0])
        for seed in range(options.seed, options.seed + count):
            picture = drawn.by_chance(seed)
            if not referee.can_read(picture.kind):
                continue
            path = Path(home) / f"{seed}.{picture.kind}"
            path.write_bytes(picture.data)
            judge.judge(path, picture.kind, f"{seed}: {picture.words}")
            path.unlink()
    drop(home)
    print(f"{len(judge.found):,} pictures compared; the least alike:")
    for alike, words in sorted(judge.found)[:10]:
        print(f"  {alike:5.1f} dB  {words}")
    return report.close(f"pictures beside other decoders, from seed {options.seed}")


if __name__ == "__main__":
    sys.exit(main())
