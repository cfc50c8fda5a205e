"""The errors: those with codes of the protocol, and those that only a client can detect."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from . import codes
from .codes import *
from .failures import HalcyonError

__all__ = ["BinaryNotFound", "CallTimedOut", "HalcyonError", "ServerGone"]


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
