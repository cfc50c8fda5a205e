"""T6: how much memory the server holds."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import subprocess
import threading
from typing import Any, Iterator

from . import messages, nginx, pictures, scene
from .context import BenchError, Context
from .driver import Side, batch
from .table import Limit, Row, absolute, missing


def run(context: Context) -> list[Row]:
    """Resident memory after a ping, its growth over many hits and with each known image, and the peak over many downloads."""
    hits, misses = context.scaled(1_000_000), context.scaled(10_000)
    ping = messages.write(context, "ping", messages.calls("ping", [None]))
    rounds = range(min(context.rounds, 5))
    idle = [_memory(context, ping)["after"]["rss"] / 1024 for _ in rounds]
    rows = [absolute("T6", "RSS after a ping", idle, "MiB", Limit("≤", 12, " MiB"))]

    warm = scene.warm(context, 64)
    requests = messages.write(context, "hits", messages.repeated("retrieve", [{"url": key} for key in warm.keys], 4096))
    result = batch(context, Side("ours", context.ours(warm.cache), requests, warm.setup, log=context.log), 64, hits)
    grown = (result["after"]["rss"] - result["before"]["rss"]) / 1024
    row = absolute("T6", f"growth of RSS over {hits:,} hits", [grown], "MiB", Limit("≤", 1, " MiB"))
    rows.append(scene.check_hit(row, result["reply"], "memory"))
    total = result["after"]["rss"] / 1024 - idle[len(idle) // 2]
    rows.append(absolute("T6", "the same since a ping, with 64 entries stored", [total], "MiB"))
    rows += [_known(context), _waiting(context)]

    work = f"peak of RSS over {misses:,} downloads of 20 KB"
    limit = Limit("≤", 48, " MiB")
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


def _waiting(context: Context) -> Row:
    """What each `retrieve` adds that waits for a web server, each for a URL of its own."""
    count = context.scaled(12_000)
    warmup = count // 4  # with it, fewer than the requests that a server works on at the same time
    cache = context.path("cache")
    with _silent_server() as base, context.log.open("ab") as log:
        process = subprocess.Popen(
            context.ours(cache, "--timeout", "600"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        try:
            sizes = []
            for start, end in ((0, warmup), (warmup, warmup + count)):
                urls = [f"{base}/pictures/{number:05d}.jpg" for number in range(start, end)]
                _send(process, [*messages.calls("retrieve", ({"url": url} for url in urls), start + 1)])
                _await(process, f"reached {end}")
                with open(f"/proc/{process.pid}/statm", encoding="ascii") as statm:
                    sizes.append(int(statm.read().split()[1]) * resource.getpagesize())
        finally:
            process.kill()
            process.communicate()
    context.discard(cache)
    grown = (sizes[1] - sizes[0]) / count
    return absolute("T6", f"growth of RSS with each of {count:,} waiting retrieves", [grown], "bytes", Limit("≤", 2048, " bytes"))


@contextlib.contextmanager
def _silent_server() -> Iterator[str]:
    """A web server that takes every connection and answers nothing."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(listening.accept()[0])

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    for connection in taken:
        connection.close()


def _send(process: subprocess.Popen[bytes], requests: list[messages.Message]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    process.stdin.flush()


def _await(process: subprocess.Popen[bytes], name: str) -> None:
    """Waits until the server has read everything that was sent."""
    _send(process, [{"jsonrpc": "2.0", "id": name, "method": "ping"}])
    assert process.stdout is not None
    for line in process.stdout:
        if name in line.decode():
            return
    raise BenchError("The server ended before it answered a ping.")


def _memory(context: Context, requests: str) -> dict[str, Any]:
    return batch(context, Side("ours", context.ours(context.path("cache")), requests, log=context.log), 1)
