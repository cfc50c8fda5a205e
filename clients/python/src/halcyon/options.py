"""The options of `retrieve` and `store`, named as the protocol names them."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

As = Literal["path", "data", "both", "none", "dataUrl", "pixels"]
"""How an image is answered: where its file is, its bytes, both, neither, or as a data URL or raw
pixels, which are in `extra` under `dataUrl` and `pixels`."""

Processors = List[Dict[str, Any]]
"""Steps applied left to right, each an object with one field, the name of the processor."""


class ForSeconds(TypedDict):
    """A span of time in seconds."""

    seconds: float


class ForDays(TypedDict):
    """A span of time in days."""

    days: float


class UntilDate(TypedDict):
    """A point in time, as ISO 8601."""

    date: str


Expiration = Union[Literal["never", "expired"], ForSeconds, ForDays, UntilDate]
"""When an entry stops being valid, counted from when it was stored."""

ExtendingExpiration = Union[
    Literal["none", "cacheTime", "never", "expired"], ForSeconds, ForDays, UntilDate
]
"""What an access does to the expiration: nothing, the time it had at first, or a new one."""


class BasicCredentials(TypedDict):
    """User and password of HTTP basic authentication."""

    user: str
    password: str


class BasicAuthorization(TypedDict):
    """Sends `Authorization: Basic …`."""

    basic: BasicCredentials


class BearerAuthorization(TypedDict):
    """Sends `Authorization: Bearer …`."""

    bearer: str


Authorization = Union[BasicAuthorization, BearerAuthorization]


class ExponentialInterval(TypedDict):
    """A pause that doubles each time, from this many seconds."""

    exponential: float


class _RetryCount(TypedDict):
    maxRetries: int


class Retry(_RetryCount, total=False):
    """How often a failed download is tried again, and how long to wait before each try."""

    interval: Union[ForSeconds, ExponentialInterval]


class CacheSerializer(TypedDict, total=False):
    """How a processed image is written; the format is chosen by the result unless it is given."""

    format: Literal["png", "jpeg", "gif", "webp", "avif", "heic", "tiff"]
    quality: int
    lossless: bool
    progressive: bool
    background: str
    maxBytes: int
    stripMetadata: bool
    profile: Literal["keep", "sRGB"]


class ImageOptions(TypedDict, total=False):
    """Options of one call; what is left out has the server's default.

    Names and values are those of the protocol. An option the server does not know is answered
    with InvalidParams and the nearest name, never ignored.
    """

    # Cache
    forceRefresh: bool
    fromMemoryCacheOrRefresh: bool
    onlyFromCache: bool
    cacheMemoryOnly: bool
    waitForCache: bool
    memoryCacheExpiration: Expiration
    diskCacheExpiration: Expiration
    memoryCacheAccessExtendingExpiration: ExtendingExpiration
    diskCacheAccessExtendingExpiration: ExtendingExpiration
    forcedCacheFileExtension: str
    queryDataWhenInMemory: bool
    memory: bool
    originalCache: str
    lease: float
    revalidate: Literal["never", "ifExpired", "always", "http"]
    staleIfError: float
    offline: bool
    negativeCache: float
    # Download
    timeout: float
    deadline: float
    minBytesPerSecond: float
    downloadPriority: Union[float, Literal["veryLow", "low", "normal", "high", "veryHigh"]]
    onLastCancel: Literal["abort", "finish"]
    slot: str
    merge: bool
    headers: Dict[str, str]
    authorization: Authorization
    delegates: List[
        Literal[
            "downloader/modifyRequest",
            "downloader/redirect",
            "downloader/validateStatus",
            "downloader/challenge",
        ]
    ]
    redirect: Literal["follow", "same-origin", "none"]
    maxRedirects: int
    maxBytes: int
    validStatusCodes: List[int]
    acceptContentTypes: List[str]
    retry: Retry
    waitForConnectivity: float
    alternativeSources: List[str]
    hedgeAfter: float
    integrity: str
    # Image
    cacheOriginalImage: bool
    cacheSerializer: CacheSerializer
    onlyLoadFirstFrame: bool
    frame: int
    scaleDownLargeImages: bool
    scaleFactor: float
    preloadAllAnimationData: bool
    backgroundDecode: bool
    thumbHash: bool
    maxPixels: int
    maxFrames: int
    maxAnimationPixels: int
    decodeSeconds: float
    maxEntityBytes: int
    onFailureImage: str
