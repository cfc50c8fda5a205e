"""T5: from starting the process to its first answer."""

from __future__ import annotations

import json
import statistics
from typing import Any

from . import filled, messages, scene
from .context import Context
from .driver import Side, echo, measure
from .table import Limit, Row, compare, missing


def run(context: Context) -> list[Row]:
    """Start on an empty cache against other programs' start, and on a large index against our own on an empty one."""
    entries = context.scaled(1_000_000)
    ping = messages.write(context, "ping", messages.calls("ping", [None]))
    large = filled.make(context, entries, filled.FILES)
    question = messages.calls("isCached", [{"key": large.keys[0]}])
    lookup = messages.write(context, "isCached", question)
    empty = context.path("cache")
    # A million entries of 20,000 bytes are over the default limit of the disk cache, and eviction is not what is measured.
    roomy = ["--disk-limit", str(1 << 40)]
    sides = [
        Side("ours", context.ours(empty), ping, log=context.log),
        Side("ours, looking up", context.ours(empty, *roomy), lookup, log=context.log),
        Side("ours, filled", context.ours(large.folder, *roomy), lookup, log=context.log),
        Side("echo", echo(context), ping),
    ]
    commands = {"/usr/bin/python3 -c pass": ["/usr/bin/python3", "-c", "pass"], 'node -e ""': ["node", "-e", ""]}
    present = {name: argv for name, argv in commands.items() if context.program(argv[0])}
    sides += [Side(name, argv) for name, argv in present.items()]
    results = measure(context, "starts", sides, count=context.starts)

    def milliseconds(result: dict[str, Any]) -> list[float]:
        return [nanoseconds / 1e6 for nanoseconds in result["rounds"]]

    by_name = {result["name"]: milliseconds(result) for result in results}
    ours = by_name["ours"]
    work = "start to first answer, empty"
    rows: list[Row] = []
    for name in commands:
        limit = Limit("≤", 0.4) if "python3" in name else None
        if name in present:
            rows.append(compare("T5", work, ours, name, by_name[name], "ms", limit))
        else:
            rows.append(missing("T5", f"{work}, v. {name}", f"{commands[name][0]} is not installed", str(limit or "")))
    rows.append(compare("T5", work, ours, "C echo", by_name["echo"], "ms"))

    row = compare(
        "T5",
        f"start to first isCached, {entries:,} entries",
        by_name["ours, filled"],
        "ours, empty",
        by_name["ours, looking up"],
        "ms",
        target="≤ +3 ms",
    )
    row.met = statistics.median(by_name["ours, filled"]) - statistics.median(by_name["ours, looking up"]) <= 3
    left = large.rows()
    if left != entries:
        row.doubt(f"the index went from {entries:,} rows to {left:,} while it was measured")
    reply = messages.ask(context, large.folder, question, *roomy)[0]
    context.discard(large.folder)
    return [*rows, scene.check_hit(row, json.dumps(reply), "disk")]
