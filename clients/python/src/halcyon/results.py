"""What the calls return, with the protocol's names in Python's spelling.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict

from .decoding import as_it_is, bytes_from_wire, image_decoder, member, page_decoder, plain_decoder
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
    "RemoveResult",
    "SizeResult",
    "Stats",
    "StatsResultOutput",
    "StoredTiers",
    "StoreResult",
    "UnstoredImage",
    "VerifyResult",
]

CacheType = Literal["none", "memory", "disk"]
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
    """A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the
    other. The other fields are those of the original.
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
"""The reason why no tier keeps the image, which was loaded now; left out when a tier keeps it."""


@dataclass(frozen=True)
class ImageResult(ImageFile):
    """An image that is in the cache, or was just loaded."""

    key: str
    """The cache key."""
    cache: str = ""
    """The name of the cache."""
    processor_identifier: str = ""
    """What was done to the original; empty for nothing."""
    cache_type: CacheType = "none"
    """Where the answer came from; none means it was loaded now."""
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
    """How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe
    tells.
    """
    has_alpha: Optional[bool] = None
    """Whether it may be transparent; left out for what an older version stored; probe tells."""
    display_width: Optional[int] = None
    """Pixels across when it is turned as orientation says; left out for what an older version
    stored; probe tells.
    """
    display_height: Optional[int] = None
    """Pixels down when it is turned as orientation says; left out for what an older version stored;
    probe tells.
    """
    frame_count: int = 0
    """Pictures of an animation or pages; 1 for stills, and for JPEG XL."""
    frames_dropped: Optional[int] = None
    """How many frames or pages of the original a processed image lacks, although all were asked
    for; left out for none.
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
    """A file of raw pixels, when asked for: RGBA, eight bits each, sRGB, the frames one below the
    other. The other fields are those of the original.
    """
    leased: Optional[bool] = None
    """False when the path is not lent, for what is lent has used its half of the limit."""
    stale: Optional[bool] = None
    """True when its time is over, or its server was not asked although the request wanted that."""
    revalidated: Optional[bool] = None
    """True when its server was asked, and said that it has not changed."""
    placeholder: bool = False
    """True when this stands in for an image that could not be had."""
    memory_cached: Optional[bool] = None
    """False when memory was to keep the bytes, but did not."""
    memory_reason: Optional[str] = None
    """Why memory did not keep the bytes, naming the setting."""
    stored: Optional[NotStoredReason] = None
    """The reason why no tier keeps the image, which was loaded now; left out when a tier keeps it.
    """
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
    """Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was
    stored.
    """

    reason: NotStoredReason
    """Why."""


@dataclass(frozen=True)
class StoreResult(ImageResult):
    """An image that was put into the cache."""

    stored: StoredTiers = field(default_factory=lambda: StoredTiers(memory=False, disk=False), hash=False)  # type: ignore[assignment]
    """Which tiers hold the image now: memory its bytes, disk its file. With reason when nothing was
    stored.
    """
    reason: Optional[str] = None
    """Why memory does not hold the bytes, or nothing was stored."""


store_result_from_wire = image_decoder(StoreResult)


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
    """Whether a path that was lent out went before its time."""
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
    """The first tier that has it."""
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
    """False when the path is not lent, for what is lent has used its half of the limit."""
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
    """What they take, in bytes."""
    leased_bytes: Optional[int] = None
    """What is lent out of it, in bytes."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


memory_size_from_wire = plain_decoder(MemorySize)


