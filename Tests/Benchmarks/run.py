#!/usr/bin/env python3
"""Measures the server beside its yardsticks and prints a table: ours, yardstick, ratio, target, met or not.

    python3 Tests/Benchmarks/run.py [--only T1,T4] [--rounds 7] [--quick | --self-check] [--json FILE] [--markdown FILE]
    python3 Tests/Benchmarks/run.py --profile T10

The README beside this file explains every row.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "Support")]

from bench import build, profile, self_check, t_client, t_fetch, t_images, t_latency, t_memory, t_merge, t_rates, t_remote, t_scale, t_start, t_store, t_throughput  # noqa: E402
from bench.context import BenchError, Context, file_system, progress  # noqa: E402
from bench.table import Row, markdown, missing, render  # noqa: E402

BENCHMARKS: dict[str, Callable[[Context], list[Row]]] = {
    "T1": t_latency.ping,
    "T2": t_latency.memory_hits,
    "T3": t_latency.first_hits,
    "T4": t_throughput.run,
    "T5": t_start.run,
    "T6": t_memory.run,
    "T7": t_store.run,
    "T8": t_client.run,
    "T9": t_scale.run,
    "T9R": t_rates.run,
    "A18": t_scale.crowded_stores,
    "T10": t_fetch.small,
    "T11": t_fetch.large,
    "T12": t_merge.run,
    "T13": t_images.baseline,
    "T14": t_images.others,
    "T16": t_remote.run,
}


def main() -> int:
    """Runs what was asked for; 0 when everything could be run (and, with ``--check``, every target was met)."""
    options = _options()
    every = self_check.benchmarks(BENCHMARKS) if options.self_check else list(BENCHMARKS)
    names = _names(options.only) if options.only else every
    profiled = _names(options.profile) if options.profile else []
    for kind, asked, known in (("benchmark", names, BENCHMARKS), ("profile", profiled, profile.PROFILES)):
        unknown = [name for name in asked if name not in known]
        if unknown:
            print(f"There is no {kind} {', '.join(unknown)}; there are {', '.join(known)}.", file=sys.stderr)
            return 2
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384) if hard > 0 else 16_384), hard))
    try:
        binary, tools = build.find_binary(), build.build_tools()
        if {"T13", "T14"} & set(names):
            build.find_codec()  # before the environment, which may name it, is cleaned
    except (BenchError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    try:
        work = Path(tempfile.mkdtemp(prefix="bench-", dir=_scratch(options.dir)))
    except OSError as error:
        print(f"There is no place for caches: {error}", file=sys.stderr)
        return 1
    try:
        disk = _disk_scratch(options.disk_dir, work)
    except OSError as error:
        work.rmdir()
        print(f"There is no place for caches on a disk: {error}", file=sys.stderr)
        return 1
    context = Context(
        build.ROOT,
        binary,
        tools,
        Path(options.client).resolve(),
        work,
        1 if options.self_check else options.rounds,
        1000 if options.self_check else 10 if options.quick else 1,
        options.self_check,
        not options.no_pin,
        Path(options.work).resolve() if options.work else None,
        disk,
    )
    if context.kept:
        context.kept.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the scratch folder and nginx go
    _clean_environment(work)
    if profiled:
        try:
            return 0 if profile.print_profiles(context, profiled) else 1
        finally:
            shutil.rmtree(work, ignore_errors=True)
    rows: list[Row] = []
    failed = False
    begin = time.monotonic()
    header = _machine(context)
    try:
        for name in names:
            progress(f"{name} …")
            try:
                rows += BENCHMARKS[name](context)
            except Exception as error:  # one benchmark that cannot be run must not hide the others
                failed = True
                kind = "" if isinstance(error, BenchError) else f"{type(error).__name__}: "
                rows.append(missing(name, "could not be run", f"{kind}{error}"))
            _write(options, header, rows)  # after each, so that a run that is cut keeps what it measured
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if disk:
            shutil.rmtree(disk, ignore_errors=True)
    if options.self_check:
        faults = self_check.faults(names, rows)
        for sentence in faults:
            print(sentence, file=sys.stderr)
        print(f"{len(names)} benchmarks, {len(faults)} faults, in {time.monotonic() - begin:.0f} s")
        return 1 if faults else 0
    print(", ".join(f"{key} {value}" for key, value in header.items()))
    print(render(rows))
    judged = [row for row in rows if row.met is not None]
    unmeasured = sum(bool(row.target) and row.met is None for row in rows)
    print(
        f"{sum(bool(row.met) for row in judged)} of {len(judged)} targets met, {unmeasured} not measured,"
        f" in {time.monotonic() - begin:.0f} s"
    )
    missed = any(not row.met for row in judged) or unmeasured > 0
    return 1 if failed or (options.check and missed) else 0


def _write(options: argparse.Namespace, header: dict[str, str], rows: list[Row]) -> None:
    """Writes the files that ``--json`` and ``--markdown`` name."""
    if options.json:
        document = {"machine": header, "rows": [row.as_json() for row in rows]}
        Path(options.json).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(markdown(rows), encoding="utf-8")


def _names(text: str) -> list[str]:
    return [name.strip().upper() for name in text.split(",")]


def _clean_environment(work: Path) -> None:
    """Nothing from outside may change what is measured: no settings of the server's, no configuration file, no proxy."""
    for name in list(os.environ):
        if name.startswith("HALCYON_") or name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
            del os.environ[name]
    os.environ["XDG_CONFIG_HOME"] = str(work)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", metavar="T1,T4", help=f"which benchmarks to run, of {', '.join(BENCHMARKS)}")
    parser.add_argument(
        "--rounds", type=int, default=7, help="how often each side is measured; five or more count (default 7)"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, to see that everything runs")
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="run everything but T11 and A18 once with a thousandth of the work, without other programs; say only what is broken",
    )
    parser.add_argument(
        "--profile",
        metavar="T10",
        help=f"count instructions with valgrind instead, of {', '.join(profile.PROFILES)}: by library, stage and function",
    )
    parser.add_argument("--json", metavar="FILE", help="write the rows, with every round, to FILE, again after each benchmark")
    parser.add_argument("--markdown", metavar="FILE", help="write what was measured to FILE as a table in Markdown, again after each benchmark")
    parser.add_argument(
        "--dir", metavar="DIR", help="where caches are made (default: /dev/shm when it has room, else TMPDIR)"
    )
    parser.add_argument(
        "--disk-dir",
        metavar="DIR",
        help="where caches are made that must reach a disk (default: that of --dir unless it is a tmpfs, else TMPDIR)",
    )
    parser.add_argument(
        "--work",
        metavar="DIR",
        help="keep the caches of up to a million entries in DIR for the next run (default: made anew)",
    )
    parser.add_argument(
        "--client",
        metavar="DIR",
        default=str(build.ROOT / "clients" / "python" / "src"),
        help="where the Python client is",
    )
    parser.add_argument("--no-pin", action="store_true", help="let the system choose processors in the one-at-a-time rows")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target was missed or not measured")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return options


