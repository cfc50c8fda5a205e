"""What the calls return, with the protocol's names in Python's spelling."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Literal, Mapping, Optional, Sequence, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

T = TypeVar("T")

CacheType = Literal["none", "memory", "disk"]
"""Where an answer came from, or where an entry is; "none" = downloaded now, or nowhere."""


def _local_path(path: Optional[str], uri: Optional[str]) -> str:
    if path is not None:
        return path
    if uri is not None and uri.startswith("file:"):
        # A path that is not valid UTF-8 comes as a URI only.
        return os.fsdecode(unquote_to_bytes(urlsplit(uri).path))
    raise ValueError("This image has no file: ask for it with as_=\"data\" instead.")


@dataclass(frozen=True)
class ImageResult:
    """An image that is in the cache, or was just downloaded.

    It can be given to `open()` and anything else that takes a path. The file is complete and
    never changes in place. `memory_cached` is False when memory was to keep the bytes and did not,
    `memory_reason` says why; `stored` and `reason` are what `store` says of both. `byte_count` is in bytes, `width` and `height` in pixels, dates are
    ISO 8601. Fields a newer server adds are in `extra`, under the protocol's names.
    """

    key: str
    cache: str = "default"
    processor_identifier: str = ""
    cache_type: CacheType = "none"
    path: Optional[str] = None
    uri: Optional[str] = None
    format: Optional[str] = None
    mime_type: Optional[str] = None
    width: Optional[int] = None
    height: Optional[int] = None
    frame_count: Optional[int] = None
    byte_count: Optional[int] = None
    data: Optional[bytes] = field(default=None, repr=False)
    url: Optional[str] = None
    etag: Optional[str] = None
    last_modified: Optional[str] = None
    expires_at: Optional[str] = None
    placeholder: bool = False
    memory_cached: Optional[bool] = None
    memory_reason: Optional[str] = None
    stored: Optional[Mapping[str, bool]] = field(default=None, hash=False)
    reason: Optional[str] = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __fspath__(self) -> str:
        return _local_path(self.path, self.uri)

    def read(self) -> bytes:
        """The bytes of the image: those that came with the answer, else those of its file.

        Raises ValueError when the answer has neither (`as_="none"`, or `cacheMemoryOnly` without
        data), and OSError when the file was removed meanwhile.
        """
        if self.data is not None:
            return self.data
        descriptor = os.open(self.path or self.__fspath__(), os.O_RDONLY)
        try:
            # One byte more than expected: a short answer then shows that this was all.
            wanted = (self.byte_count or 65_536) + 1
            first = os.read(descriptor, wanted)
            if 0 < len(first) < wanted and len(first) == self.byte_count:
                return first
            parts = [first]
            while parts[-1]:
                parts.append(os.read(descriptor, 1 << 20))
            return b"".join(parts)
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class RemoveResult:
    """What `remove` took away; true when anything was.

    `leased` tells that a path went that was promised for longer.
    """

    removed: bool
    memory: bool = False
    disk: bool = False
    leased: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return self.removed


@dataclass(frozen=True)
class CachedResult:
    """Whether and where an image is cached; true when it is."""

    cached: bool
    cache_type: CacheType = "none"
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return self.cached


@dataclass(frozen=True)
class CachePathResult:
    """Where an image is or would be; can be given to `open()`. `exists` says which."""

    path: Optional[str] = None
    uri: Optional[str] = None
    exists: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __fspath__(self) -> str:
        return _local_path(self.path, self.uri)


@dataclass(frozen=True)
class DiskSize:
    """Images on disk. Sizes are in bytes; `allocated_bytes` counts whole blocks; a limit of 0 is none."""

    count: int
    bytes: int
    allocated_bytes: Optional[int] = None
    limit_bytes: Optional[int] = None
    leased_bytes: Optional[int] = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MemorySize:
    """Images in the server's memory. Sizes are in bytes."""

    count: int
    bytes: int
    limit_bytes: Optional[int] = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class SizeResult:
    """How much one cache holds, on disk and in memory."""

    disk: DiskSize
    memory: MemorySize
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class ClearResult:
    """What `clear` and its kin took away: how many images, how many bytes.

    `leased` tells about how many paths went that were promised for longer.
    """

    count: int
    bytes: int
    leased: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class CleanResult:
    """What `clean_expired` removed; `keys` has None where a key is not known."""

    count: int
    bytes: int
    hashes: Sequence[str] = ()
    keys: Sequence[Optional[str]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class VerifyResult:
    """What `verify` found, in entries and files; true when nothing was wrong."""

    checked: int
    bytes: int
    damaged: int = 0
    missing: int = 0
    adopted: int = 0
    leftovers: int = 0
    corrected: int = 0
    clean: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return self.clean


@dataclass(frozen=True)
class EntryDetails:
    """What is known of one image in a cache. Dates are ISO 8601, sizes in bytes.

    `key` is None when only the file is known, until the image is asked for.
    """

    key: Optional[str]
    processor_identifier: Optional[str] = None
    hash: Optional[str] = None
    path: Optional[str] = None
    uri: Optional[str] = None
    format: Optional[str] = None
    mime_type: Optional[str] = None
    width: Optional[int] = None
    height: Optional[int] = None
    frame_count: Optional[int] = None
    byte_count: Optional[int] = None
    allocated_bytes: Optional[int] = None
    checksum: Optional[str] = None
    shared_by: Optional[int] = None
    url: Optional[str] = None
    host: Optional[str] = None
    etag: Optional[str] = None
    last_modified: Optional[str] = None
    stored_at: Optional[str] = None
    used_at: Optional[str] = None
    expires_at: Optional[str] = None
    leased_until: Optional[str] = None
    metadata: Optional[Mapping[str, str]] = field(default=None, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


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


def _snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _names_of(kind: Any) -> Dict[str, str]:
    return {_camel(name): name for name in kind.__dataclass_fields__ if name != "extra"}


_IMAGE_NAMES = _names_of(ImageResult)
_new_image = ImageResult.__new__


def image_from_wire(wire: Any) -> ImageResult:
    """Builds an ImageResult; this runs on every hit, so it fills the fields in one pass.

    Fields the server left out fall back to the defaults, which the dataclass keeps on the class.
    """
    names = _IMAGE_NAMES
    try:
        fields = {names[name]: value for name, value in wire.items()}
        fields["extra"] = {}
    except KeyError:
        fields = {names[name]: value for name, value in wire.items() if name in names}
        fields["extra"] = {name: value for name, value in wire.items() if name not in names}
    if "data" in fields and fields["data"] is not None:
        fields["data"] = base64.b64decode(fields["data"])
    image = _new_image(ImageResult)
    image.__dict__.update(fields)
    return image


def _plain(kind: Callable[..., T]) -> Callable[[Any], T]:
    names = _names_of(kind)

    def build(wire: Any) -> T:
        known = {names[name]: value for name, value in wire.items() if name in names}
        extra = {name: value for name, value in wire.items() if name not in names}
        return kind(extra=extra, **known)

    return build


remove_from_wire = _plain(RemoveResult)
cached_from_wire = _plain(CachedResult)
path_from_wire = _plain(CachePathResult)
clear_from_wire = _plain(ClearResult)
progress_from_wire = _plain(Progress)
clean_from_wire = _plain(CleanResult)
verify_from_wire = _plain(VerifyResult)
entry_from_wire = _plain(EntryDetails)
_disk_from_wire = _plain(DiskSize)
_memory_from_wire = _plain(MemorySize)


def size_from_wire(wire: Any) -> SizeResult:
    """Builds the result of `calculateSize`."""
    extra = {name: value for name, value in wire.items() if name not in ("disk", "memory")}
    return SizeResult(_disk_from_wire(wire["disk"]), _memory_from_wire(wire["memory"]), extra)
