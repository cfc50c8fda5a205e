"""Runs the load driver: a plan goes in as JSON, nanoseconds come out."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence

from .context import BenchError, Context


@dataclass
class Side:
    """One of the programs compared. Without ``requests`` it is a command, run until it ends."""

    name: str
    argv: Sequence[str]
    requests: str | None = None
    setup: str | None = None
    framing: str = "lines"
    log: Path | None = None

    def plan(self) -> dict[str, Any]:
        """This side as the driver reads it."""
        return {
            "name": self.name,
            "argv": list(self.argv),
            "requests": self.requests,
            "setup": self.setup,
            "framing": self.framing,
            "log": None if self.log is None else str(self.log),
        }


def measure(context: Context, mode: str, sides: Sequence[Side], **numbers: Any) -> list[dict[str, Any]]:
    """Runs one plan and returns one result per side; ``mode`` and the numbers are described in bench-driver/main.c."""
    plan = {"rounds": context.rounds, **numbers, "mode": mode, "sides": [side.plan() for side in sides]}
    done = subprocess.run(
        [context.tool("bench-driver")], input=json.dumps(plan), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = context.log.read_text(errors="replace")[-500:] if context.log.exists() else ""
        raise BenchError(f"{done.stderr.strip()} {tail}".strip())
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def echo(context: Context, *flags: str) -> list[str]:
    """The command of the C echo."""
    return [context.tool("bench-echo"), *flags]


def batch(context: Context, side: Side, window: int, count: int = 0, pin: bool = False) -> dict[str, Any]:
    """One fresh server, its requests once (or ``count`` in turn) with ``window`` in flight."""
    return measure(context, "batches", [side], rounds=1, window=window, count=count, pin=pin)[0]