def _scratch(asked: str | None) -> str:
    """A tmpfs with 2 GiB to spare where there is one: files on disk get slower as others are deleted."""
    if asked:
        Path(asked).mkdir(parents=True, exist_ok=True)
        return str(Path(asked).resolve())
    memory = Path("/dev/shm")
    if file_system(memory) == "tmpfs" and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30:
        return str(memory)
    return tempfile.gettempdir()


def _disk_scratch(asked: str | None, work: Path) -> Path | None:
    """Where files reach a disk; ``None`` where there is no disk, or the other scratch folder is on one."""
    place = Path(asked or tempfile.gettempdir())
    if asked:
        place.mkdir(parents=True, exist_ok=True)
    elif file_system(work) != "tmpfs" or file_system(place) == "tmpfs":
        return None
    return Path(tempfile.mkdtemp(prefix="bench-", dir=place.resolve()))


def _machine(context: Context) -> dict[str, str]:
    command = [str(context.binary), "--version"]
    try:
        version = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=10
        ).stdout.strip()
    except subprocess.TimeoutExpired:
        version = ""
    return {
        "server": version.split("\n")[0] or context.binary.name,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": str(len(os.sched_getaffinity(0))),
        "load": f"{os.getloadavg()[0]:.2f}",
        "caches on": file_system(context.work),
        "rounds": f"{context.rounds}{' (quick)' if context.divisor > 1 else ''}",
    }


if __name__ == "__main__":
    sys.exit(main())
