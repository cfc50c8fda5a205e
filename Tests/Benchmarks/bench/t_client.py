"""T8: a hit through the Python client, and the reading of the file."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

from . import messages, pictures, scene
from .context import BenchError, Context
from .table import Limit, Row, compare, missing

Read = Callable[[str], bytes]
_WORK = "Python client: hit, open, read 20 KB"


def run(context: Context) -> list[Row]:
    """Microseconds to get 20,000 bytes by key: our client against diskcache, Redis and plain files."""
    if not (context.client / "halcyon").is_dir():
        return [missing("T8", _WORK, f"there is no Python client in {context.client}", "≤ 1 × redis-py")]
    files = pictures.make(context, 64)
    keys = [f"{scene.BASE}/{number:05d}.jpg" for number in range(len(files))]
    with contextlib.ExitStack() as stack:
        stack.enter_context(_one_processor(context.pin))
        address = stack.enter_context(_redis(context, keys, files))
        readers: dict[str, Read | str] = {
            "ours": stack.enter_context(_client(context, keys, files)),
            "diskcache": stack.enter_context(_diskcache(context, keys, files)),
            "Redis, bare socket": stack.enter_context(_bare_redis(address)),
            "Redis, redis-py": _redis_library(context, address),
            "plain file": _plain(keys, files),
        }
        rounds = _measure(context, keys, readers)
    limits = {"Redis, redis-py": Limit("≤", 1)}
    rows = []
    for name, reader in readers.items():
        if isinstance(reader, str):
            rows.append(missing("T8", f"{_WORK}, v. {name}", reader, str(limits.get(name, ""))))
        elif name != "ours":
            rows.append(compare("T8", _WORK, rounds["ours"], name, rounds[name], "µs", limits.get(name)))
    return rows


def _measure(context: Context, keys: list[str], readers: dict[str, Read | str]) -> dict[str, list[float]]:
    count = context.scaled(4000)
    rounds: dict[str, list[float]] = {}
    for number in range(context.rounds + 1):
        for name, read in readers.items():
            if isinstance(read, str):
                continue
            samples = []
            for call in range(count):
                key = keys[call % len(keys)]
                begin = time.perf_counter_ns()
                data = read(key)
                samples.append(time.perf_counter_ns() - begin)
                if len(data) != pictures.SIZE:
                    raise BenchError(f"{name} gave {len(data)} bytes for {key} instead of {pictures.SIZE}.")
            if number > 0:  # the first round warms up
                rounds.setdefault(name, []).append(statistics.median(samples) / 1000)
    return rounds


@contextlib.contextmanager
def _one_processor(pin: bool) -> Iterator[None]:
    """Keeps this process and those it starts on one processor, where the latency of a pipe is steady."""
    before = os.sched_getaffinity(0)
    if pin:
        os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()


def _plain(keys: list[str], files: list[Path]) -> Read:
    paths = {key: str(file) for key, file in zip(keys, files)}
    return lambda key: _read(paths[key])


@contextlib.contextmanager
def _client(context: Context, keys: list[str], files: list[Path]) -> Iterator[Read]:
    cache = context.path("cache")
    messages.ask(context, cache, messages.stores(keys, files))
    sys.path.insert(0, str(context.client))
    try:
        halcyon: Any = importlib.import_module("halcyon")
    finally:
        sys.path.remove(str(context.client))
    client = halcyon.Client(binary=str(context.binary), cache_dir=str(cache))
    with contextlib.closing(client):
        yield lambda key: _read(client.retrieve(key).path)


@contextlib.contextmanager
def _diskcache(context: Context, keys: list[str], files: list[Path]) -> Iterator[Read | str]:
    if not context.has_module("diskcache"):
        yield "diskcache is not installed"
        return
    diskcache: Any = importlib.import_module("diskcache")
    with diskcache.Cache(str(context.path("diskcache"))) as cache:
        for key, file in zip(keys, files):
            cache.set(key, file.read_bytes())
        yield cache.get


@contextlib.contextmanager
def _redis(context: Context, keys: list[str], files: list[Path]) -> Iterator[str | None]:
    """A Redis server that holds the pictures; yields the path of its socket, or ``None`` when it is not installed."""
    program = context.program("redis-server")
    if program is None:
        yield None
        return
    folder = context.folder("redis")
    address = str(folder / "socket")
    settings = ["--port", "0", "--unixsocket", address, "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen(
        [program, *settings],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _fill_redis(address, keys, files)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def _fill_redis(address: str, keys: list[str], files: list[Path]) -> None:
    for _ in range(500):
        if os.path.exists(address):
            break
        time.sleep(0.02)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        for key, file in zip(keys, files):
            data = file.read_bytes()
            head = f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(data)}\r\n".encode()
            connection.sendall(head + data + b"\r\n")
            if connection.recv(64) != b"+OK\r\n":
                raise BenchError("Redis did not store a picture.")


@contextlib.contextmanager
def _bare_redis(address: str | None) -> Iterator[Read | str]:
    """The least a Redis client can do: one write, reads until the value is whole, one slice."""
    if address is None:
        yield "redis-server is not installed"
        return
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)

        def get(key: str) -> bytes:
            connection.sendall(b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key.encode()))
            data = connection.recv(65536)
            end = data.index(b"\r\n")
            whole = end + 2 + int(data[1:end]) + 2
            while len(data) < whole:
                data += connection.recv(65536)
            return data[end + 2 : -2]

        yield get


def _redis_library(context: Context, address: str | None) -> Read | str:
    if address is None or not context.has_module("redis"):
        return "redis-server or the Python library redis is not installed"
    redis: Any = importlib.import_module("redis")
    get: Read = redis.Redis(unix_socket_path=address).get
    return get
