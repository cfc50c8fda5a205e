"""What the calls return, with the protocol's names in Python's spelling.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict

from .decoding import as_it_is, bytes_from_wire, image_decoder, member, page_decoder, plain_decoder
from .events import DownloadFinished
from .files import ImageFile, LocalFile
from .settings import CacheSettings, ConfiguredSettings

__all__ = [
    "CachedResult",
    "CachePathResult",
    "CacheType",
    "CleanResult",
    "ClearResult",
    "DiskSize",
    "DownloadResult",
    "EntryDetails",
    "Explanation",
    "ImageResult",
    "KnownCache",
    "Latency",
    "MemorySize",
    "NotStoredReason",
    "PauseState",
    "PictureFormat",
    "Pixels",
    "PrefetchFailure",
    "PrefetchResult",
    "ProbeResult",
    "RememberedFailure",
    "RemoteCheckResult",
    "RemoteCheckResultSteps",
    "RemoveResult",
    "RemoveResultRemote",
    "SizeResult",
    "Stats",
    "StatsResultOutput",
    "StatsResultRemote",
    "StoredTiers",
    "StoreResult",
    "UnstoredImage",
    "VerifyResult",
]

CacheType = Literal["none", "memory", "disk", "remote"]
"""Where an answer came from, or where an entry is; "none" = loaded now, or nowhere."""

PictureFormat = Literal[
    "png",
    "jpeg",
    "gif",
    "webp",
    "avif",
    "heic",
    "tiff",
    "bmp",
    "ico",
    "svg",
    "jxl",
    "jp2",
    "pnm",
    "icns",
    "pdf",
]
"""The formats of pictures."""


class _Pixels(TypedDict):
    path: str
    """A file."""
    uri: str
    """The file's URL."""
    width: int
    """Pixels across."""
    height: int
    """Pixels down."""
    stride: int
    """Bytes from one row to the next."""
    frameCount: int
    """How many pictures."""
    byteCount: int
    """The size in bytes."""
    loopCount: int
    """How often the animation is played; 0 for ever."""
    frameSeconds: List[float]
    """Seconds each frame is shown."""
    delays: List[int]
    """Former name of frameSeconds, in milliseconds."""


class Pixels(_Pixels, total=False):
    """A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the
    other. The other fields describe the original.
    """

    framesDropped: int
    """How many pictures of the original are missing; left out for none."""

NotStoredReason = Literal[
    "noStore",
    "tooLarge",
    "noRoom",
    "diskFailed",
    "busy",
    "expired",
    "memoryOff",
    "notAsked",
    "occupied",
]
"""Why no tier keeps the image that was just loaded; left out when one does."""


