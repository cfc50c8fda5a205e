"""Deciding about downloads while they run: what the server asks, and how it is answered."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, Mapping, Optional

from .framing import limited, to_json

Delegate = Callable[[Any], Any]
"""Answers one question: takes its parameters, such as a `DownloadDraft`, and returns what the protocol wants, or None.

None vetoes for `downloader/modifyRequest` and stops for `downloader/redirect`; `{}` changes
nothing. For the others None leaves the matter to the server. So does an exception, which is logged.
"""

Delegates = Mapping[str, Delegate]
"""Delegates by the names of their questions, such as `downloader/modifyRequest`."""

AsyncDelegates = Mapping[str, Callable[[Any], Any]]
"""The same for asyncio: plain functions, called on the event loop, or coroutine functions."""

log = logging.getLogger("halcyon")


def declaration(delegates: Delegates) -> str:
    """The parameters of `initialize` that say what is answered. Raises TypeError for no function."""
    for name, delegate in delegates.items():
        if not callable(delegate):
            raise TypeError("The delegate %s is not callable." % name)
    return to_json({"capabilities": {"delegates": list(delegates)}})


def result_frame(identifier: Any, result: Any) -> bytes:
    """The answer to a question. Raises TypeError, ValueError or LimitExceeded for what cannot be sent."""
    return _frame({"jsonrpc": "2.0", "id": identifier, "result": result})


def failure_frame(identifier: Any, method: str, error: Optional[BaseException]) -> bytes:
    """The answer to a question that nobody answers, or that a delegate failed to; the failure is logged."""
    if error is None:
        failure = {"code": -32601, "message": "This client does not answer %s." % method}
    else:
        log.warning("The delegate %s failed.", method, exc_info=error)
        failure = {"code": -32603, "message": _told(error)}
    return _frame({"jsonrpc": "2.0", "id": identifier, "error": failure})


def params_of(question: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters of a question."""
    params = question.get("params")
    return params if isinstance(params, dict) else {}


def _told(error: BaseException) -> str:
    try:
        told = str(error)[:1000]
    except Exception:
        told = ""
    return told.encode("utf-8", "replace").decode() or type(error).__name__


def _frame(message: Dict[str, Any]) -> bytes:
    return limited(to_json(message).encode() + b"\n")
