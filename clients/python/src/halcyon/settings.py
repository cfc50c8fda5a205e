"""The settings of a cache, named as the protocol names them."""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict, Union

from .options import Authorization, Expiration, ExtendingExpiration


class MemorySettings(TypedDict, total=False):
    """Settings of the memory tier; what is left out stays as it was. Sizes are in bytes."""

    totalBytesLimit: int
    """The most memory holds; 0 holds nothing. Alone it also sets preferredBytesAfterPurge, to three fifths."""
    preferredBytesAfterPurge: int
    """What a purge leaves."""
    countLimit: int
    """The most images; 0 for no limit."""
    entryBytesLimit: Optional[int]
    """The most one image may take; None for a tenth of the limit."""
    expiration: Expiration
    extending: ExtendingExpiration
    weakRetention: bool


class KeyRule(TypedDict, total=False):
    """Query parameters that are left out of keys that are URLs of these hosts; names may end in `*`."""

    hosts: List[str]
    keepQuery: List[str]
    dropQuery: List[str]


class _Hosts(TypedDict):
    hosts: List[str]


class HostRule(_Hosts, total=False):
    """What is added to requests for these hosts; secrets read `…` in answers."""

    headers: Dict[str, str]
    authorization: Authorization
    clientCertificate: str
    clientKey: str


URLRewrite = TypedDict("URLRewrite", {"from": str, "to": str})
"""Requests for URLs that begin with `from` go to `to` instead."""


class DiskSettings(TypedDict, total=False):
    """Settings of the disk tier; what is left out stays as it was. Sizes are in bytes."""

    folder: str
    """An absolute path; it can be named until the cache is first used."""
    bytesLimit: int
    """The most the images take; 0 for no limit."""
    purgeRatio: float
    """What a purge leaves, as a part of the limit, 0…1."""
    freeSpaceFloor: Optional[int]
    """What stays free on the file system; None for a hundredth of it, at most 256 MiB."""
    expiration: Expiration
    expireBy: Literal["access", "modification"]
    pathExtension: str
    """"sniffed", "fromKey", "none", or any other 1 to 16 letters and digits for always the same."""
    fileNames: Literal["sha256", "md5"]
    readOnlyPaths: List[str]
    """Folders that are searched after this one and never written, as absolute paths."""
    durability: Literal["process", "disk"]
    revalidate: Literal["never", "ifExpired", "always", "http"]
    """Whether and when a stored image is checked with its server, unless a request says otherwise."""
    negativeCache: int
    """Seconds for which failures that would come again are remembered; 0 for not at all."""
    keyRules: List[KeyRule]


class DownloaderSettings(TypedDict, total=False):
    """Settings of the downloader of all caches; what is left out stays as it was."""

    maxDownloadsPerHost: int
    maxConcurrentDownloads: int
    downloadOrder: Literal["fifo", "lifo"]
    """Which of equal priority goes first: the oldest or the newest."""
    downloadsPerSecond: int
    """Downloads started a second, after a first burst; 0 for no limit."""
    downloadBurst: int
    """How many may start at once before `downloadsPerSecond`, or that of a host, counts."""
    downloadsPerSecondPerHost: int
    """Downloads started a second from one host; 0 for no limit."""
    hostRules: List[HostRule]
    urlRewrites: List[URLRewrite]
    timeout: float
    """Seconds to wait for the next bytes, unless a request says otherwise."""


class CacheSettings(TypedDict):
    """The settings in force of one cache; `memory` is False when that tier is switched off."""

    memory: Union[Literal[False], MemorySettings]
    disk: DiskSettings


class ConfiguredSettings(CacheSettings):
    """The settings in force of one cache, and of the downloader of all."""

    downloader: DownloaderSettings


class KnownCache(TypedDict):
    """A cache that is open, configured, or found in the cache folder."""

    name: str
    folder: str
    isOpen: bool
    settings: CacheSettings
