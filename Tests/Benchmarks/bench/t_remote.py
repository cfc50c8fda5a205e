"""T16: hits from the remote tier, and what a remote tier costs those who do not need it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator, Sequence, Tuple

from . import messages, nginx, pictures, scene
from .context import BenchError, Context
from .driver import Side, measure
from .table import Limit, Row, compare, missing

_COUNT = 400


def run(context: Context) -> list[Row]:
    """Hits of a fresh machine from Redis and over HTTP, one at a time, beside a bare GET of the same objects; and local hits."""
    return [*_hits(context), *_local(context)]


def _hits(context: Context) -> list[Row]:
    files = pictures.make(context, context.scaled(_COUNT))
    rows = []
    with nginx.serving(context, files[0].parent) as origin:
        urls = [f"{origin}/{file.name}" for file in files]
        for program, engine, yardstick in (("redis-server", _redis, "GET, bare socket"), ("curl", _http, "curl, GET")):
            work = f"hit from a remote tier, {'Redis' if engine is _redis else 'HTTP'}, 20 KB"
            if context.program(program) is None:
                rows.append(missing("T16", work, f"{program} is not installed", "≤ 1.3"))
                continue
            with engine(context) as (url, gets):
                messages.ask(context, context.path("cache"), _retrieves(urls), "--remote", url)
                ours, bare = [], []
                for _ in range(context.rounds):
                    ours.append(_median_hit(context, urls, url))
                    bare.append(gets())
            rows.append(compare("T16", work, ours, yardstick, bare, "µs", Limit("≤", 1.3)))
    return rows


def _retrieves(urls: Sequence[str]) -> list[messages.Message]:
    return messages.calls("retrieve", ({"url": url} for url in urls))


def _median_hit(context: Context, urls: Sequence[str], remote: str) -> float:
    """The median time of a retrieve by a process with an empty folder, in µs; every answer comes from the tier."""
    with context.log.open("ab") as log:
        process = subprocess.Popen(
            context.ours(context.path("cache"), "--remote", remote),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin is not None and process.stdout is not None
    times = []
    for message in _retrieves(urls):
        line = json.dumps(message).encode() + b"\n"
        begin = time.perf_counter_ns()
        process.stdin.write(line)
        process.stdin.flush()
        answer = process.stdout.readline()
        times.append((time.perf_counter_ns() - begin) / 1000)
        found = json.loads(answer).get("result", {}).get("cacheType")
        if found != "remote":
            raise BenchError(f"An image came from {found} in place of the remote tier: {answer!r}")
    process.stdin.close()
    process.wait(timeout=60)
    return statistics.median(times)


#: The URL of an engine, and what measures the median time of a bare GET of its objects, in µs.
Engine = Tuple[str, Callable[[], float]]


@contextlib.contextmanager
def _redis(context: Context) -> Iterator[Engine]:
    folder = context.folder("redis")
    address = str(folder / "socket")
    command = ["redis-server", "--port", "0", "--unixsocket", address, "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if os.path.exists(address):
                break
            time.sleep(0.02)
        yield f"redis+unix://{address}", lambda: _redis_gets(address)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _redis_gets(address: str) -> float:
    """The median time of a GET without a library."""
    times = []
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        connection.sendall(b"*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n")
        names = _lines(connection)
        for name in names:
            begin = time.perf_counter_ns()
            connection.sendall(b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(name), name))
            data = connection.recv(65536)
            end = data.index(b"\r\n")
            whole = end + 4 + int(data[1:end])
            while len(data) < whole:
                data += connection.recv(65536)
            times.append((time.perf_counter_ns() - begin) / 1000)
    return statistics.median(times)


def _lines(connection: socket.socket) -> list[bytes]:
    """The texts of an array in the answer of Redis."""
    data = b""
    while True:
        data += connection.recv(65536)
        parts = data.split(b"\r\n")
        if len(parts) > 1 and len(parts) >= 2 + 2 * int(parts[0][1:]):
            return parts[2::2]


@contextlib.contextmanager
def _http(context: Context) -> Iterator[Engine]:
    with nginx.storing(context) as (base, folder):

        def gets() -> float:
            names = [path.relative_to(folder) for path in sorted(folder.glob("images/*/*"))]
            arguments = [word for name in names for word in (f"{base}/{name}", "-o", "/dev/null")]
            command = ["curl", "-s", "-w", "%{time_total}\\n", *arguments]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            return statistics.median(float(line) * 1e6 for line in done.stdout.split())

        yield f"{base}/images", gets


def _local(context: Context) -> list[Row]:
    """Hits in memory and from disk, with a remote tier configured and without."""
    work = "with a remote tier configured"
    if context.program("redis-server") is None:
        return [missing("T16", f"memory hit {work}", "redis-server is not installed", "≤ 1.02")]
    rows = []
    with _redis(context) as (remote, _):
        warm = scene.warm(context, 64)
        keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(context.scaled(2000))]
        cache = context.path("cache")
        messages.ask(context, cache, messages.stores(keys, pictures.make(context, len(keys))))
        pings = messages.write(context, "ping", messages.calls("ping", [None] * 500, 900_001))
        for name, mode, folder, wanted, setup, numbers in (
            ("memory hit", "roundTrips", warm.cache, warm.keys, warm.setup, {"count": context.scaled(10_000), "warmup": 1000}),
            ("first hit of a process", "freshRoundTrips", cache, keys, pings, {}),
        ):
            requests = messages.write(context, "retrieve", messages.calls("retrieve", ({"url": key} for key in wanted)))
            sides = [
                Side("with", context.ours(folder, "--remote", remote), requests, setup, log=context.log),
                Side("without", context.ours(folder), requests, setup, log=context.log),
            ]
            found = measure(context, mode, sides, pin=context.pin, **numbers)
            ours, without = ([nanoseconds / 1000 for nanoseconds in side["rounds"]] for side in found)
            rows.append(compare("T16", f"{name} {work}", ours, "without one", without, "µs", Limit("≤", 1.02)))
    return rows