@dataclass(frozen=True)
class ImageResult(ImageFile):
    """An image that is in the cache, or was just loaded."""

    key: str
    """The cache key."""
    cache: str = ""
    """The name of the cache."""
    processor_identifier: str = ""
    """The identifier of the processors; empty for an original."""
    cache_type: CacheType = "none"
    """Where the image came from; none means just downloaded."""
    path: Optional[str] = None
    """A complete file; None when the image is only in memory."""
    uri: Optional[str] = None
    """The file's URL; None when there is none."""
    format: Optional[PictureFormat] = None
    """The picture format, by signature."""
    mime_type: str = ""
    """The media type of the format."""
    width: int = 0
    """Pixels across, as coded."""
    height: int = 0
    """Pixels down, as coded."""
    orientation: Optional[int] = None
    """The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use
    probe).
    """
    has_alpha: Optional[bool] = None
    """Whether the image may be transparent; left out for images stored by an older version (use
    probe).
    """
    display_width: Optional[int] = None
    """Pixels across after applying the orientation; left out for images stored by an older version
    (use probe).
    """
    display_height: Optional[int] = None
    """Pixels down after applying the orientation; left out for images stored by an older version
    (use probe).
    """
    frame_count: int = 0
    """The number of frames or pages; 1 for stills and for JPEG XL."""
    frames_dropped: Optional[int] = None
    """How many frames or pages of the original a processed image lacks although all were wanted;
    left out for none.
    """
    frame_seconds: Optional[Sequence[float]] = field(default=None, hash=False)
    """How long each frame of an animation is shown, in seconds, where that is known."""
    delays: Optional[Sequence[int]] = field(default=None, hash=False)
    """Former name of frame_seconds, in milliseconds."""
    loop_count: Optional[int] = None
    """How often an animation is played, where that is known; 0 for ever."""
    byte_count: int = 0
    """The size of the image file, in bytes."""
    data: Optional[bytes] = field(default=None, repr=False)
    """The bytes, when asked for."""
    url: Optional[str] = None
    """Where it was downloaded from, after redirects."""
    etag: Optional[str] = None
    """The server's entity tag."""
    last_modified: Optional[str] = None
    """The server's date of last change, as sent."""
    expires_at: Optional[str] = None
    """When the entry on disk expires; None for never."""
    data_url: Optional[str] = None
    """The image as a data URL, when asked for."""
    thumb_hash: Optional[str] = None
    """A ThumbHash of the image, when asked for and there is a codec worker."""
    blur_hash: Optional[str] = None
    """A BlurHash of the image, in 28 letters, with the ThumbHash."""
    dominant_color: Optional[str] = None
    """The colour that most of the image has, with the ThumbHash."""
    pixels: Optional[Pixels] = field(default=None, hash=False)
    """A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the
    other. The other fields describe the original.
    """
    leased: Optional[bool] = None
    """False when the path could not be leased, because leases already use half of the size limit.
    """
    stale: Optional[bool] = None
    """True when the image has expired, or its server was not asked although the request wanted
    that.
    """
    revalidated: Optional[bool] = None
    """True when the server confirmed that the image has not changed."""
    placeholder: bool = False
    """True when this is the substitute for an image that could not be loaded."""
    memory_cached: Optional[bool] = None
    """False when memory should keep the bytes but did not."""
    memory_reason: Optional[str] = None
    """Why memory did not keep the bytes, naming the setting."""
    stored: Optional[NotStoredReason] = None
    """Why no tier keeps the image that was just loaded; left out when one does."""
    download_report: Optional[DownloadFinished] = field(default=None, hash=False)
    """The result and the timing of the download, when asked for and there was one."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


image_result_from_wire = image_decoder(
    ImageResult,
    also_extra=("dataUrl", "thumbHash", "dominantColor", "pixels"),
)


class _StoredTiers(TypedDict):
    memory: bool
    """The memory tier."""
    disk: bool
    """The disk tier."""


class StoredTiers(_StoredTiers, total=False):
    """The tiers that hold the image now: memory its bytes, disk its file; with a reason when
    nothing was stored.
    """

    reason: NotStoredReason
    """Why."""


@dataclass(frozen=True)
class StoreResult(ImageResult):
    """An image that was put into the cache."""

    stored: StoredTiers = field(default_factory=lambda: StoredTiers(memory=False, disk=False), hash=False)  # type: ignore[assignment]
    """The tiers that hold the image now: memory its bytes, disk its file; with a reason when
    nothing was stored.
    """
    reason: Optional[str] = None
    """Why memory does not hold the bytes, or nothing was stored."""


store_result_from_wire = image_decoder(StoreResult)


class RemoveResultRemote(TypedDict):
    """The objects that the remote tier was told to remove, and why some are still there; left out
    unless remote was given.
    """

    count: int
    """How many."""
    problem: Optional[str]
    """What is wrong; None for nothing."""


@dataclass(frozen=True)
class RemoveResult:
    """What `remove` took away; true when anything was."""

    removed: bool
    """Whether anything was removed."""
    memory: bool = False
    """Whether something was removed from memory."""
    disk: bool = False
    """Whether something was removed from disk."""
    leased: bool = False
    """Whether a path was removed before its lease ended."""
    read_only_path: Optional[str] = None
    """The file of a read-only folder that still answers for the key; left out for none."""
    remote: Optional[RemoveResultRemote] = field(default=None, hash=False)
    """The objects that the remote tier was told to remove, and why some are still there; left out
    unless remote was given.
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""

    def __bool__(self) -> bool:
        return self.removed


remove_result_from_wire = plain_decoder(RemoveResult)


@dataclass(frozen=True)
class CachedResult:
    """Whether and where an image is cached; true when it is."""

    cached: bool
    """Whether a tier has the image."""
    cache_type: CacheType = "none"
    """The first tier of this machine that has it; none for no tier."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""

    def __bool__(self) -> bool:
        return self.cached


cached_result_from_wire = plain_decoder(CachedResult)


@dataclass(frozen=True)
class CachePathResult(LocalFile):
    """Where an image is or would be; can be given to `open()`. `exists` says which."""

    path: str = ""
    """Where the image is, or would be."""
    uri: str = ""
    """The same as a URL."""
    exists: bool = False
    """Whether the image is there."""
    leased: Optional[bool] = None
    """False when the path could not be leased, because leases already use half of the size limit.
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


