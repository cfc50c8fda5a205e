"""T1, T2 and T3: one request at a time."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, Sequence

from . import messages, pictures, scene
from .context import Context
from .driver import Side, echo, measure
from .table import Limit, Row, compare


def _microseconds(result: dict[str, Any]) -> list[float]:
    return [nanoseconds / 1000 for nanoseconds in result["rounds"]]


def ping(context: Context) -> list[Row]:
    """T1: the round trip of a ``ping`` in both framings against the C echo."""
    requests = messages.write(context, "ping", messages.calls("ping", [None] * 64))
    rows = []
    for framing in ("lines", "content-length"):
        sides = [
            Side("ours", context.ours(context.path("cache")), requests, framing=framing, log=context.log),
            Side("echo", echo(context), requests, framing=framing),
        ]
        ours, yardstick = measure(
            context, "roundTrips", sides, count=context.scaled(10_000), warmup=1000, pin=context.pin
        )
        name = "ping round trip, " + ("NDJSON" if framing == "lines" else "Content-Length")
        rows.append(
            compare("T1", name, _microseconds(ours), "C echo", _microseconds(yardstick), "µs", Limit("≤", 1.25))
        )
    return rows


def memory_hits(context: Context) -> list[Row]:
    """T2: hits in memory against the C echo with a reply of the same length, and with the reply to a ping."""
    rows = []
    pings = messages.write(context, "ping", messages.calls("ping", [None] * 64))
    for method, name in (("retrieve", "url"), ("isCached", "key"), ("cachePath", "key")):
        warm = scene.warm(context, 64)
        requests = messages.write(context, method, messages.calls(method, ({name: key} for key in warm.keys)))
        reply = scene.sample(context, warm, method, {name: warm.keys[0]})
        sides = [
            Side("ours", context.ours(warm.cache), requests, warm.setup, log=context.log),
            Side("echo", echo(context, "--reply-bytes", str(len(reply.encode()))), requests),
            Side("short echo", echo(context), pings),
        ]
        ours, same, short = measure(
            context, "roundTrips", sides, count=context.scaled(10_000), warmup=1000, pin=context.pin
        )
        figures = _microseconds(ours)
        work = f"memory hit, {method}"
        row = compare("T2", work, figures, "C echo, same length", _microseconds(same), "µs", Limit("≤", 1.3))
        rows.append(_checked(row, method, ours["reply"]))
        rows.append(compare("T2", work, figures, "C echo, ping", _microseconds(short), "µs"))
    return rows


def _checked(row: Row, method: str, reply: Any) -> Row:
    if method != "cachePath":
        return scene.check_hit(row, reply, "memory")
    result = json.loads(reply).get("result") if isinstance(reply, str) else None
    exists = isinstance(result, dict) and result.get("exists") is True
    return row if exists else row.doubt("cachePath did not say that the file exists")


def first_hits(context: Context) -> list[Row]:
    """T3: a fresh process retrieves every entry once; the echo does one SQLite lookup and one stat for each."""
    count = context.scaled(2000)
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(count)]
    files = pictures.make(context, count)
    cache = context.path("cache")
    messages.ask(context, cache, messages.stores(keys, files))
    index = _index(context, keys, files)

    setup = messages.write(context, "ping", messages.calls("ping", [None] * 500, 900_001))
    requests = messages.write(context, "retrieve", messages.calls("retrieve", ({"url": key} for key in keys)))
    reply = messages.ask(context, cache, messages.calls("retrieve", [{"url": keys[0]}]))[0]
    length = len(json.dumps(reply, separators=(",", ":"), ensure_ascii=False).encode())
    sides = [
        Side("ours", context.ours(cache), requests, setup, log=context.log),
        Side("echo", echo(context, "--reply-bytes", str(length), "--lookup", str(index)), requests, setup),
    ]
    ours, yardstick = measure(context, "freshRoundTrips", sides, pin=context.pin)
    row = compare(
        "T3",
        f"first hit of a process, {count:,} entries",
        _microseconds(ours),
        "C echo + SQLite + stat",
        _microseconds(yardstick),
        "µs",
        Limit("≤", 1.5),
    )
    return [scene.check_hit(row, ours["reply"], "disk")]


def _index(context: Context, keys: Sequence[str], files: Sequence[Path]) -> Path:
    """The yardstick's own index: key, path and size of every picture."""
    path = context.path("echo.sqlite")
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, path TEXT, size INTEGER) WITHOUT ROWID")
    database.executemany(
        "INSERT INTO entries VALUES (?, ?, ?)",
        ((key, str(file), file.stat().st_size) for key, file in zip(keys, files)),
    )
    database.commit()
    database.close()
    return path
