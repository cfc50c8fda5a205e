"""JSON-RPC messages, written to files for the load driver or sent straight to a server."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from .context import BenchError, Context

Message = Mapping[str, Any]


def calls(method: str, params: Iterable[Mapping[str, Any] | None], start: int = 1) -> list[Message]:
    """One request per element of ``params`` (``None`` leaves them out), with ids that count up from ``start``."""
    numbers = itertools.count(start)
    messages: list[Message] = []
    for values in params:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": next(numbers), "method": method}
        if values is not None:
            message["params"] = values
        messages.append(message)
    return messages


def repeated(method: str, params: Sequence[Mapping[str, Any] | None], count: int) -> list[Message]:
    """``count`` requests with distinct ids that go through ``params`` in turn."""
    return calls(method, itertools.islice(itertools.cycle(params), count))


def stores(keys: Sequence[str], pictures: Sequence[Path]) -> list[Message]:
    """One ``store`` by path for each key, taking the pictures in turn."""
    return calls(
        "store", ({"key": key, "path": str(path)} for key, path in zip(keys, itertools.cycle(pictures))), 900_001
    )


def write(context: Context, name: str, messages: Iterable[Message]) -> str:
    """Writes one message a line to a new file and returns its path."""
    path = context.path(name + ".ndjson")
    with path.open("w", encoding="utf-8") as file:
        for message in messages:
            file.write(json.dumps(message, separators=(",", ":")) + "\n")
    return str(path)


def ask(context: Context, cache: Path, messages: Sequence[Message], *flags: str) -> list[dict[str, Any]]:
    """Pipes ``messages`` through a fresh server and returns the replies in the order of the requests."""
    text = "".join(json.dumps(message) + "\n" for message in messages)
    with context.log.open("ab") as log:
        done = subprocess.run(
            context.ours(cache, *flags),
            input=text.encode(),
            stdout=subprocess.PIPE,
            stderr=log,
            timeout=300,
            check=False,
        )
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    missing = [message for message in messages if message["id"] not in replies]
    if done.returncode != 0 or missing:
        raise BenchError(
            f"The server left {len(missing)} requests unanswered and ended with {done.returncode}: see its log."
        )
    for reply in replies.values():
        if "error" in reply:
            raise BenchError(f"The server answered with an error: {reply['error']}")
    return [replies[message["id"]] for message in messages]