cache_path_result_from_wire = plain_decoder(CachePathResult)


@dataclass(frozen=True)
class DiskSize:
    """Images on disk. Sizes are in bytes; `allocated_bytes` counts whole blocks; a limit of 0 is
    none.
    """

    count: int
    """Number of entries."""
    byte_count: int = 0
    """Sum of their lengths."""
    bytes: int = 0
    """Former name of byte_count."""
    bytes_limit: int = 0
    """The limit; 0 for none."""
    limit_bytes: int = 0
    """Former name of bytes_limit."""
    allocated_bytes: Optional[int] = None
    """What they take on the file system."""
    leased_bytes: Optional[int] = None
    """What has left the cache and goes when its leases end."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


disk_size_from_wire = plain_decoder(DiskSize)


@dataclass(frozen=True)
class MemorySize:
    """Images in the server's memory. Sizes are in bytes."""

    count: int
    """Number of entries."""
    byte_count: int = 0
    """Sum of their lengths."""
    bytes: int = 0
    """Former name of byte_count."""
    bytes_limit: int = 0
    """The limit."""
    limit_bytes: int = 0
    """Former name of bytes_limit."""
    allocated_bytes: Optional[int] = None
    """The space they take, in bytes of whole blocks."""
    leased_bytes: Optional[int] = None
    """The leased part, in bytes."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


memory_size_from_wire = plain_decoder(MemorySize)


@dataclass(frozen=True)
class SizeResult:
    """How much one cache holds, on disk and in memory."""

    disk: DiskSize
    """The disk tier: entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes
    of removed files that wait for their leases to end.
    """
    memory: MemorySize
    """Entries, bytes and the limit of the memory tier."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


size_result_from_wire = plain_decoder(
    SizeResult,
    disk=disk_size_from_wire,
    memory=memory_size_from_wire,
)


@dataclass(frozen=True)
class DownloadResult:
    """An image that was loaded past all caches."""

    format: PictureFormat
    """The picture format, by signature."""
    mime_type: str = ""
    """The media type of the format."""
    width: int = 0
    """Pixels across, as coded."""
    height: int = 0
    """Pixels down, as coded."""
    frame_count: int = 0
    """The number of frames or pages; 1 for stills and for JPEG XL."""
    frame_seconds: Optional[Sequence[float]] = field(default=None, hash=False)
    """How long each frame of an animation is shown, in seconds, where that is known."""
    delays: Optional[Sequence[int]] = field(default=None, hash=False)
    """Former name of frame_seconds, in milliseconds."""
    loop_count: Optional[int] = None
    """How often an animation is played, where that is known; 0 for ever."""
    byte_count: int = 0
    """The size of the image file, in bytes."""
    data: Optional[bytes] = field(default=None, repr=False)
    """The bytes, when asked for."""
    url: Optional[str] = None
    """Where it was downloaded from, after redirects."""
    etag: Optional[str] = None
    """The server's entity tag."""
    last_modified: Optional[str] = None
    """The server's date of last change, as sent."""
    download_report: Optional[DownloadFinished] = field(default=None, hash=False)
    """The result and the timing of the download, when asked for and there was one."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


download_result_from_wire = plain_decoder(DownloadResult, data=bytes_from_wire)


@dataclass(frozen=True)
class ProbeResult:
    """What the first kilobytes of an image tell."""

    format: PictureFormat
    """The picture format, by signature."""
    mime_type: str = ""
    """The media type of the format."""
    width: int = 0
    """Pixels across, as coded."""
    height: int = 0
    """Pixels down, as coded."""
    orientation: Optional[int] = None
    """The orientation, 1 to 8 as in EXIF; None when the first kilobytes do not show it."""
    frame_count: Optional[int] = None
    """The number of frames or pages; None when the first kilobytes do not show it."""
    frame_seconds: Optional[Sequence[float]] = field(default=None, hash=False)
    """How long each frame of an animation is shown, in seconds; left out when the first kilobytes
    do not show it.
    """
    delays: Optional[Sequence[int]] = field(default=None, hash=False)
    """Former name of frame_seconds, in milliseconds."""
    loop_count: Optional[int] = None
    """How often an animation is played, 0 for ever; left out when the first kilobytes do not show
    it.
    """
    has_alpha: Optional[bool] = None
    """Whether the image may be transparent; None when the first kilobytes do not show it."""
    byte_count: Optional[int] = None
    """The size in bytes; None when the server does not say."""
    cache_type: CacheType = "none"
    """The tier that was read; none for the source."""
    display_width: Optional[int] = None
    """Pixels across after applying the orientation; left out when the first kilobytes do not show
    it.
    """
    display_height: Optional[int] = None
    """Pixels down after applying the orientation; left out when the first kilobytes do not show it.
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


