"""T9: what a cache of 1,000, 100,000 and 1,000,000 entries costs, against itself at 1,000; A18: stores at the limit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Sequence

from . import filled, messages, peers, pictures, scene
from .context import BenchError, Context
from .driver import Side, batch, measure
from .filled import Filled
from .messages import Message
from .table import Limit, Row, absolute, compare

WINDOW = 64
FLAT = Limit("≤", 1.3)

#: Pictures that no filled cache holds begin at this number: equal bytes would be stored as a link.
_NEW = 10_000_000


def run(context: Context) -> list[Row]:
    """Every kind of request at three sizes, one at a time, and the memory that a million entries take."""
    caches = _caches(context)
    rows = [
        *_first_hits(context, caches),
        *_flat(context, caches, "memory hit, retrieve", *_hits(caches), cacheType="memory"),
        *_flat(context, caches, "miss, isCached", *_misses(context), cached=False),
        *_flat(context, caches, "calculateSize", [], messages.calls("calculateSize", [{}] * 64)),
        *_opening(context, caches),
        *_memory(context, caches),
        *_stores(context, caches, "store 20 KB", "", None),
    ]
    for cache in caches:
        context.discard(cache.folder)
    caches = _caches(context)
    limits = [cache.bytes for cache in caches]
    rows += _stores(context, caches, "store 20 KB at the limit, which evicts", "more/", limits)
    for cache in caches:
        context.discard(cache.folder)
    return rows


def crowded_stores(context: Context) -> list[Row]:
    """A18: the 99th percentile of the time to an answer of stores at the limit, alone and with 64 in flight.

    With ``purgeRatio`` 1 every store evicts; with the default, the first one begins to take out half of the cache. diskcache
    stores in this process, on as many threads as we have requests in flight.
    """
    count = context.scaled(1000)
    files = pictures.make(context, count * 2 * context.rounds, _NEW)
    rows = []
    for size in sizes(context):
        figures: dict[Any, list[float]] = {}
        with peers.diskcache_at_limit(context, size) as crowd:
            for number in range(context.rounds):
                for side, window in enumerate((1, WINDOW)):
                    place = (2 * number + side) * count
                    part = files[place : place + count]
                    for ratio in (1.0, 0.5):
                        figures.setdefault((window, ratio), []).append(_crowd(context, size, part, window, ratio))
                    if crowd:
                        samples = crowd(part, window)
                        figures.setdefault(window, []).append(peers.percentile(samples, 99) / 1e6)
        rows += [_crowd_row(figures, size, window, ratio) for window in (1, WINDOW) for ratio in (1.0, 0.5)]
    return rows


def _crowd_row(figures: dict[Any, list[float]], size: int, window: int, ratio: float) -> Row:
    limit = Limit("≤", 5 if window == 1 else 10, " ms")
    how = "one at a time" if window == 1 else f"{window} in flight"
    work = f"p99 of stores at the limit, {how}, {size:,} entries, purgeRatio {ratio:g}"
    ours = figures[window, ratio]
    if window not in figures:
        return absolute("A18", work, ours, "ms", limit)
    threads = "diskcache" if window == 1 else f"diskcache, {window} threads"
    row = compare("A18", work, ours, threads, figures[window], "ms", target=str(limit))
    row.met = row.ours is not None and limit.holds(row.ours)
    return row


def sizes(context: Context) -> list[int]:
    """How many entries the caches have; where the work is divided, the largest are left out."""
    if context.is_self_check:
        return [100, 1000]
    return [1000, 100_000, 1_000_000] if context.divisor == 1 else [1000, 100_000]


def _caches(context: Context) -> list[Filled]:
    return [filled.make(context, size, filled.FILES) for size in sizes(context)]


def _crowd(context: Context, size: int, files: Sequence[Path], window: int, ratio: float) -> float:
    """Milliseconds: the 99th percentile over one fresh cache."""
    cache = filled.make(context, size, filled.FILES)
    keys = [filled.key_of_no_entry(number) for number in range(len(files))]
    setup = messages.write(context, "setup", [*_warm_index(), _purge_ratio(ratio)])
    requests = messages.write(context, "stores", _unleased(keys, files))
    side = Side("ours", context.ours(cache.folder, "--disk-limit", str(cache.bytes)), requests, setup, log=context.log)
    numbers = {"rounds": 1, "count": len(files), "window": window, "percentile": 99, "pin": context.pin and window == 1}
    result = measure(context, "responses", [side], **numbers)[0]
    left = cache.rows()
    context.discard(cache.folder)
    if left > size:
        raise BenchError(f"The cache holds {left:,} entries, but its limit is {size:,}.")
    return float(result["rounds"][0]) / 1e6


def _warm_index() -> list[Message]:
    return messages.calls("isCached", [{"key": filled.key_of_no_entry(0)}], 900_001)


def _purge_ratio(ratio: float) -> Message:
    return messages.calls("configure", [{"disk": {"purgeRatio": ratio}}], 910_001)[0]


def _unleased(keys: Sequence[str], files: Sequence[Path]) -> list[Message]:
    """Stores of pictures whose paths nobody keeps, so that they may be evicted like all others."""
    pairs = zip(keys, files)
    return messages.calls("store", ({"key": key, "path": str(file), "options": {"lease": 0}} for key, file in pairs))


def _servers(
    context: Context, caches: Sequence[Filled], setup: list[Message], requests: str, limits: Sequence[int] | None = None
) -> list[Side]:
    before = messages.write(context, "setup", setup)
    limits = limits or [1 << 50] * len(caches)
    return [
        Side(f"{cache.count}", context.ours(cache.folder, "--disk-limit", str(limit)), requests, before, log=context.log)
        for cache, limit in zip(caches, limits)
    ]


def _against_smallest(
    caches: Sequence[Filled], work: str, results: Sequence[dict[str, Any]], unit: str = "µs", scale: float = 1000
) -> list[Row]:
    figures = [[nanoseconds / scale for nanoseconds in result["rounds"]] for result in results]
    smallest = f"ours, {caches[0].count:,}"
    return [
        compare("T9", f"{work}, {cache.count:,} entries", mine, smallest, figures[0], unit, FLAT)
        for cache, mine in zip(caches[1:], figures[1:])
    ]


def _flat(
    context: Context, caches: Sequence[Filled], work: str, setup: list[Message], requests: list[Message], **wanted: Any
) -> list[Row]:
    """Round trips on all sizes in turn; ``wanted`` is what the last answers must have said."""
    sides = _servers(context, caches, setup, messages.write(context, "requests", requests))
    count = context.scaled(5000)
    results = measure(context, "roundTrips", sides, count=count, warmup=min(count, 500), pin=context.pin)
    rows = _against_smallest(caches, work, results)
    for row, result in zip(rows, results[1:]):
        _check(row, result["reply"], wanted)
    return rows


def _check(row: Row, reply: str, wanted: dict[str, Any]) -> None:
    answer = json.loads(reply)["result"]
    for name, value in wanted.items():
        if answer.get(name) != value:
            row.doubt(f"{name} was {answer.get(name)!r} and not {value!r}")


def _hits(caches: Sequence[Filled]) -> tuple[list[Message], list[Message]]:
    keys = caches[0].keys[:64]
    return (
        messages.calls("retrieve", ({"url": key} for key in keys), 900_001),
        messages.calls("retrieve", ({"url": key} for key in keys)),
    )


def _misses(context: Context) -> tuple[list[Message], list[Message]]:
    keys = [filled.key_of_no_entry(number) for number in range(5000)]
    return [], messages.calls("isCached", ({"key": key} for key in keys))


def _first_hits(context: Context, caches: Sequence[Filled]) -> list[Row]:
    """Each round a fresh process per size retrieves every one of 1,000 entries once."""
    keys = caches[0].keys[: context.scaled(1000)]
    requests = messages.write(context, "retrieve", messages.calls("retrieve", ({"url": key} for key in keys)))
    setup = messages.calls("ping", [None] * 500, 900_001)
    results = measure(context, "freshRoundTrips", _servers(context, caches, setup, requests), pin=context.pin)
    rows = _against_smallest(caches, f"first hit of a process, {len(keys):,} keys", results)
    return [scene.check_hit(row, result["reply"], "disk") for row, result in zip(rows, results[1:])]


def _opening(context: Context, caches: Sequence[Filled]) -> list[Row]:
    requests = messages.write(context, "isCached", messages.calls("isCached", [{"key": caches[0].keys[0]}]))
    sides = _servers(context, caches, [], requests)
    results = measure(context, "starts", sides, count=context.starts)
    return _against_smallest(caches, "start to first isCached", results, "ms", 1e6)


def _memory(context: Context, caches: Sequence[Filled]) -> list[Row]:
    """What the process of the largest cache holds after its first answer beyond that of the smallest, and of none."""
    largest = caches[-1]
    question = messages.calls("isCached", [{"key": largest.keys[0]}])
    requests = messages.write(context, "isCached", question)

    def resident(folder: Path) -> float:
        side = Side("ours", context.ours(folder, "--disk-limit", str(1 << 50)), requests, log=context.log)
        return float(batch(context, side, 1)["after"]["rss"]) / 1024

    grown: list[float] = []
    opened: list[float] = []
    for _ in range(context.rounds):
        most = resident(largest.folder)
        grown.append(most - resident(caches[0].folder))
        opened.append(most - resident(context.path("cache")))
    work = f"RSS of {largest.count:,} entries beyond that of"
    return [
        absolute("T9", f"{work} {caches[0].count:,}", grown, "MiB", Limit("≤", 1, " MiB")),
        absolute("T9", f"{work} none, where no index is open", opened, "MiB"),
    ]


def _stores(
    context: Context, caches: Sequence[Filled], work: str, name: str, limits: Sequence[int] | None
) -> list[Row]:
    """New pictures under new keys, all the time; with ``limits`` each of them must evict another."""
    count, warmup = context.scaled(200), context.scaled(100)
    total = count * context.rounds + warmup
    files = pictures.make(context, total, _NEW + (0 if limits is None else total))
    keys = [filled.key_of_no_entry(number).replace("/new/", f"/new/{name}") for number in range(total)]
    requests = messages.write(context, "stores", _unleased(keys, files))
    sides = _servers(context, caches, [*_warm_index(), _purge_ratio(1)], requests, limits)
    results = measure(context, "roundTrips", sides, count=count, warmup=warmup, pin=context.pin)
    rows = _against_smallest(caches, work, results)
    for row, cache in zip(rows, caches[1:]):
        wanted = cache.count + (total if limits is None else 0)
        if cache.rows() != wanted:
            row.doubt(f"the cache has {cache.rows():,} entries and not {wanted:,}")
    shutil.rmtree(files[0].parent)
    return rows
