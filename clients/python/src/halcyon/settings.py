"""The settings of caches, named as the protocol names them.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict, Union

from .options import Authorization, Expiration, ExtendingExpiration, ImageOptions

__all__ = [
    "CacheSettings",
    "ConfiguredSettings",
    "DiskSettings",
    "DownloaderSettings",
    "HostRule",
    "KeyRule",
    "MemorySettings",
    "RemoteSettings",
    "URLRewrite",
]


class MemorySettings(TypedDict, total=False):
    """Settings of the memory tier; what is left out stays as it was."""

    totalBytesLimit: int
    """The size limit of memory, in bytes; 0 keeps nothing. Default: 104857600."""
    preferredBytesAfterPurge: int
    """The size that a purge leaves, in bytes; setting only totalBytesLimit makes it three fifths of
    that. Default: 62914560.
    """
    countLimit: int
    """The largest number of images; 0 for no limit. Default: 0."""
    entryBytesLimit: Optional[int]
    """The largest image to keep, in bytes; None for a tenth of the limit."""
    expiration: Expiration
    """How long an image stays in memory. Default: {"seconds": 300}."""
    extending: ExtendingExpiration
    """What a use does to the expiration: cacheTime starts it again, none leaves it. Default:
    "cacheTime".
    """
    weakRetention: bool
    """Whether a purged image is still found while an answer that contains it is being sent.
    Default: True.
    """


class KeyRule(TypedDict, total=False):
    """Query parameters that are left out of keys that are URLs of these hosts; names may end in
    `*`.
    """

    hosts: List[str]
    """The hosts that the rule applies to."""
    keepQuery: List[str]
    """The only query parameters to keep."""
    dropQuery: List[str]
    """The query parameters to drop."""


class DiskSettings(TypedDict, total=False):
    """Settings of the disk tier; what is left out stays as it was."""

    folder: str
    """The folder, as an absolute path; it can be set until the cache is first used."""
    bytesLimit: int
    """The size limit of the images on disk, in bytes; 0 for no limit. Default: 2147483648."""
    purgeRatio: float
    """The size that a purge leaves, as a fraction of the limit. Default: 0.5."""
    freeSpaceFloor: Optional[int]
    """The bytes of the file system to leave free; None for a hundredth of it, between 128 KiB (or
    an eighth if that is less) and 256 MiB.
    """
    expiration: Expiration
    """How long an image stays on disk. Default: {"days": 7}."""
    expireBy: Literal["access", "modification"]
    """What the expiration counts from: the last use (access) or the time of storing (modification).
    Default: "access".
    """
    pathExtension: str
    """The extension of files: from the detected format (sniffed), from the key (fromKey), none, or
    any other text. Default: "sniffed".
    """
    fileNames: Literal["sha256", "md5"]
    """The digest of the key that names files: sha256 or md5. Default: "sha256"."""
    readOnlyPaths: List[str]
    """Absolute paths of folders that are searched after this one and never written."""
    durability: Literal["process", "disk"]
    """When a store is complete: once the system has the bytes (process), or once the disk has them
    (disk). Default: "process".
    """
    revalidate: Literal["never", "ifExpired", "always", "http"]
    """When a stored image is revalidated with its server, unless a request says otherwise. Default:
    "never".
    """
    negativeCache: int
    """How long permanent failures are remembered, in seconds, unless a request says otherwise; 0
    for not at all. Default: 0.
    """
    verifyDecode: bool
    """Whether images are answered and kept only after they were decoded completely, unless a
    request says otherwise. Default: False.
    """
    keyRules: List[KeyRule]
    """Query parameters to ignore in keys that are URLs of certain hosts. The first rule that
    matches a host applies.
    """


class _HostRule(TypedDict):
    hosts: List[str]
    """The hosts that the rule applies to."""


class HostRule(_HostRule, total=False):
    """What is added to requests for these hosts; secrets read `…` in answers."""

    headers: Dict[str, str]
    """Header fields by name."""
    authorization: Authorization
    """The credentials."""
    clientCertificate: str
    """The file of a certificate (PEM)."""
    clientKey: str
    """The file of its private key (PEM)."""


URLRewrite = TypedDict("URLRewrite", {"from": str, "to": str})
"""Requests for URLs that begin with `from` go to `to` instead."""


class DownloaderSettings(TypedDict, total=False):
    """Settings of the downloader of all caches; what is left out stays as it was."""

    maxDownloadsPerHost: int
    """The largest number of downloads from one host at the same time. Default: 4."""
    maxConcurrentDownloads: int
    """The largest number of downloads at the same time. Default: 64."""
    downloadOrder: Literal["fifo", "lifo"]
    """The order of downloads of equal priority: the oldest (fifo) or the newest (lifo) first.
    Default: "fifo".
    """
    downloadsPerSecond: int
    """The number of downloads that may start per second after a first burst; 0 for no limit.
    Default: 0.
    """
    downloadsPerSecondPerHost: int
    """The same for one host; 0 for no limit. Default: 0."""
    downloadBurst: int
    """The number of downloads that may start at once before the limits per second apply. Default:
    25.
    """
    timeout: float
    """Seconds to wait for the next bytes, unless a request says otherwise. Default: 15."""
    hostRules: List[HostRule]
    """What is added to requests to certain hosts, unless the request sets it itself: headers,
    authorization, a client certificate. Secrets are not shown.
    """
    urlRewrites: List[URLRewrite]
    """Requests for URLs that begin with from go to to instead; the first rule that matches applies.
    """


class CacheSettings(TypedDict):
    """The settings in force of one cache."""

    memory: Union[Literal[False], MemorySettings]
    """The memory tier; False when it is turned off."""
    disk: DiskSettings
    """The disk tier."""


class RemoteSettings(TypedDict, total=False):
    url: Optional[str]
    """The URL of the tier; None for none. Credentials in it are not shown."""
    mode: Literal["read-write", "read-only", "write-only"]
    """Whether the tier is read, written or both. Default: "read-write"."""
    timeout: float
    """The longest time that a request waits for the tier, in seconds. Default: 0.3."""
    maxBytes: int
    """The largest image in the tier, in bytes. Default: 16777216."""


class ConfiguredSettings(CacheSettings):
    """The settings in force of one cache, and of the downloader of all."""

    downloader: DownloaderSettings
    """The downloader of all caches."""
    remote: RemoteSettings
    """The remote tier of all caches."""
    options: ImageOptions
    """The options of requests that leave them out, where they are not as built in."""
