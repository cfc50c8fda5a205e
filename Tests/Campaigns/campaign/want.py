"""Too few descriptors, from the start on: the server says so and ends, or answers every request and ends with its input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

from .nobody import Skipped
from .pictures import picture
from .report import Report
from .server import binary, cached, store
from .web import Web


def want(home: str, report: Report, short: bool) -> None:
    """Every limit from nearly none to enough."""
    if not shutil.which("prlimit"):
        raise Skipped("there is no prlimit")
    web = Web(20_000)
    try:
        for limit in (8, 11, 13, 14, 16, 20, 25, 30, 32, 40) if short else range(6, 41):
            _one(os.path.join(home, str(limit)), limit, web, report)
            report.count("limits of descriptors")
    finally:
        web.close()


def _one(place: str, limit: int, web: Web, report: Report) -> None:
    os.mkdir(place)

    def breach(text: str) -> None:
        report.breach("want", f"{limit} descriptors: {text}")

    asked = [("store", store(f"key-{number}", picture(f"key-{number}", 1, 3000))) for number in range(6)]
    asked += [("retrieve", {"url": f"{web.base}/{limit}-{number}", "as": ("data", "path")[number % 2]}) for number in range(8)]
    asked += [("retrieve", cached("key-1")), ("isCached", {"key": "key-2"}), ("calculateSize", {}), ("list", {})]
    asked += [("retrieve", {"url": f"{web.base}/{limit}-0", "processors": [{"name": "resize", "width": 2}]})]
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(asked)
    )
    process = subprocess.Popen(
        ["prlimit", f"--nofile={limit}", binary(), "--cache-dir", os.path.join(place, "cache")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no"},
    )
    try:
        output, errors = process.communicate(lines, timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        answered = {json.loads(line).get("id") for line in output.splitlines()}
        left = [asked[number] for number in range(len(asked)) if number not in answered]
        breach(f"did not end 20 s after its input; left: {[(method, str(params)[:100]) for method, params in left]}")
        return
    replies = [json.loads(line) for line in output.splitlines()]
    if process.returncode == 1 and not replies:
        if "ulimit -n" not in errors:
            breach(f"ended without saying what is wanted: {errors[-300:]!r}")
        elif limit > 35:
            breach("did not start")
        return
    if process.returncode != 0:
        breach(f"ended with {process.returncode}: {errors[-300:]!r}")
    if sorted(reply["id"] for reply in replies if "id" in reply) != list(range(len(asked))):
        breach(f"{len(replies)} answers to {len(asked)} requests")
    found = {reply["id"]: reply for reply in replies if "id" in reply}
    for number, reply in found.items():
        method, params = asked[number]
        stored = [at for at, (one, what) in enumerate(asked) if one == "store" and what["key"] == params.get("key")]
        if method == "store" or not stored or "result" not in found.get(stored[0], {}):
            continue
        error = reply.get("error")
        if error and error["data"].get("name") == "notCached" or reply.get("result", {}).get("cached") is False:
            breach(f"{params['key']} is said not to be there: {reply}")
