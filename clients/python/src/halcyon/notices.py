"""The notifications of the server: events, and reports about running calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from .decoding import plain_decoder


@dataclass(frozen=True)
class Event:
    """Something that happened and was subscribed to: its name and its params, as JSON gave them."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Progress:
    """One report about a running call.

    `kind` is "begin", "report" or "end". `percentage` is 0…100; it and `total_bytes` are None
    while the origin has not told the length.
    """

    kind: str = "report"
    title: Optional[str] = None
    message: Optional[str] = None
    percentage: Optional[float] = None
    received_bytes: Optional[int] = None
    total_bytes: Optional[int] = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


progress_from_wire = plain_decoder(Progress)


def event_from_wire(message: Any) -> Optional[Event]:
    """The event that a notification tells of; None for none."""
    if message is None:
        return None
    params = message.get("params")
    return Event(message["method"], params if isinstance(params, dict) else {})
