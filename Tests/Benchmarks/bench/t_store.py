"""T7: storing pictures."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

from . import messages, pictures, scene
from .context import BenchError, Context, file_system
from .driver import Side, batch
from .table import Limit, Row, compare, missing

WINDOW = 64


def run(context: Context) -> list[Row]:
    """Microseconds per stored entry of 20,000 bytes, from a path and from base64, against the least that must be done."""
    count = context.scaled(2000)
    files = pictures.make(context, count)
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(count)]
    texts = (base64.b64encode(file.read_bytes()).decode() for file in files)
    by_path = messages.write(context, "store", messages.stores(keys, files))
    # Equal bytes become one file with many names, which is other work.
    equal = messages.write(context, "store", messages.stores(keys, files[:64]))
    by_data = messages.write(
        context, "store", messages.calls("store", ({"key": key, "data": text} for key, text in zip(keys, texts)))
    )
    kinds = [("process", Limit("≤", 1.4)), ("disk", Limit("≤", 1))]
    rows = []
    for durability, limit in kinds:
        target = str(limit)
        if durability == "disk" and not context.offers("--durability"):
            rows.append(missing("T7", "store, durability disk", "the server has no --durability flag", target))
            continue
        flags = ["--durability", "disk"] if durability == "disk" else []
        place = context.on_disk if durability == "disk" else context
        figures: dict[str, list[float]] = {"path": [], "data": [], "path alone": [], "equal": [], "yardstick": []}
        for _ in range(context.rounds):
            figures["path"].append(_store(place, by_path, WINDOW, count, flags))
            figures["yardstick"].append(_yardstick(place, files[0], count, durability))
            figures["data"].append(_store(place, by_data, WINDOW, count, flags))
            figures["path alone"].append(_store(place, by_path, 1, count, flags))
            figures["equal"].append(_store(place, equal, WINDOW, count, flags))
        name = "write + rename + upsert" if durability == "process" else "write + fdatasync + rename + upsert"
        where = f"on {file_system(place.work)}"
        for kind, work in (
            ("path", "from a path"),
            ("data", "from base64"),
            ("path alone", "from a path, one at a time"),
            ("equal", "from 64 paths under other keys each"),
        ):
            limits = {"path": limit, "data": limit, "path alone": Limit("≤", 3) if durability == "process" else None}
            full = f"store {work}, durability {durability}, {where}"
            rows.append(compare("T7", full, figures[kind], name, figures["yardstick"], "µs", limits.get(kind)))
    return rows


def _store(context: Context, requests: str, window: int, count: int, flags: list[str]) -> float:
    cache = context.path("cache")
    side = Side("ours", context.ours(cache, *flags), requests, log=context.log)
    result = batch(context, side, window)
    stored = messages.ask(context, cache, messages.calls("calculateSize", [{}]))[0]["result"]["disk"]["count"]
    if stored != count:
        raise BenchError(f"{count} entries were stored, but the cache says it holds {stored}.")
    context.discard(cache)
    return float(result["taken"]) / 1000 / count


def _yardstick(context: Context, picture: Path, count: int, durability: str) -> float:
    folder = context.path("yardstick")
    done = subprocess.run(
        [context.tool("bench-store"), str(folder), str(picture), str(count), durability],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(done.stderr.strip())
    context.discard(folder)
    return float(json.loads(done.stdout)["seconds"]) * 1e6 / count
