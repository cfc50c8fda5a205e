"""The errors: those with codes of the protocol, and those that only a client can detect."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Mapping, Optional, Sequence

from . import codes
from .codes import *
from .failures import HalcyonError

__all__ = ["BinaryNotFound", "CallCancelled", "CallTimedOut", "HalcyonError", "ServerGone"]


class CallTimedOut(TimedOut, concurrent.futures.TimeoutError):
    """The answer did not come within the `timeout=` of the call, which was then cancelled.

    Measured by this client, so `code` is 0; the server's own time-outs are plain `TimedOut`.
    """

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "callTimedOut", message, data)

    @classmethod
    def after(cls, method: str, seconds: Optional[float]) -> "CallTimedOut":
        """The error of a call of `method` that had `seconds` to be answered: those of the caller's `timeout=`."""
        return cls("%s was not answered within %g seconds." % (method, seconds or 0))


class CallCancelled(RequestCancelled, concurrent.futures.CancelledError):
    """A PendingCall was cancelled here, by its `cancel()`."""

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(-32800, "requestCancelled", message, data)


class ServerGone(HalcyonError):
    """The server ended before the answer came, or cannot be started again yet, or the client was closed.

    The calls that were open fail with it. The next call starts another server: at once, or, when
    one after the other died soon after its start, not before `retry_after` seconds have passed.
    """

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "serverGone", message, data)

    @property
    def exit_status(self) -> Optional[int]:
        """The exit status, negative for the number of a signal, or None when not known."""
        status = self.data.get("exitStatus")
        return status if isinstance(status, int) else None

    @property
    def signal(self) -> Optional[str]:
        """The name of the signal that ended the server, such as "SIGKILL", or None."""
        signal = self.data.get("signal")
        return signal if isinstance(signal, str) else None

    @property
    def stderr(self) -> Sequence[str]:
        """The last lines that the server wrote to its standard error, ten at most."""
        return tuple(self.data.get("stderr", ()))

    @property
    def retry_after(self) -> Optional[float]:
        """The seconds until another server may be started; None when the next call starts one."""
        seconds = self.data.get("retryAfter")
        return float(seconds) if isinstance(seconds, (int, float)) else None


class BinaryNotFound(HalcyonError):
    """No halcyon executable was found, or the one found cannot be started."""

    def __init__(self, message: str, data: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(0, "binaryNotFound", message, data)


def error_from_wire(error: Mapping[str, Any]) -> HalcyonError:
    """The exception for the `error` member of a response; a plain HalcyonError for a new code."""
    code = error.get("code")
    if not isinstance(code, int):
        code = 0
    name, kind = codes.BY_CODE.get(code, ("error%d" % code, HalcyonError))
    message = error.get("message")
    data = error.get("data")
    if isinstance(data, dict):
        told = data.get("name")
        if isinstance(told, str):
            name = told
    elif data is not None:
        data = {"data": data}
    return kind(code, name, message if isinstance(message, str) else name, data)
