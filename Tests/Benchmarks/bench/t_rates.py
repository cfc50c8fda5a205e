"""T9R: how many pictures a second are stored, read, removed and evicted, beside diskcache and plain files."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from . import filled, messages, peers, pictures, scene
from .context import BenchError, Context
from .driver import Side, batch
from .table import Row, compare, missing

_WINDOWS = {1: "one at a time", 64: "64 in flight"}
_LEFT = 0.1


def run(context: Context) -> list[Row]:
    """Thousands a second. Ours answers with a path, so the time that plain files take to be read is added to its own."""
    count = context.scaled(2000)
    files = pictures.make(context, count)
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(count)]
    kinds = [peers.Plain] + ([peers.Diskcache] if peers.diskcache_module(context) else [])
    rates: dict[tuple[str, str], list[float]] = {}

    def note(who: str, what: str, seconds: float, done: int = count) -> None:
        rates.setdefault((who, what), []).append(done / seconds / 1000)

    for _ in range(context.rounds):
        reading = 0.0
        for kind in kinds:
            taken = _peer(kind(context), keys, files)
            for what, seconds in taken.items():
                note(kind.name, what, seconds)
            if kind is peers.Plain:
                reading = taken["get"]
            note(kind.name, "evict", *_evict_peer(context, kind))
        for window in _WINDOWS:
            for what, seconds in _ours(context, keys, files, window).items():
                note(f"ours {window}", what, seconds + (reading if what.startswith("get") else 0))
        note("ours 1", "evict", *_evict_ours(context))
    return _rows(rates, [kind.name for kind in kinds])


def _rows(rates: dict[tuple[str, str], list[float]], others: list[str]) -> list[Row]:
    rows = []
    for what, counterpart in (("set", "set"), ("get", "get"), ("get, first of a process", "get"), ("delete", "delete")):
        for window, how in _WINDOWS.items():
            for other in others:
                ours, theirs = rates[f"ours {window}", what], rates[other, counterpart]
                rows.append(compare("T9R", f"{what}, {how}", ours, other, theirs, "k/s"))
    for other in others:
        rows.append(compare("T9R", "evict 90 % of a cache", rates["ours 1", "evict"], other, rates[other, "evict"], "k/s"))
    if "diskcache" not in others:
        rows.append(missing("T9R", "set, get and evict, v. diskcache", "diskcache is not installed"))
    return rows


def _ours(context: Context, keys: list[str], files: list[Path], window: int) -> dict[str, float]:
    """Seconds for all keys, by fresh processes on one cache."""
    cache = context.path("cache")
    reads = messages.calls("retrieve", ({"url": key} for key in keys))
    warm = messages.write(context, "warm", messages.calls("retrieve", ({"url": key} for key in keys), 900_001))
    plans: dict[str, tuple[list[messages.Message], str | None]] = {
        "set": (messages.stores(keys, files), None),
        "get, first of a process": (reads, None),
        "get": (reads, warm),
        "delete": (messages.calls("remove", ({"key": key} for key in keys)), None),
    }
    seconds = {}
    for what, (requests, setup) in plans.items():
        side = Side("ours", context.ours(cache), messages.write(context, "requests", requests), setup, log=context.log)
        # Alone, a request would wait for a sleeping processor to wake more than for its answer.
        pin = context.pin and window == 1
        seconds[what] = float(batch(context, side, window, pin=pin)["taken"]) / 1e9
    left = messages.ask(context, cache, messages.calls("calculateSize", [{}]))[0]["result"]["disk"]["count"]
    if left != 0:
        raise BenchError(f"{left} entries are left after all were removed.")
    context.discard(cache)
    return seconds


def _peer(peer: Any, keys: list[str], files: list[Path]) -> dict[str, float]:
    pairs = [(key, file.read_bytes()) for key, file in zip(keys, files)]
    begin = time.perf_counter()
    for key, data in pairs:
        peer.set(key, data)
    stored = time.perf_counter()
    for key in keys:
        if len(peer.get(key)) != pictures.SIZE:
            raise BenchError(f"{peer.name} did not give back what was stored.")
    read = time.perf_counter()
    for key in keys:
        peer.delete(key)
    removed = time.perf_counter()
    peer.close()
    return {"set": stored - begin, "get": read - stored, "delete": removed - read}


def _evictable(context: Context) -> int:
    return context.scaled(10_000)


def _evict_peer(context: Context, kind: Any) -> tuple[float, int]:
    """Seconds, and how many went."""
    peer = kind(context)
    original = pictures.base(context)
    for number in range(_evictable(context)):
        peer.set(filled.key_of_no_entry(number), pictures.numbered(original, number))
    begin = time.perf_counter()
    gone = peer.evict(_LEFT)
    taken = time.perf_counter() - begin
    peer.close()
    return taken, gone


def _evict_ours(context: Context) -> tuple[float, int]:
    """The limit of a full cache is lowered; seconds until it holds, and how many entries went."""
    count = _evictable(context)
    cache = filled.make(context, count, count)
    goal = int(count * _LEFT)
    with context.log.open("ab") as log:
        server = subprocess.Popen(
            context.ours(cache.folder, "--disk-limit", str(cache.bytes)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert server.stdin and server.stdout

    def ask(method: str, params: dict[str, Any]) -> Any:
        request = json.dumps(messages.calls(method, [params])[0]) + "\n"
        server.stdin.write(request.encode())  # type: ignore[union-attr]
        server.stdin.flush()  # type: ignore[union-attr]
        return json.loads(server.stdout.readline())["result"]  # type: ignore[union-attr]

    ask("isCached", {"key": cache.keys[0]})
    begin = time.perf_counter()
    ask("configure", {"disk": {"bytesLimit": goal * pictures.SIZE, "purgeRatio": 1}})
    while ask("calculateSize", {})["disk"]["count"] > goal:
        if time.perf_counter() - begin > 120:
            server.kill()
            raise BenchError("The cache did not shrink to its limit within two minutes.")
        time.sleep(0.001)
    taken = time.perf_counter() - begin
    server.stdin.close()
    server.wait(timeout=60)
    server.stdout.close()
    context.discard(cache.folder)
    return taken, count - goal
