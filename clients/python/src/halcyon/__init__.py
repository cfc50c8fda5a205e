"""Images from anywhere, cached: the Python client of the halcyon server.

`Client` and `AsyncClient` start the server and speak JSON-RPC 2.0 with it over its standard input
and output. See README.md for a first example.
"""

from .async_client import AsyncClient
from .calls import PendingCall, ProgressCallback
from .client import Client
from .errors import (
    BadData,
    BinaryNotFound,
    CallTimedOut,
    ConnectionFailed,
    DownloadCancelledBeforeStarting,
    ForbiddenAddress,
    HalcyonError,
    InternalError,
    InvalidParams,
    InvalidRequest,
    InvalidStatusCode,
    InvalidURL,
    LimitExceeded,
    MethodNotFound,
    NotCached,
    NotModified,
    ParseError,
    ProcessingFailed,
    RequestCancelled,
    ServerCancelled,
    ServerGone,
    StorageFailed,
    TimedOut,
    TLSFailed,
)
from .options import As, Authorization, Expiration, ExtendingExpiration, ImageOptions, Processors, Retry
from .process import find_binary
from .results import (
    CachedResult,
    CachePathResult,
    CacheType,
    ClearResult,
    DiskSize,
    ImageResult,
    MemorySize,
    Progress,
    RemoveResult,
    SizeResult,
)

__version__ = "0.1.0"

__all__ = [
    "As",
    "AsyncClient",
    "Authorization",
    "BadData",
    "BinaryNotFound",
    "CacheType",
    "CachePathResult",
    "CachedResult",
    "CallTimedOut",
    "ClearResult",
    "Client",
    "ConnectionFailed",
    "DiskSize",
    "DownloadCancelledBeforeStarting",
    "Expiration",
    "ExtendingExpiration",
    "ForbiddenAddress",
    "HalcyonError",
    "ImageOptions",
    "ImageResult",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "InvalidStatusCode",
    "InvalidURL",
    "LimitExceeded",
    "MemorySize",
    "MethodNotFound",
    "NotCached",
    "NotModified",
    "ParseError",
    "PendingCall",
    "ProcessingFailed",
    "Processors",
    "Progress",
    "ProgressCallback",
    "RemoveResult",
    "RequestCancelled",
    "Retry",
    "ServerCancelled",
    "ServerGone",
    "SizeResult",
    "StorageFailed",
    "TLSFailed",
    "TimedOut",
    "find_binary",
]