@dataclass(frozen=True)
class SizeResult:
    """How much one cache holds, on disk and in memory."""

    disk: DiskSize
    """Entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of files that
    are no longer in the cache and go when their leases end, of the disk tier.
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
    """Pictures of an animation or pages; 1 for stills, and for JPEG XL."""
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
    """How it is to be turned, 1 to 8 as in EXIF; None when its start does not tell."""
    frame_count: Optional[int] = None
    """Pictures of an animation or pages; None when its start does not tell."""
    frame_seconds: Optional[Sequence[float]] = field(default=None, hash=False)
    """How long each frame of an animation is shown, in seconds; left out when its start does not
    tell.
    """
    delays: Optional[Sequence[int]] = field(default=None, hash=False)
    """Former name of frame_seconds, in milliseconds."""
    loop_count: Optional[int] = None
    """How often an animation is played, 0 for ever; left out when its start does not tell."""
    has_alpha: Optional[bool] = None
    """Whether it may be transparent; None when its start does not tell."""
    byte_count: Optional[int] = None
    """Its size in bytes; None when its server does not say."""
    cache_type: CacheType = "none"
    """Where it was looked at; none for its source."""
    display_width: Optional[int] = None
    """Pixels across when it is turned as orientation says; left out when its start does not tell.
    """
    display_height: Optional[int] = None
    """Pixels down when it is turned as orientation says; left out when its start does not tell."""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


probe_result_from_wire = plain_decoder(ProbeResult)


class PrefetchFailure(TypedDict):
    """A URL whose image could not be had, and the error."""

    url: str
    """The URL."""
    error: Dict[str, Any]
    """The error, as of a request."""


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
    """URLs whose images were cached already."""
    failed: Sequence[PrefetchFailure] = field(default=(), hash=False)
    """URLs whose images could not be had, or were stopped, with their errors."""
    not_stored: Optional[Sequence[UnstoredImage]] = field(default=None, hash=False)
    """URLs that were loaded and whose images no tier keeps, with the reason; left out when empty.
    """
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What a newer server told besides, by its names on the wire."""


prefetch_result_from_wire = plain_decoder(PrefetchResult)


class PauseState(TypedDict):
    """Which downloads are not started now."""

    paused: Literal["none", "prefetch", "all"]
    """Which downloads are not started."""
    running: int
    """How many downloads are under way, and go on."""
    waiting: int
    """How many wait for their turn."""


@dataclass(frozen=True)
class ClearResult:
    """What `clear` and its kin took away: how many images, how many bytes."""

    count: int
    """Entries removed."""
    byte_count: int = 0
    """Bytes freed."""
    bytes: int = 0
    """Former name of byte_count."""
    leased: int = 0
    """About how many paths that were lent out went before their time."""
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
    """The error, as of a request."""
    seconds: float
    """For how many seconds it is remembered yet."""


class StatsResultOutput(TypedDict):
    """What is made for the client and not yet read by it: the bytes held, their limit
    (outputLimit), and how often requests had to wait for the client to read.
    """

    heldBytes: int
    """What is held, in bytes."""
    bytesLimit: int
    """The limit, in bytes."""
    limitBytes: int
    """Former name of bytesLimit."""
    waits: int
    """How often requests had to wait."""


class Latency(TypedDict):
    """How long the requests of one method took, in milliseconds."""

    count: int
    """Requests that were answered, well or not."""
    p50: float
    """Milliseconds that half of them did not surpass, to an eighth."""
    p95: float
    """Milliseconds that 95 % of them did not surpass, to an eighth."""
    p99: float
    """Milliseconds that 99 % of them did not surpass, to an eighth."""
    max: float
    """Milliseconds of the one that took longest."""


class Stats(TypedDict):
    """The server's counters."""

    memoryHits: int
    """Images answered from memory."""
    diskHits: int
    """Images answered from disk."""
    misses: int
    """Images that no cache had."""
    merged: int
    """Callers that joined work under way."""
    downloads: int
    """Downloads that ended well."""
    sharedDownloads: int
    """Images that another process had downloaded while this one waited for it."""
    failedDownloads: int
    """Downloads that failed or were cancelled."""
    downloadedBytes: int
    """Bytes of bodies received."""
    runningDownloads: int
    """Downloads under way."""
    stalledDownloads: int
    """Those of them whose servers have said nothing for a second."""
    waitingDownloads: int
    """Downloads waiting for their turn, or for another process that downloads the same."""
    evictions: int
    """Images evicted from disk for their size."""
    damagedFiles: int
    """Images taken out because their files had been changed by another program."""
    rememberedFailures: int
    """Failures that are remembered, and repeated without asking."""
    notStored: Dict[str, int]
    """Loaded images that no tier keeps although they were to be kept, by reason; also those that
    nobody waits for, and the originals of made images.
    """
    requestsInFlight: int
    """Requests being worked on."""
    output: StatsResultOutput
    """What is made for the client and not yet read by it: the bytes held, their limit
    (outputLimit), and how often requests had to wait for the client to read.
    """
    uptimeSeconds: float
    """Seconds since the server started."""
    latency: Dict[str, Latency]
    """How long requests took from being read to being answered, by method."""


