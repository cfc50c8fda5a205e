"""T4: 64 requests in flight."""

from __future__ import annotations

from typing import Any

from . import messages, scene
from .context import Context
from .driver import Side, echo, measure
from .table import Limit, Row, compare

WINDOW = 64


def run(context: Context) -> list[Row]:
    """Pings, hits on one key and hits on 64 keys, in thousands of messages a second against the C echo."""
    count = context.scaled(200_000)

    def rates(result: dict[str, Any]) -> list[float]:
        return [count / nanoseconds * 1e6 for nanoseconds in result["rounds"]]

    pings = messages.write(context, "ping", messages.calls("ping", [None] * 4096))
    sides = [
        Side("ours", context.ours(context.path("cache")), pings, log=context.log),
        Side("echo", echo(context), pings),
    ]
    ours, yardstick = measure(context, "floods", sides, count=count, window=WINDOW, warmup=count // 10)
    rows = [compare("T4", f"{WINDOW} pings in flight", rates(ours), "C echo", rates(yardstick), "k/s", Limit("≥", 0.95))]
    for keys in (1, 64):
        warm = scene.warm(context, keys)
        requests = messages.write(
            context, "retrieve", messages.repeated("retrieve", [{"url": key} for key in warm.keys], 4096)
        )
        reply = scene.sample(context, warm, "retrieve", {"url": warm.keys[0]})
        sides = [
            Side("ours", context.ours(warm.cache), requests, warm.setup, log=context.log),
            Side("echo", echo(context, "--reply-bytes", str(len(reply.encode()))), requests),
            Side("short echo", echo(context), pings),
        ]
        ours, same, short = measure(context, "floods", sides, count=count, window=WINDOW, warmup=count // 10)
        work = f"{WINDOW} hits in flight, {keys} key{'s' if keys > 1 else ''}"
        row = compare("T4", work, rates(ours), "C echo, same length", rates(same), "k/s", Limit("≥", 1))
        rows.append(scene.check_hit(row, ours["reply"], "memory"))
        rows.append(compare("T4", work, rates(ours), "C echo, ping", rates(short), "k/s"))
    return rows
