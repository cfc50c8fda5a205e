"""T12: a thousand requests for one URL at once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Callable

from . import messages, nginx, pictures
from .context import Context
from .counting_server import CountingServer, counting
from .table import Row, missing

_REQUESTS_CACHE = """
import sys, requests_cache
from concurrent.futures import ThreadPoolExecutor
session = requests_cache.CachedSession(backend="memory")
with ThreadPoolExecutor(64) as pool:
    list(pool.map(lambda _: session.get(sys.argv[1], timeout=300).content, range(int(sys.argv[2]))))
"""
_AIOHTTP = """
import asyncio, sys, aiohttp
async def main():
    timeout = aiohttp.ClientTimeout(total=300)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        async def one():
            async with session.get(sys.argv[1]) as response:
                await response.read()
        await asyncio.gather(*(one() for _ in range(int(sys.argv[2]))))
asyncio.run(main())
"""


def run(context: Context) -> list[Row]:
    """Counts how many of the requests reach the upstream server: ours must let exactly one through."""
    callers = 50 if context.is_self_check else 1000
    body = pictures.make(context, 1)[0].read_bytes()
    with counting(body, patience=20) as server:
        answered, early = _ask_ours(context, server, callers)
        ours = server.hits
    note = ""
    if answered != callers:
        note = f"only {answered} of {callers} callers got a picture"
    elif early:
        note = "the server did not read on while the download waited"
    work = f"{callers:,} requests for one URL at once"
    first = Row("T12", work, float(ours), unit="downloads", target="exactly 1", met=ours == 1)
    rows = [first.doubt(note) if note else first]
    for name, yardstick in _yardsticks(context, body, callers).items():
        if isinstance(yardstick, str):
            rows.append(missing("T12", f"{work}, v. {name}", yardstick))
        else:
            rows.append(Row("T12", work, float(ours), float(yardstick()), name, "downloads"))
    return rows


def _ask_ours(context: Context, server: CountingServer, callers: int) -> tuple[int, bool]:
    """How many callers got a picture, and whether any got it before all requests were read.

    A `ping` follows the requests; its answer proves that all of them were read, and only then the upstream server
    answers.
    """
    url = f"{server.base}/picture.jpg"
    requests = [*messages.calls("retrieve", [{"url": url}] * callers), *messages.calls("ping", [None], callers + 1)]
    with context.log.open("ab") as log:
        process = subprocess.Popen(
            context.ours(context.path("cache")), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("".join(json.dumps(request) + "\n" for request in requests).encode())
    process.stdin.flush()
    answered, early, open_gate = 0, False, False
    for _ in requests:
        reply = json.loads(process.stdout.readline() or b"{}")
        if reply.get("id") == callers + 1:
            open_gate = True
            server.open()
        elif isinstance(reply.get("result"), dict) and reply["result"].get("path"):
            answered += 1
            early = early or not open_gate
    process.stdin.close()
    process.wait(timeout=60)
    process.stdout.close()
    return answered, early


def _yardsticks(context: Context, body: bytes, callers: int) -> dict[str, Callable[[], int] | str]:
    def hits(argv: list[str]) -> int:
        with counting(body, patience=0.5) as server:
            text = [part.replace("URL", f"{server.base}/picture.jpg") for part in argv]
            subprocess.run(text, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            return server.hits

    def through_nginx() -> int:
        with counting(body, patience=0.5) as server, nginx.locking_proxy(context, server.base) as base:
            argv = [*_curl(), *[f"{base}/picture.jpg"] * callers]
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            return server.hits

    def library(name: str, program: str) -> Callable[[], int] | str:
        if not context.has_module(name):
            return f"{name} is not installed"
        return lambda: hits([sys.executable, "-c", program, "URL", str(callers)])

    curl = context.program("curl") is not None
    lock: Callable[[], int] | str = through_nginx if curl and nginx.path(context) else "nginx or curl is not installed"
    return {
        "nginx proxy_cache_lock": lock,
        "requests-cache": library("requests_cache", _REQUESTS_CACHE),
        "aiohttp": library("aiohttp", _AIOHTTP),
        "curl --parallel": (lambda: hits([*_curl(), *["URL"] * callers])) if curl else "curl is not installed",
    }


def _curl() -> list[str]:
    """As many at once as curl allows; without URLs."""
    return ["curl", "-sS", "--no-progress-meter", "--parallel", "--parallel-immediate", "--parallel-max", "300"]
