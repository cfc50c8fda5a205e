"""The settings of caches, named as the protocol names them.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, TypedDict, Union

from .options import Authorization, Expiration, ExtendingExpiration

__all__ = [
    "CacheSettings",
    "ConfiguredSettings",
    "DiskSettings",
    "DownloaderSettings",
    "HostRule",
    "KeyRule",
    "MemorySettings",
    "URLRewrite",
]


class MemorySettings(TypedDict, total=False):
    """Settings of the memory tier; what is left out stays as it was."""

    totalBytesLimit: int
    """The most memory holds, in bytes; 0 holds nothing. Default: 104857600."""
    preferredBytesAfterPurge: int
    """What a purge leaves, in bytes; setting totalBytesLimit alone makes it three fifths of that.
    Default: 62914560.
    """
    countLimit: int
    """The most images; 0 for no limit. Default: 0."""
    entryBytesLimit: Optional[int]
    """The most one image may take, in bytes; None for a tenth of the limit."""
    expiration: Expiration
    """How long an image stays in memory. Default: {"seconds": 300}."""
    extending: ExtendingExpiration
    """What a use does to that: cacheTime begins it anew, none leaves it. Default: "cacheTime"."""
    weakRetention: bool
    """Whether an image that was purged is found as long as an answer with it is under way. Default:
    True.
    """


class KeyRule(TypedDict, total=False):
    """Query parameters that are left out of keys that are URLs of these hosts; names may end in
    `*`.
    """

    hosts: List[str]
    """The hosts that it counts for."""
    keepQuery: List[str]
    """The only parameters of a query that count."""
    dropQuery: List[str]
    """The parameters of a query that do not count."""


class DiskSettings(TypedDict, total=False):
    """Settings of the disk tier; what is left out stays as it was."""

    folder: str
    """The folder, an absolute path; it can be named until the cache is first used."""
    bytesLimit: int
    """The most the images take on disk, in bytes; 0 for no limit. Default: 2147483648."""
    purgeRatio: float
    """What a purge leaves, as a part of the limit. Default: 0.5."""
    freeSpaceFloor: Optional[int]
    """Bytes of the file system that stay free; None for a hundredth of it, 128 KiB (at most an
    eighth) to 256 MiB.
    """
    expiration: Expiration
    """How long an image stays on disk. Default: {"days": 7}."""
    expireBy: Literal["access", "modification"]
    """What that counts from: the last use (access) or the storing (modification). Default:
    "access".
    """
    pathExtension: str
    """The extension of files: of the format found (sniffed), of the key (fromKey), none, or any
    other text. Default: "sniffed".
    """
    fileNames: Literal["sha256", "md5"]
    """How files are named: by sha256 or md5 of the key. Default: "sha256"."""
    readOnlyPaths: List[str]
    """Absolute paths of folders that are searched after this one and never written."""
    durability: Literal["process", "disk"]
    """When a store is done: the system has the bytes (process), or the disk (disk). Default:
    "process".
    """
    revalidate: Literal["never", "ifExpired", "always", "http"]
    """Whether and when a stored image is checked with its server, unless a request says otherwise.
    Default: "never".
    """
    negativeCache: int
    """Seconds for which failures that would come again are remembered, unless a request says
    otherwise; 0 for not at all. Default: 0.
    """
    verifyDecode: bool
    """Whether images are only answered and kept once all of them has been decoded, unless a request
    says otherwise. Default: False.
    """
    keyRules: List[KeyRule]
    """Query parameters that make no other image: keys that are URLs of the hosts are kept without
    them. The first rule for a host counts.
    """


class _HostRule(TypedDict):
    hosts: List[str]
    """The hosts that it counts for."""


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
    """Downloads at once from one host. Default: 4."""
    maxConcurrentDownloads: int
    """Downloads at once in all. Default: 64."""
    downloadOrder: Literal["fifo", "lifo"]
    """Which of equal priority goes first: the oldest (fifo) or newest (lifo). Default: "fifo"."""
    downloadsPerSecond: int
    """Downloads started a second, after a first burst; 0 for no limit. Default: 0."""
    downloadsPerSecondPerHost: int
    """The same for one host; 0 for no limit. Default: 0."""
    downloadBurst: int
    """How many may start at once before downloadsPerSecond, or that of a host, counts. Default: 25.
    """
    timeout: float
    """Seconds to wait for the next bytes, unless a request says otherwise. Default: 15."""
    hostRules: List[HostRule]
    """What is added to requests for some hosts, where they say nothing else: headers,
    authorization, a client certificate. Secrets are not shown.
    """
    urlRewrites: List[URLRewrite]
    """Requests for URLs that begin with from go to to instead; the first counts."""


class CacheSettings(TypedDict):
    """The settings in force of one cache."""

    memory: Union[Literal[False], MemorySettings]
    """The memory tier; False when it is switched off."""
    disk: DiskSettings
    """The disk tier."""


class ConfiguredSettings(CacheSettings):
    """The settings in force of one cache, and of the downloader of all."""

    downloader: DownloaderSettings
    """The downloader of all caches."""
