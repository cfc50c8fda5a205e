"""What a fixture is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Fixture:
    """One file: its path inside the folder, how its bytes are made, its note, and whether it is a whole picture."""

    file: str
    note: str
    draw: Callable[[], bytes]
    valid: bool = True
