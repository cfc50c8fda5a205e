"""The base class of all failures, and the additional properties of some."""

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
        """True when the same call may succeed later without a change; False when unknown."""
        return bool(self.data.get("retryable", False))

    @property
    def hint(self) -> Optional[str]:
        """A suggestion for the user, in a sentence, or None when the server gave no hint."""
        hint = self.data.get("hint")
        return hint if isinstance(hint, str) else None


class StatusFailure(HalcyonError):
    """A failure that an HTTP status is the cause of."""

    @property
    def status_code(self) -> Optional[int]:
        """The HTTP status the origin answered, or None when the server did not say."""
        status = self.data.get("statusCode")
        return status if isinstance(status, int) else None


class LimitFailure(HalcyonError):
    """A failure that a limit is the cause of."""

    @property
    def limit(self) -> Optional[str]:
        """The name of the setting that set the limit, or None when the server did not say."""
        limit = self.data.get("limit")
        return limit if isinstance(limit, str) else None


CLOSED = "This client is closed; make a new one."
"""The message of the error of a call of a closed client."""
FORKED = "A client cannot be used after fork: it belongs to the parent. Make a new one."
"""The message of the error of a call in a forked child."""


class NotSent(Exception):
    """The server had ended before a request was sent: another server may do it. Never leaves this client."""


def _rebuilt(
    kind: Type[HalcyonError], code: int, name: str, message: str, data: Dict[str, Any]
) -> HalcyonError:
    error = kind.__new__(kind, message)
    HalcyonError.__init__(error, code, name, message, data)
    return error
