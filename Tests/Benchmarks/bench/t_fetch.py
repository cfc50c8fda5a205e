"""T10 and T11: fetching pictures from a web server on the loopback, many small and a few large ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from . import messages, nginx, pictures
from .context import BenchError, Context
from .driver import Side, batch
from .table import Limit, Row, absolute, compare, missing

_FETCHERS = Path(__file__).resolve().parent / "fetchers"
_FLAG = "--max-downloads-per-host"
_CURL = "curl --parallel"
_FLOOR = "the libraries alone"


@dataclass
class Work:
    """What is fetched, and what is asked of us."""

    test: str
    title: str
    urls: list[str]
    bytes: int
    unit: str
    limits: dict[str, Limit]
    peak: Limit | None = None
    processor: Limit | None = None

    def rate(self, seconds: float) -> float:
        """Pictures or megabytes a second."""
        return self.megabytes(seconds) if self.unit == "MB/s" else self.pictures(seconds)

    def pictures(self, seconds: float) -> float:
        """Pictures a second."""
        return len(self.urls) / seconds

    def megabytes(self, seconds: float) -> float:
        """Megabytes a second."""
        return len(self.urls) * self.bytes / 1e6 / seconds


@dataclass
class Figures:
    """One run: its seconds, its processor seconds, its peak of memory in MiB."""

    seconds: float
    cpu: float
    peak: float


Fetch = Callable[[int], Figures]


def small(context: Context) -> list[Row]:
    """T10: 2,000 × 20 KB over 4, 16 and 64 connections, in pictures a second, against curl and the usual libraries."""
    count = context.scaled(2000)
    limits = {_CURL: Limit("≥", 0.7), "aiohttp": Limit("≥", 1.2)}
    if not nginx.can_serve(context):
        return [missing("T10", f"fetch {count:,} × 20 KB", "nginx is not installed", "≥ 0.7 and ≥ 1.2")]
    folder = pictures.make(context, count)[0].parent
    with nginx.serving(context, folder) as base:
        urls = [f"{base}/{number:05d}.jpg" for number in range(count)]
        work = Work("T10", f"fetch {count:,} × 20 KB", urls, pictures.SIZE, "/s", limits)
        return _run(context, work, [_FLOOR, "aria2", "aiohttp", "httpx", "requests", "Node fetch"])


def large(context: Context) -> list[Row]:
    """T11: 20 × 20 MB over 4, 16 and 64 connections, in megabytes a second, and what memory that takes."""
    count = context.scaled(20)
    limit, peak, processor = Limit("≥", 0.9), Limit("≤", 40, " MiB"), Limit("≤", 1.3)
    if not nginx.can_serve(context):
        return [missing("T11", f"fetch {count:,} × 20 MB", "nginx is not installed", f"{limit} and {peak}")]
    folder = pictures.make_large(context, count)[0].parent
    with nginx.serving(context, folder) as base:
        urls = [f"{base}/{number:05d}.jpg" for number in range(count)]
        work = Work("T11", f"fetch {count:,} × 20 MB", urls, pictures.LARGE, "MB/s", {_CURL: limit}, peak, processor)
        return _run(context, work, ["aria2", "aiohttp", "httpx"])


def _run(context: Context, work: Work, others: Sequence[str]) -> list[Row]:
    programs = _programs(context, work, others)
    levels = (4,) if context.is_self_check else (4, 16, 64)
    return [row for connections in levels for row in _compare(context, work, programs, connections)]


def _compare(context: Context, work: Work, programs: dict[str, Fetch | str], connections: int) -> list[Row]:
    figures: dict[str, list[Figures]] = {name: [] for name, fetch in programs.items() if not isinstance(fetch, str)}
    for _ in range(context.rounds):
        for name, fetch in programs.items():
            if not isinstance(fetch, str):
                figures[name].append(fetch(connections))
    title = f"{work.title}, {connections} connections"
    ours = figures["ours"]
    rates = [work.rate(figure.seconds) for figure in ours]
    rows: list[Row] = []
    for name, fetch in programs.items():
        limit = work.limits.get(name)
        if isinstance(fetch, str):
            rows.append(missing(work.test, f"{title}, v. {name}", fetch, str(limit or "")))
        elif name != "ours":
            theirs = [work.rate(figure.seconds) for figure in figures[name]]
            rows.append(compare(work.test, title, rates, name, theirs, work.unit, limit))
    return rows + _costs(work, title, ours, figures.get(_CURL))


def _costs(work: Work, title: str, ours: list[Figures], curl: list[Figures] | None) -> list[Row]:
    """The other unit of the rate, processor seconds and memory, beside curl if it is there."""
    other, unit = (work.pictures, "/s") if work.unit == "MB/s" else (work.megabytes, "MB/s")
    kinds: list[tuple[str, str, Callable[[Figures], float], Limit | None, Limit | None]] = [
        ("", unit, lambda figure: other(figure.seconds), None, None),
        (", processor time", "s", lambda figure: figure.cpu, work.processor, None),
        (", peak RSS", "MiB", lambda figure: figure.peak, None, work.peak),
    ]
    rows = []
    for name, unit, value, ratio, limit in kinds:
        mine = [value(figure) for figure in ours]
        if curl is None:
            rows.append(absolute(work.test, title + name, mine, unit, limit))
            continue
        row = compare(work.test, title + name, mine, _CURL, [value(figure) for figure in curl], unit, ratio)
        if limit is not None:
            row.target, row.met = str(limit), row.ours is not None and limit.holds(row.ours)
        rows.append(row)
    return rows


def _programs(context: Context, work: Work, others: Sequence[str]) -> dict[str, Fetch | str]:
    """What can fetch, by name: a function from the number of connections to figures, or why it cannot be run."""
    urls = work.urls
    requests = messages.write(context, "retrieve", messages.calls("retrieve", ({"url": url} for url in urls)))
    listing = context.path("urls.txt")
    listing.write_text("\n".join(urls) + "\n", encoding="utf-8")
    offered = context.offers(_FLAG)

    def ours(connections: int) -> Figures:
        cache = context.path("cache")
        flags = [_FLAG, str(connections), "--disk-limit", str(8 << 30)] if offered else []
        side = Side("ours", context.ours(cache, *flags), requests, log=context.log)
        figures = _figures(batch(context, side, 256))
        held = messages.ask(context, cache, messages.calls("calculateSize", [{}]))[0]["result"]["disk"]
        if held["count"] != len(urls) or held["byteCount"] != len(urls) * work.bytes:
            raise BenchError(f"{len(urls)} pictures were fetched, but the cache says it holds {held}.")
        context.discard(cache)
        return figures

    def curl(connections: int) -> Figures:
        folder = context.folder("curl")
        plan = context.path("curl.txt")
        lines = (f'url = "{url}"\noutput = "{folder / str(number)}"\n' for number, url in enumerate(urls))
        plan.write_text("".join(lines), encoding="utf-8")
        flags = ["-sS", "--no-progress-meter", "--fail", "--parallel", "--parallel-max", str(connections)]
        return _command(context, work, folder, ["curl", *flags, "-K", str(plan)])

    def aria2(connections: int) -> Figures:
        folder = context.folder("aria2")
        flags = ["-q", "--no-conf", "--file-allocation=none", "--summary-interval=0", "-x1", "-j", str(connections)]
        return _command(context, work, folder, ["aria2c", *flags, "-d", str(folder), "-i", str(listing)])

    def floor(connections: int) -> Figures:
        folder = context.path("floor")
        figures = _figures(
            batch(context, Side("bench-fetch", [context.tool("bench-fetch"), str(folder), str(listing), str(connections)]), 1)
        )
        _check("bench-fetch", folder / "blobs", work)
        context.discard(folder)
        return figures

    def reader(name: str, argv: list[str]) -> Fetch:
        def fetch(connections: int) -> Figures:
            result = batch(context, Side(name, [*argv, str(listing), str(connections)], log=context.log), 1)
            figures = _figures(result)
            figures.seconds = float(result["reply"])
            return figures

        return fetch

    def found(name: str) -> Fetch | str:
        if name == _FLOOR:
            return floor
        if name == "aria2":
            return aria2 if context.program("aria2c") else "aria2 is not installed"
        if name == "Node fetch":
            argv = ["node", str(_FETCHERS / "with_node.mjs")]
            return reader(name, argv) if context.program("node") else "node is not installed"
        if not context.has_module(name):
            return f"{name} is not installed"
        return reader(name, [sys.executable, str(_FETCHERS / f"with_{name}.py")])

    programs: dict[str, Fetch | str] = {"ours": ours}
    programs[_CURL] = curl if context.program("curl") else "curl is not installed"
    return programs | {name: found(name) for name in others}


def _command(context: Context, work: Work, folder: Path, argv: list[str]) -> Figures:
    """Runs a program that writes the pictures into ``folder``, and removes them."""
    figures = _figures(batch(context, Side(argv[0], argv, log=context.log), 1))
    _check(argv[0], folder, work)
    context.discard(folder)
    return figures


def _check(name: str, folder: Path, work: Work) -> None:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    if sizes != [work.bytes] * len(work.urls):
        raise BenchError(f"{name} left {len(sizes)} files of {sum(sizes):,} bytes in all.")


def _figures(result: dict[str, object]) -> Figures:
    after = result["after"]
    assert isinstance(after, dict)
    return Figures(float(str(result["sinceStart"])) / 1e9, float(str(result["cpu"])) / 1e9, after["peak"] / 1024)
