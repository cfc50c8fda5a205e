"""T6: how much memory the server holds."""

from __future__ import annotations

from typing import Any

from . import messages, nginx, pictures, scene
from .context import Context
from .driver import Side, batch
from .table import Limit, Row, absolute, missing


def run(context: Context) -> list[Row]:
    """Resident memory after a ping, its growth over many hits and with each known image, and the peak over many downloads."""
    hits, misses = context.scaled(1_000_000), context.scaled(10_000)
    ping = messages.write(context, "ping", messages.calls("ping", [None]))
    rounds = range(min(context.rounds, 5))
    idle = [_memory(context, ping)["after"]["rss"] / 1024 for _ in rounds]
    rows = [absolute("T6", "RSS after a ping", idle, "MiB", Limit("≤", 16, " MiB"))]

    warm = scene.warm(context, 64)
    requests = messages.write(context, "hits", messages.repeated("retrieve", [{"url": key} for key in warm.keys], 4096))
    result = batch(context, Side("ours", context.ours(warm.cache), requests, warm.setup, log=context.log), 64, hits)
    grown = (result["after"]["rss"] - result["before"]["rss"]) / 1024
    row = absolute("T6", f"growth of RSS over {hits:,} hits", [grown], "MiB", Limit("≤", 2, " MiB"))
    rows.append(scene.check_hit(row, result["reply"], "memory"))
    total = result["after"]["rss"] / 1024 - idle[len(idle) // 2]
    rows.append(absolute("T6", "the same since a ping, with 64 entries stored", [total], "MiB"))
    rows.append(_known(context))

    work = f"peak of RSS over {misses:,} downloads of 20 KB"
    limit = Limit("≤", 64, " MiB")
    if not nginx.can_serve(context):
        return [*rows, missing("T6", work, "nginx is not installed", str(limit))]
    files = pictures.make(context, min(misses, 1000))
    with nginx.serving(context, files[0].parent) as base:
        urls = [f"{base}/{number % len(files):05d}.jpg?{number}" for number in range(misses)]
        requests = messages.write(context, "misses", messages.calls("retrieve", ({"url": url} for url in urls)))
        cache = context.path("cache")
        result = batch(context, Side("ours", context.ours(cache), requests, log=context.log), 64)
    row = absolute("T6", work, [result["after"]["peak"] / 1024], "MiB", limit)
    rows.append(scene.check_hit(row, result["reply"], "none"))
    context.discard(cache)
    return rows


def _known(context: Context) -> Row:
    """What each image adds that is found on disk, and whose bytes nobody asks for."""
    count = context.scaled(20_000)
    warmup = count // 20
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(count)]
    cache = context.path("cache")
    stores = messages.write(context, "stores", messages.stores(keys, pictures.make(context, 64)))
    batch(context, Side("ours", context.ours(cache), stores, log=context.log), 64)
    asked = messages.calls("retrieve", ({"url": key} for key in keys))
    setup = messages.write(context, "setup", asked[:warmup])
    requests = messages.write(context, "known", asked[warmup:])
    result = batch(context, Side("ours", context.ours(cache), requests, setup, log=context.log), 64)
    grown = (result["after"]["rss"] - result["before"]["rss"]) * 1024 / (count - warmup)
    row = absolute("T6", f"growth of RSS with each of {count:,} known images", [grown], "bytes", Limit("≤", 200, " bytes"))
    context.discard(cache)
    return scene.check_hit(row, result["reply"], "disk")


def _memory(context: Context, requests: str) -> dict[str, Any]:
    return batch(context, Side("ours", context.ours(context.path("cache")), requests, log=context.log), 1)
