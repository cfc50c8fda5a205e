"""``run.py --profile``: where the instructions of a request go, counted by callgrind. Counts do not depend on the machine's load."""

from __future__ import annotations

import collections
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable, Iterator, Sequence

from . import callgrind, messages, nginx, pictures, scene
from .context import BenchError, Context, progress

#: The requests of the shorter run, which is taken off, and of the longer one.
FEW, MANY = 200, 1000
_WINDOW = 64
_FLAGS = ("--max-downloads-per-host", "16")


def hits(context: Context) -> Iterator[Sequence[messages.Message]]:
    """T2: a retrieve that memory answers."""
    files = pictures.make(context, 64)
    urls = [f"{scene.BASE}/{number:05d}.jpg" for number in range(64)]
    first = [*messages.stores(urls, files), *messages.calls("retrieve", ({"url": url} for url in urls), 800_001)]
    for count in (FEW, MANY):
        yield [*first, *messages.repeated("retrieve", [{"url": url} for url in urls], count)]


def stores(context: Context) -> Iterator[Sequence[messages.Message]]:
    """T7: a store of 20,000 bytes from a path."""
    files = pictures.make(context, MANY)
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(MANY)]
    for count in (FEW, MANY):
        yield messages.stores(keys[:count], files)


def downloads(context: Context) -> Iterator[Sequence[messages.Message]]:
    """T10: a download of 20,000 bytes over 16 connections."""
    if not nginx.can_serve(context):
        raise BenchError("nginx is not installed.")
    folder = pictures.make(context, MANY)[0].parent
    with nginx.serving(context, folder) as base:
        urls = [{"url": f"{base}/{number:05d}.jpg"} for number in range(MANY)]
        for count in (FEW, MANY):
            yield messages.calls("retrieve", urls[:count])


PROFILES: dict[str, Callable[[Context], Iterator[Sequence[messages.Message]]]] = {
    "T2": hits,
    "T7": stores,
    "T10": downloads,
}


def run(context: Context, name: str) -> str:
    """The profile of one benchmark as text."""
    if shutil.which("valgrind") is None:
        raise BenchError("valgrind is not installed; it counts the instructions.")
    profile = PROFILES[name]
    program = _without_debug_information(context)
    less, more = (_count(context, program, requests) for requests in profile(context))
    each = more.beyond(less, MANY - FEW)
    title = (profile.__doc__ or "").rstrip(".")
    return "\n".join([f"{title}: {each.total:,.0f} instructions", "", *_libraries(each, program), "", *_functions(each)])


def _without_debug_information(context: Context) -> Path:
    """A copy of the server that valgrind can read: it knows little of Swift's debug information."""
    program = context.path("halcyon")
    shutil.copy(context.binary, program)
    subprocess.run(["strip", "-g", str(program)], check=True)
    return program


def _count(context: Context, program: Path, requests: Sequence[messages.Message]) -> callgrind.Counts:
    """Sends requests, a window of them at a time, to a server that callgrind runs."""
    cache, out = context.path("cache"), context.path("callgrind")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)]
    command += [*context.ours(cache)[1:], *_FLAGS]
    with context.log.open("ab") as log, subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
    ) as server:
        assert server.stdin and server.stdout
        answered = 0
        for number, request in enumerate(requests):
            server.stdin.write(json.dumps(request).encode() + b"\n")
            if number - answered >= _WINDOW:
                server.stdin.flush()
                _check(server.stdout.readline())
                answered += 1
        server.stdin.flush()
        for _ in range(len(requests) - answered):
            _check(server.stdout.readline())
        server.stdin.close()
    context.discard(cache)
    return callgrind.read(out)


def _check(answer: bytes) -> None:
    if b'"result"' not in answer:
        raise BenchError(f"A request was answered with {answer[:300].decode(errors='replace') or 'nothing'}.")


def _libraries(each: callgrind.Counts, program: Path) -> list[str]:
    """Instructions by the file that they are in, and the calls that Swift's references and memory cost."""
    rows: collections.Counter[str] = collections.Counter()
    for library, count in each.libraries.items():
        rows["the server" if library == program.name else re.sub(r"\.so.*", "", library)] += count
    lines = [f"{count:12,.0f}  {name}" for name, count in rows.most_common() if count >= each.total / 500]
    names = {"malloc": ["malloc"], "retains": ["swift_retain", "swift_bridgeObjectRetain"]}
    names["releases"] = ["swift_release", "swift_bridgeObjectRelease"]
    calls = ", ".join(f"{sum(each.calls[name] for name in group):,.0f} {kind}" for kind, group in names.items())
    return [*lines, f"calls: {calls}"]


def _functions(each: callgrind.Counts) -> list[str]:
    """The stages of ``Sources/README.md`` that are there, then the functions that are dear themselves."""
    known = callgrind.readable(each.whole)
    lines = ["   with callees       calls  stage"]
    for stage, pattern in _stages():
        found = [name for name, text in known.items() if pattern.search(text) and each.calls[name] > 0.01]
        # The wrappers that the compiler makes of a function have its name too.
        best = max(found, key=lambda name: each.whole[name], default=None)
        if best and each.whole[best] >= 100:
            lines.append(f"{each.whole[best]:15,.0f} {each.calls[best]:11,.2f}  {stage}")
    lines += ["", "           self       calls  function"]
    for name, count in each.own.most_common(40):
        lines.append(f"{count:15,.0f} {each.calls[name]:11,.2f}  {known[name][:140]}")
    return lines


def _stages() -> list[tuple[str, re.Pattern[str]]]:
    """The functions of the ways in the map, in their order, each once."""
    text = (Path(__file__).resolve().parents[3] / "Sources" / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `(\w+\.\w+)` \| \w+/", text, re.MULTILINE)
    return [(name, _pattern(*name.split("."))) for name in dict.fromkeys(names)]


def _pattern(kind: str, function: str) -> re.Pattern[str]:
    """Finds a function in a name as Swift's tools write it, where private ones stand in parentheses."""
    return re.compile(rf"(?<!\w){kind}\.(\({function} in |{function}\b)")


def print_profiles(context: Context, names: Sequence[str]) -> bool:
    """Prints the profiles; ``False`` when one could not be made."""
    done = True
    for name in names:
        progress(f"{name} …")
        try:
            print(run(context, name), end="\n\n")
        except (BenchError, OSError, subprocess.CalledProcessError) as error:
            done = False
            print(f"{name} could not be profiled: {error}")
    return done