probe_result_from_wire = plain_decoder(ProbeResult)


class PrefetchFailure(TypedDict):
    """A URL whose image could not be loaded, and the error."""

    url: str
    """The URL."""
    error: Dict[str, Any]
    """The error, as a request would get it."""


class UnstoredImage(TypedDict):
    url: str
    """The URL."""
    stored: NotStoredReason
    """Why no tier keeps it."""


@dataclass(frozen=True)
class PrefetchResult:
    """What became of the URLs that were to be loaded ahead of time."""

    completed: Sequence[str]
    """URLs that were loaded."""
    skipped: Sequence[str] = field(default=(), hash=False)
    """URLs whose images were already cached."""
    failed: Sequence[PrefetchFailure] = field(default=(), hash=False)
    """URLs that failed or were stopped, with their errors."""
    not_stored: Optional[Sequence[UnstoredImage]] = field(default=None, hash=False)
    """URLs that were loaded but that no tier keeps, with the reason; left out when empty."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


prefetch_result_from_wire = plain_decoder(PrefetchResult)


class PauseState(TypedDict):
    """Which downloads are not started now."""

    paused: Literal["none", "prefetch", "all"]
    """The downloads that are held back."""
    running: int
    """How many downloads are running, and continue."""
    waiting: int
    """How many downloads wait for their turn."""


@dataclass(frozen=True)
class ClearResult:
    """What `clear` and the methods like it removed: how many images, how many bytes."""

    count: int
    """Entries removed."""
    byte_count: int = 0
    """Bytes freed."""
    bytes: int = 0
    """Former name of byte_count."""
    leased: int = 0
    """About how many paths were removed before their leases ended."""
    remote: Optional[RemoveResultRemote] = field(default=None, hash=False)
    """The objects that the remote tier was told to remove, and why some are still there; left out
    unless remote was given.
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


clear_result_from_wire = plain_decoder(ClearResult)


class RememberedFailure(TypedDict):
    """A failure that is repeated without asking, for a while."""

    url: str
    """The URL."""
    key: str
    """The cache key that its image was to have."""
    error: Dict[str, Any]
    """The error, as a request would get it."""
    seconds: float
    """For how many seconds it is remembered yet."""


class StatsResultRemote(TypedDict):
    """The remote tier; left out when there is none."""

    hits: int
    """Images that the tier answered."""
    misses: int
    """Images that it did not have, not in time, or none of use."""
    errors: int
    """Operations that failed."""
    wrong: int
    """Objects that were not what their names say."""
    uploads: int
    """Objects that were uploaded."""
    dropped: int
    """Uploads that were left out: too many waited, or the tier was left out."""
    queued: int
    """Uploads that wait or run."""
    bytesRead: int
    """The bytes of objects that were read."""
    bytesWritten: int
    """The bytes of objects that were written."""
    breaker: Literal["closed", "open", "half-open"]
    """Whether the tier is used (closed), left out (open) or being tried (half-open)."""


class StatsResultOutput(TypedDict):
    """Output that the client has not read yet: the bytes held, their limit (outputLimit), and how
    often requests had to wait for the client to read.
    """

    heldBytes: int
    """The bytes held."""
    bytesLimit: int
    """The limit, in bytes."""
    limitBytes: int
    """Former name of bytesLimit."""
    waits: int
    """How often requests had to wait."""


class Latency(TypedDict):
    """How long the requests of one method took, in milliseconds."""

    count: int
    """Requests that were answered, with a result or an error."""
    p50: float
    """The median in milliseconds, exact to an eighth of the value."""
    p95: float
    """The 95th percentile in milliseconds, exact to an eighth of the value."""
    p99: float
    """The 99th percentile in milliseconds, exact to an eighth of the value."""
    max: float
    """The longest time in milliseconds."""


