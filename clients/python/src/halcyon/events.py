"""What comes with each event.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict

__all__ = [
    "ActivityChanged",
    "CacheCleaned",
    "DownloadFinished",
    "DownloadTimings",
    "EventName",
    "ImageChanged",
    "LogLine",
    "RemoteDidChangeEvent",
]

EventName = Literal[
    "cache/didClean",
    "image/didChange",
    "activity/didChange",
    "download/didFinish",
    "remote/didChange",
    "log",
]
"""An event that can be subscribed to."""


class CacheCleaned(TypedDict):
    """Images left a disk tier because they had expired or space was needed; not sent for remove or
    clear.
    """

    cache: str
    """The name of the cache."""
    hashes: List[str]
    """Names of files without extension."""
    keys: List[Optional[str]]
    """At the same places as `hashes`; None where a key is not known."""
    reason: Literal["expired", "sizeLimit"]
    """Why."""


class ImageChanged(TypedDict):
    """An image was answered although it was stale (stale-while-revalidate), and has been replaced
    since.
    """

    cache: str
    """The name of the cache."""
    key: str
    """The cache key."""
    url: str
    """The URL."""
    path: Optional[str]
    """The new file; None when there is none."""


class ActivityChanged(TypedDict):
    """Downloads have been running for a while, or have stopped: for an activity indicator."""

    active: bool
    """Whether downloads are running."""
    count: int
    """How many downloads are running."""


class DownloadTimings(TypedDict):
    """Where the time of a transfer went, in seconds."""

    dns: float
    """Seconds for resolving the name."""
    connect: float
    """Seconds for the connection."""
    tls: float
    """Seconds for TLS."""
    firstByte: Optional[float]
    """Seconds to the first byte of the response."""


class DownloadFinished(TypedDict):
    """A transfer has succeeded or failed: one event each, however many requests shared it."""

    url: str
    """The URL."""
    finalUrl: str
    """The URL that answered, after all redirects."""
    finalURL: str
    """Former name of finalUrl."""
    statusCode: Optional[int]
    """Null when there was no answer."""
    status: Optional[int]
    """Former name of statusCode."""
    byteCount: int
    """The size in bytes."""
    bytes: int
    """Former name of byteCount."""
    resumedBytes: int
    """Bytes that were kept from an earlier transfer."""
    seconds: float
    """A number of seconds."""
    timings: DownloadTimings
    """Seconds by phase."""
    reused: bool
    """Whether the connection was open already."""
    redirects: int
    """How many redirects were followed."""
    httpVersion: Optional[str]
    """The version of HTTP."""
    fromRevalidation: bool
    """Whether the server confirmed what was cached, and sent no body."""
    error: Optional[str]
    """The name of the error; None when it went well."""


class RemoteDidChangeEvent(TypedDict):
    """The remote tier is left out because it failed (open), is tried again (half-open), or is used
    again (closed).
    """

    breaker: Literal["closed", "open", "half-open"]
    """Whether the tier is used (closed), left out (open) or being tried (half-open)."""
    reason: Optional[str]
    """Why."""


class _LogLine(TypedDict):
    level: str
    """The level."""
    message: str
    """A sentence."""
    metadata: Dict[str, str]
    """Names and values."""


class LogLine(_LogLine, total=False):
    """A line of the log, of the level that is logged or above; at most 100 in a second."""

    omitted: int
    """How many lines before it were not told."""
