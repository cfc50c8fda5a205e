"""What the server can answer instead of a result, one exception class per code.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Dict, Tuple, Type

from .failures import HalcyonError, LimitFailure, StatusFailure

__all__ = [
    "BadData",
    "ConnectionFailed",
    "DataModifyingFailed",
    "DownloadCancelledBeforeStarting",
    "ForbiddenAddress",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "InvalidStatusCode",
    "InvalidURL",
    "LimitExceeded",
    "MethodNotFound",
    "NotCached",
    "NotModified",
    "ParseError",
    "ProcessingFailed",
    "RequestCancelled",
    "ServerCancelled",
    "StorageFailed",
    "TimedOut",
    "TLSFailed",
    "UnreadableFile",
]


class ParseError(HalcyonError):
    """The server could not read a message as JSON (-32700)."""


class InvalidRequest(HalcyonError):
    """A message was JSON but no request, or came after shutdown (-32600)."""


class MethodNotFound(HalcyonError):
    """The server has no method of that name (-32601)."""


class InvalidParams(HalcyonError):
    """A parameter is missing, unknown, or of the wrong type (-32602)."""


class InternalError(HalcyonError):
    """Something went wrong inside the server (-32603)."""


class RequestCancelled(HalcyonError):
    """The request was cancelled (-32800)."""


class ServerCancelled(HalcyonError):
    """The server is shutting down (-32802)."""


class BadData(HalcyonError):
    """The bytes are not an image that the engine can read, or they are cut off (10000)."""


class NotModified(HalcyonError):
    """A 304 came to a request that carried no validator (10001)."""


class InvalidStatusCode(StatusFailure):
    """The server answered with a status that is not accepted (10002)."""


class NotCached(HalcyonError):
    """The cache does not have it, and nothing may be loaded for it (10003)."""


class ProcessingFailed(HalcyonError):
    """A processor could not do its work, or there is no codec worker (10004)."""


class LimitExceeded(LimitFailure):
    """A limit was exceeded; data.limit names it (10005)."""


class DataModifyingFailed(HalcyonError):
    """The downloaded bytes are not what dataModifier expects (10006)."""


class InvalidURL(HalcyonError):
    """The text is not a URL that may be loaded (20000)."""


class ConnectionFailed(HalcyonError):
    """The server could not be reached, or closed the connection early (20001)."""


class TimedOut(HalcyonError, TimeoutError):
    """No bytes came for too long, or the whole request took too long (20002)."""


class TLSFailed(HalcyonError):
    """The certificate or the handshake failed (20003)."""


class ForbiddenAddress(HalcyonError):
    """The configuration does not allow the host or the network (20004)."""


class UnreadableFile(HalcyonError):
    """There is no such file, or it cannot be read (20005)."""


class DownloadCancelledBeforeStarting(HalcyonError):
    """The client, asked about the request, wanted none to be sent (30000)."""


class StorageFailed(HalcyonError):
    """The cache folder cannot be used; data.hint says what to do (40000)."""


BY_CODE: Dict[int, Tuple[str, Type[HalcyonError]]] = {
    -32700: ("parseError", ParseError),
    -32600: ("invalidRequest", InvalidRequest),
    -32601: ("methodNotFound", MethodNotFound),
    -32602: ("invalidParams", InvalidParams),
    -32603: ("internalError", InternalError),
    -32800: ("requestCancelled", RequestCancelled),
    -32802: ("serverCancelled", ServerCancelled),
    10000: ("badData", BadData),
    10001: ("notModified", NotModified),
    10002: ("invalidStatusCode", InvalidStatusCode),
    10003: ("notCached", NotCached),
    10004: ("processingFailed", ProcessingFailed),
    10005: ("limitExceeded", LimitExceeded),
    10006: ("dataModifyingFailed", DataModifyingFailed),
    20000: ("invalidURL", InvalidURL),
    20001: ("connectionFailed", ConnectionFailed),
    20002: ("timedOut", TimedOut),
    20003: ("tlsFailed", TLSFailed),
    20004: ("forbiddenAddress", ForbiddenAddress),
    20005: ("unreadableFile", UnreadableFile),
    30000: ("downloadCancelledBeforeStarting", DownloadCancelledBeforeStarting),
    40000: ("storageFailed", StorageFailed),
}
"""The name and the class of each code."""

MESSAGE_LIMIT = 67108864
"""The most bytes of one message that the server reads; no message leaves this client beyond it."""