class _Stats(TypedDict):
    memoryHits: int
    """Images answered from memory."""
    diskHits: int
    """Images answered from disk."""
    misses: int
    """Images that were in no cache."""
    merged: int
    """Requests that joined running work."""
    downloads: int
    """Downloads that ended well."""
    sharedDownloads: int
    """Images that this process waited for while another one downloaded them."""
    failedDownloads: int
    """Downloads that failed or were cancelled."""
    downloadedBytes: int
    """Bytes of bodies received."""
    runningDownloads: int
    """Downloads that are running."""
    stalledDownloads: int
    """Running downloads whose servers have sent nothing for a second."""
    waitingDownloads: int
    """Downloads waiting for their turn, or for another process that downloads the same."""
    evictions: int
    """Images evicted from disk to stay within its limit."""
    damagedFiles: int
    """Images removed because another program had changed their files."""
    rememberedFailures: int
    """Remembered failures, which are repeated without asking the server."""
    notStored: Dict[str, int]
    """Loaded images that should have been kept but no tier keeps, by reason; including those that
    nobody waited for, and originals of processed images.
    """
    requestsInFlight: int
    """Requests that have not been answered yet."""
    output: StatsResultOutput
    """Output that the client has not read yet: the bytes held, their limit (outputLimit), and how
    often requests had to wait for the client to read.
    """
    uptimeSeconds: float
    """Seconds since the server started."""
    latency: Dict[str, Latency]
    """The time from reading to answering requests, by method."""


class Stats(_Stats, total=False):
    """The server's counters."""

    remote: StatsResultRemote
    """The remote tier; left out when there is none."""


class RemoteCheckResultSteps(TypedDict):
    name: Literal["read", "write", "remove", "claim", "clock"]
    """The name."""
    seconds: float
    """A number of seconds."""
    problem: Optional[str]
    """What is wrong; None for nothing."""


class RemoteCheckResult(TypedDict):
    ok: bool
    """Whether all that the mode needs works; False when there is no remote tier."""
    url: Optional[str]
    """The address without secrets; None when there is no remote tier."""
    mode: Literal["read-write", "read-only", "write-only", None]
    """Whether the tier is read, written or both; None when there is none."""
    steps: List[RemoteCheckResultSteps]
    """What was tried, in order; after a problem nothing more is."""
    clockAhead: Optional[float]
    """The seconds that its clock is ahead of this machine's; None when it did not tell the time."""


@dataclass(frozen=True)
class EntryDetails:
    """What is known of one image in a cache. Dates are ISO 8601, sizes in bytes."""

    key: Optional[str]
    """The cache key; None while only the file is known, until the image is next requested."""
    processor_identifier: Optional[str] = None
    """The identifier of the processors; empty for an original."""
    user: Optional[str] = None
    """A digest of the user that the image belongs to; None for an image that all users share."""
    hash: Optional[str] = None
    """The hash that names the file; None in a read-only folder."""
    path: Optional[str] = None
    """The file; None for an image that is only in memory."""
    uri: Optional[str] = None
    """The same as a URL."""
    format: Optional[str] = None
    """The picture format, by signature."""
    mime_type: Optional[str] = None
    """The media type of the format."""
    width: Optional[int] = None
    """Pixels across, as coded."""
    height: Optional[int] = None
    """Pixels down, as coded."""
    frame_count: Optional[int] = None
    """The number of frames or pages; 1 for stills and for JPEG XL."""
    byte_count: Optional[int] = None
    """The size of the file, in bytes."""
    allocated_bytes: Optional[int] = None
    """The space that the file takes on disk, in bytes; None in a read-only folder."""
    checksum: Optional[str] = None
    """SHA-256 of the bytes, in hexadecimal."""
    shared_by: Optional[int] = None
    """How many entries share the file; None in a list."""
    url: Optional[str] = None
    """Where it was downloaded from, after redirects."""
    host: Optional[str] = None
    """The host it came from."""
    etag: Optional[str] = None
    """The server's entity tag."""
    last_modified: Optional[str] = None
    """The server's date of last change, as sent."""
    stored_at: Optional[str] = None
    """When it was stored."""
    used_at: Optional[str] = None
    """When it was last used, accurate to half a minute."""
    expires_at: Optional[str] = None
    """When it expires; None for never."""
    leased_until: Optional[str] = None
    """When the lease of its path ends; None when it is not leased."""
    metadata: Optional[Mapping[str, str]] = field(default=None, hash=False)
    """The metadata that was given to store."""
    orientation: Optional[int] = None
    """The orientation, 1 to 8 as in EXIF; left out for images stored by an older version (use
    probe).
    """
    has_alpha: Optional[bool] = None
    """Whether the image may be transparent; left out for images stored by an older version (use
    probe).
    """
    display_width: Optional[int] = None
    """Pixels across after applying the orientation; left out for images stored by an older version
    (use probe).
    """
    display_height: Optional[int] = None
    """Pixels down after applying the orientation; left out for images stored by an older version
    (use probe).
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


entry_details_from_wire = plain_decoder(EntryDetails)


class Explanation(TypedDict):
    """What `retrieve` would do now, and why."""

    key: str
    """The key under which the image is kept."""
    cache: str
    """The name of the cache."""
    hash: str
    """The hash that names the file."""
    path: str
    """Where the image is on disk, or would be."""
    cacheType: CacheType
    """The tier where the image is and has not expired; or none."""
    storedAt: Optional[str]
    """When the image was stored."""
    expiresAt: Optional[str]
    """When the image expires on disk; None for never, and when nothing is stored."""
    stale: Optional[bool]
    """Whether the stored image is staler than the request accepts; None when nothing is stored."""
    verdict: Literal["answer", "answerStale", "answerAndRefresh", "revalidate", "load", "fail"]
    """What retrieve would do."""
    network: bool
    """Whether the network would be used."""
    url: Optional[str]
    """The URL that would be requested first; None for none."""
    reasons: List[str]
    """The reasons, as sentences for people."""
    error: Optional[Dict[str, Any]]
    """The error it would fail with, as far as that is known; None for none."""


@dataclass(frozen=True)
class CleanResult:
    """What `clean_expired` removed; `keys` has None where a key is not known."""

    count: int
    """Images removed."""
    byte_count: int = 0
    """The bytes of their files."""
    bytes: int = 0
    """Former name of byte_count."""
    hashes: Sequence[str] = field(default=(), hash=False)
    """The hashes of their keys, which named the files."""
    keys: Sequence[Optional[str]] = field(default=(), hash=False)
    """Their keys, in the same order; None where one is not known."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


