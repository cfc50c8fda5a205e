"""What can go wrong, one exception class per code of the protocol."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Type


class HalcyonError(Exception):
    """Any failure of a call, of the server or of this client.

    `code` is the number of the protocol and never changes its meaning; it is 0 when the failure
    was found by this client and no answer of the server carries it. `name` is the same in words,
    `message` a sentence to show to a user, `data` whatever else the server said.
    """

    def __init__(
        self, code: int, name: str, message: str, data: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.message = message
        self.data: Mapping[str, Any] = {} if data is None else data

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_rebuilt, (type(self), self.code, self.name, self.message, dict(self.data)))

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without a change; False when nobody said."""
        return bool(self.data.get("retryable", False))

    @property
    def hint(self) -> Optional[str]:
        """What to do about it, in a sentence, or None when the server gave no hint."""
        hint = self.data.get("hint")
        return hint if isinstance(hint, str) else None


class ParseError(HalcyonError):
    """The server could not read a message as JSON (-32700)."""


class InvalidRequest(HalcyonError):
    """A message was JSON but no request, or came after `shutdown` (-32600)."""


class MethodNotFound(HalcyonError):
    """The server has no method of that name (-32601)."""


class InvalidParams(HalcyonError):
    """A parameter or option is missing, misspelt or of the wrong type (-32602)."""


class InternalError(HalcyonError):
    """The server failed in a way it did not foresee (-32603)."""


class RequestCancelled(HalcyonError):
    """The call was cancelled by its caller (-32800)."""


class ServerCancelled(HalcyonError):
    """The server was shutting down and gave up the call (-32802)."""


class BadData(HalcyonError):
    """The bytes are no image the engine can read, or are cut off (10000)."""


class NotModified(HalcyonError):
    """The origin answered 304 to a request that carried no validator (10001)."""


class InvalidStatusCode(HalcyonError):
    """The origin answered with a status that is not accepted (10002)."""

    @property
    def status_code(self) -> Optional[int]:
        """The HTTP status the origin answered, or None when the server did not say."""
        status = self.data.get("statusCode")
        return status if isinstance(status, int) else None


class NotCached(HalcyonError):
    """`onlyFromCache` was asked for and nothing was there (10003)."""


class ProcessingFailed(HalcyonError):
    """A processor could not do its work (10004)."""


class LimitExceeded(HalcyonError):
    """Something was larger than a limit allows (10005)."""

    @property
    def limit(self) -> Optional[str]:
        """The name of the setting that set the limit, or None when the server did not say."""
        limit = self.data.get("limit")
        return limit if isinstance(limit, str) else None


class InvalidURL(HalcyonError):
    """The URL is none, has no host, or its scheme is not allowed (20000)."""


class ConnectionFailed(HalcyonError):
    """The name could not be resolved, or the connection was refused, reset or closed early (20001)."""


class TimedOut(HalcyonError, TimeoutError):
    """The origin was slower than `timeout` or `deadline` of the options allow (20002)."""


class TLSFailed(HalcyonError):
    """The certificate or the handshake of the origin was refused (20003)."""


class ForbiddenAddress(HalcyonError):
    """The configuration does not allow that host or network (20004)."""


class DownloadCancelledBeforeStarting(HalcyonError):
    """A delegate, asked about the download, called it off (30000)."""


class StorageFailed(HalcyonError):
    """The cache could not be written: disk full, no permission, read-only (40000)."""


class CallTimedOut(TimedOut):
    """The answer did not come within the `timeout=` of the call, which was then cancelled.

    Measured by this client, so `code` is 0; the server's own time-outs are plain `TimedOut`.
    """

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "callTimedOut", message, data)


class ServerGone(HalcyonError):
    """The server ended, or the client was closed, before the answer came.

    Every call that was open fails with it, and so does every later call of the same client:
    make a new client to go on.
    """

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "serverGone", message, data)

    @property
    def exit_status(self) -> Optional[int]:
        """The exit status, negative for the number of a signal, or None when not known."""
        status = self.data.get("exitStatus")
        return status if isinstance(status, int) else None


class BinaryNotFound(HalcyonError):
    """No halcyon executable was found, or the one found cannot be started."""

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "binaryNotFound", message, data)


_BY_CODE: Dict[int, Tuple[str, Type[HalcyonError]]] = {
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
    20000: ("invalidURL", InvalidURL),
    20001: ("connectionFailed", ConnectionFailed),
    20002: ("timedOut", TimedOut),
    20003: ("tlsFailed", TLSFailed),
    20004: ("forbiddenAddress", ForbiddenAddress),
    30000: ("downloadCancelledBeforeStarting", DownloadCancelledBeforeStarting),
    40000: ("storageFailed", StorageFailed),
}


def error_from_wire(error: Mapping[str, Any]) -> HalcyonError:
    """The exception for the `error` member of a response; a plain HalcyonError for a new code."""
    code = error.get("code")
    if not isinstance(code, int):
        code = 0
    name, kind = _BY_CODE.get(code, ("error%d" % code, HalcyonError))
    message = error.get("message")
    data = error.get("data")
    if isinstance(data, dict):
        told = data.get("name")
        if isinstance(told, str):
            name = told
    elif data is not None:
        data = {"data": data}
    return kind(code, name, message if isinstance(message, str) else name, data)


def _rebuilt(
    kind: Type[HalcyonError], code: int, name: str, message: str, data: Dict[str, Any]
) -> HalcyonError:
    error = kind.__new__(kind, message)
    HalcyonError.__init__(error, code, name, message, data)
    return error
