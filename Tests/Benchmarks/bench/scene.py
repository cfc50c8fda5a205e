"""The entries that the hit benchmarks ask for, and a check that they really are hits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import messages, pictures
from .context import Context
from .table import Row

BASE = "http://127.0.0.1:8080/bench/pictures"


@dataclass
class Scene:
    """A cache folder, and a setup file that stores ``keys`` in it and retrieves each once, so that all are in memory."""

    keys: list[str]
    cache: Path
    setup: str


def warm(context: Context, count: int) -> Scene:
    """``count`` entries of 20,000 bytes in a fresh cache, to be stored and warmed by the setup of a side."""
    keys = [f"{BASE}/{number:05d}.jpg" for number in range(count)]
    setup = [
        *messages.stores(keys, pictures.make(context, count)),
        *messages.calls("retrieve", ({"url": key} for key in keys), 950_001),
    ]
    return Scene(keys, context.path("cache"), messages.write(context, "setup", setup))


def sample(context: Context, scene: Scene, method: str, params: dict[str, Any]) -> str:
    """The reply our server gives once the scene is set: its length is what the echo must write."""
    lines = Path(scene.setup).read_text(encoding="utf-8").splitlines()
    request = messages.calls(method, [params])[0]
    reply = messages.ask(context, context.path("cache"), [*map(json.loads, lines), request])[-1]
    return json.dumps(reply, separators=(",", ":"), ensure_ascii=False)


def check_hit(row: Row, reply: Any, wanted: str) -> Row:
    """Marks the row when ``reply`` (the text of one) did not come from ``wanted``, ``memory`` or ``disk``."""
    result = json.loads(reply).get("result") if isinstance(reply, str) else None
    found = result.get("cacheType", "nowhere it says") if isinstance(result, dict) else "nowhere it says"
    return row if found == wanted else row.doubt(f"the answers came from {found}, not from {wanted}")