clean_result_from_wire = plain_decoder(CleanResult)


@dataclass(frozen=True)
class VerifyResult:
    """What `verify` found, in entries and files; true when nothing was wrong."""

    checked: int
    """Entries looked at."""
    byte_count: int = 0
    """Bytes read."""
    bytes: int = 0
    """Former name of byte_count."""
    damaged: int = 0
    """Entries whose files are not what was stored; removed."""
    missing: int = 0
    """Entries without files; removed."""
    adopted: int = 0
    """Images without entries; added to the index."""
    leftovers: int = 0
    """Files left by dead processes, and files that are not images; removed."""
    corrected: int = 0
    """Totals and records of the index that were wrong; corrected."""
    unreadable: int = 0
    """Files that could not be read now, for lack of permission or of file descriptors; left alone.
    """
    clean: bool = False
    """Whether nothing was wrong."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""

    def __bool__(self) -> bool:
        return self.clean


verify_result_from_wire = plain_decoder(VerifyResult)


class KnownCache(TypedDict):
    """A cache that is open, configured, or found in the cache folder."""

    name: str
    """The name."""
    folder: str
    """Absolute path of its folder."""
    isOpen: bool
    """Whether this server has used it."""
    settings: CacheSettings


cancel_all_from_wire: Callable[[Any], int] = member("cancelled")
pause_state_from_wire: Callable[[Any], PauseState] = as_it_is
forget_failures_from_wire: Callable[[Any], int] = member("forgotten")
list_failures_from_wire: Callable[[Any], List[RememberedFailure]] = member("failures")
stats_from_wire: Callable[[Any], Stats] = as_it_is
remote_check_result_from_wire: Callable[[Any], RemoteCheckResult] = as_it_is
explanation_from_wire: Callable[[Any], Explanation] = as_it_is
configured_settings_from_wire: Callable[[Any], ConfiguredSettings] = as_it_is
cache_settings_from_wire: Callable[[Any], CacheSettings] = as_it_is
caches_from_wire: Callable[[Any], List[KnownCache]] = member("caches")
subscribe_from_wire: Callable[[Any], List[str]] = member("events")
unsubscribe_from_wire: Callable[[Any], List[str]] = member("events")
document_from_wire: Callable[[Any], Dict[str, Any]] = as_it_is
page_from_wire = page_decoder(entry_details_from_wire)
