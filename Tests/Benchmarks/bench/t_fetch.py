"""T10: fetching many small pictures from a web server on the loopback."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

from . import messages, nginx, pictures
from .context import BenchError, Context
from .driver import Side, batch
from .table import Limit, Row, compare, missing

_FETCHERS = Path(__file__).resolve().parent / "fetchers"
_FLAG = "--max-downloads-per-host"
Fetch = Callable[[int], float]


def run(context: Context) -> list[Row]:
    """2,000 × 20 KB over 4, 16 and 64 connections, in pictures a second, against curl and the usual libraries."""
    count = context.scaled(2000)
    if nginx.path() is None:
        return [missing("T10", f"fetch {count:,} × 20 KB", "nginx is not installed", "≥ 0.6 and ≥ 2")]
    folder = pictures.make(context, count)[0].parent
    rows: list[Row] = []
    with nginx.serving(context, folder) as base:
        urls = [f"{base}/{number:05d}.jpg" for number in range(count)]
        programs = _programs(context, urls)
        for connections in (4, 16, 64):
            rows += _compare(context, programs, connections, count)
    return rows


def _compare(context: Context, programs: dict[str, Fetch | str], connections: int, count: int) -> list[Row]:
    rates: dict[str, list[float]] = {name: [] for name, fetch in programs.items() if not isinstance(fetch, str)}
    for _ in range(context.rounds):
        for name, fetch in programs.items():
            if not isinstance(fetch, str):
                rates[name].append(count / fetch(connections))
    limits = {"curl --parallel": Limit("≥", 0.6), "aiohttp": Limit("≥", 2)}
    work = f"fetch {count:,} × 20 KB, {connections} connections"
    rows: list[Row] = []
    for name, fetch in programs.items():
        if isinstance(fetch, str):
            rows.append(missing("T10", f"{work}, v. {name}", fetch, str(limits.get(name, ""))))
        elif name != "ours":
            rows.append(compare("T10", work, rates["ours"], name, rates[name], "/s", limits.get(name)))
    return rows


def _programs(context: Context, urls: list[str]) -> dict[str, Fetch | str]:
    """What can fetch, by name: a function from the number of connections to seconds, or why it cannot be run."""
    requests = messages.write(context, "retrieve", messages.calls("retrieve", ({"url": url} for url in urls)))
    listing = context.path("urls.txt")
    listing.write_text("\n".join(urls) + "\n", encoding="utf-8")
    offered = context.offers(_FLAG)

    def ours(connections: int) -> float:
        cache = context.path("cache")
        flags = [_FLAG, str(connections)] if offered else []
        side = Side("ours", context.ours(cache, *flags), requests, log=context.log)
        result = batch(context, side, 256)
        held = messages.ask(context, cache, messages.calls("calculateSize", [{}]))[0]["result"]["disk"]["count"]
        if held != len(urls):
            raise BenchError(f"{len(urls)} pictures were fetched, but the cache says it holds {held}.")
        context.discard(cache)
        return float(result["sinceStart"]) / 1e9

    def curl(connections: int) -> float:
        folder = context.folder("curl")
        plan = context.path("curl.txt")
        lines = (f'url = "{url}"\noutput = "{folder / str(number)}"\n' for number, url in enumerate(urls))
        plan.write_text("".join(lines), encoding="utf-8")
        argv = [
            "curl",
            "-sS",
            "--no-progress-meter",
            "--fail",
            "--parallel",
            "--parallel-max",
            str(connections),
            "-K",
            str(plan),
        ]
        begin = time.perf_counter()
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        taken = time.perf_counter() - begin
        context.discard(folder)
        return taken

    def program(*argv: str) -> Fetch:
        def fetch(connections: int) -> float:
            command = [*argv, str(listing), str(connections)]
            return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        return fetch

    def library(name: str) -> Fetch | str:
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed"
        return program(sys.executable, str(_FETCHERS / f"with_{name}.py"))

    node = program("node", str(_FETCHERS / "with_node.mjs")) if shutil.which("node") else "node is not installed"
    return {
        "ours": ours,
        "curl --parallel": curl if shutil.which("curl") else "curl is not installed",
        "aiohttp": library("aiohttp"),
        "requests": library("requests"),
        "Node fetch": node,
    }