@dataclass(frozen=True)
class EntryDetails:
    """What is known of one image in a cache. Dates are ISO 8601, sizes in bytes."""

    key: Optional[str]
    """The cache key; None when only the file is known, until the image is asked for."""
    processor_identifier: Optional[str] = None
    """What was done to the original; empty for nothing."""
    user: Optional[str] = None
    """A digest of the user whom the image belongs to; None for an image that users share."""
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
    """Pictures of an animation or pages; 1 for stills, and for JPEG XL."""
    byte_count: Optional[int] = None
    """The size of the file, in bytes."""
    allocated_bytes: Optional[int] = None
    """What the file takes on the disk; None in a read-only folder."""
    checksum: Optional[str] = None
    """SHA-256 of the bytes, in hexadecimal."""
    shared_by: Optional[int] = None
    """How many entries have the same file; None in a list."""
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
    """When it was last used, to within half a minute."""
    expires_at: Optional[str] = None
    """When it expires; None for never."""
    leased_until: Optional[str] = None
    """Until when its path is lent out; None when it is not."""
    metadata: Optional[Mapping[str, str]] = field(default=None, hash=False)
    """What the caller of store wanted kept."""
    orientation: Optional[int] = None
    """How it is to be turned, 1 to 8 as in EXIF; left out for what an older version stored; probe
    tells.
    """
    has_alpha: Optional[bool] = None
    """Whether it may be transparent; left out for what an older version stored; probe tells."""
    display_width: Optional[int] = None
    """Pixels across when it is turned as orientation says; left out for what an older version
    stored; probe tells.
    """
    display_height: Optional[int] = None
    """Pixels down when it is turned as orientation says; left out for what an older version stored;
    probe tells.
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
    """Which tier has the image, its time not being over."""
    storedAt: Optional[str]
    """When what is stored was stored."""
    expiresAt: Optional[str]
    """When its time on disk is over; None for never, and when nothing is stored."""
    stale: Optional[bool]
    """Whether what is stored is not as fresh as the request wants it; None when nothing is."""
    verdict: Literal["answer", "answerStale", "answerAndRefresh", "revalidate", "load", "fail"]
    """What would be done."""
    network: bool
    """Whether the network would be used."""
    url: Optional[str]
    """The URL that would be asked first; None when none would."""
    reasons: List[str]
    """Why: sentences for people."""
    error: Optional[Dict[str, Any]]
    """What it would fail with, as far as that is known; None for nothing."""


@dataclass(frozen=True)
class CleanResult:
    """What `clean_expired` removed; `keys` has None where a key is not known."""

    count: int
    """Images removed."""
    byte_count: int = 0
    """Bytes of their files."""
    bytes: int = 0
    """Former name of byte_count."""
    hashes: Sequence[str] = field(default=(), hash=False)
    """The hashes of their keys, which named the files."""
    keys: Sequence[Optional[str]] = field(default=(), hash=False)
    """Their keys, at the same places; None where it is not known."""
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
    """Entries whose files are not what was stored; taken out."""
    missing: int = 0
    """Entries without files; taken out."""
    adopted: int = 0
    """Images without entries; taken in."""
    leftovers: int = 0
    """Files of dead writers, and files that are no images; removed."""
    corrected: int = 0
    """Sums and notes of the index that were wrong; put right."""
    unreadable: int = 0
    """Files that could not be read now, for want of a permission or of descriptors; left alone."""
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
explanation_from_wire: Callable[[Any], Explanation] = as_it_is
configured_settings_from_wire: Callable[[Any], ConfiguredSettings] = as_it_is
cache_settings_from_wire: Callable[[Any], CacheSettings] = as_it_is
caches_from_wire: Callable[[Any], List[KnownCache]] = member("caches")
subscribe_from_wire: Callable[[Any], List[str]] = member("events")
unsubscribe_from_wire: Callable[[Any], List[str]] = member("events")
document_from_wire: Callable[[Any], Dict[str, Any]] = as_it_is
page_from_wire = page_decoder(entry_details_from_wire)
