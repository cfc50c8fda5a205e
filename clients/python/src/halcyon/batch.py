"""Many requests in one write, answers in the order asked."""

from __future__ import annotations

import time
from typing import Any, Callable, List, Optional, TypeVar, Union

from .calls import Call
from .errors import HalcyonError
from .servers import Servers

T = TypeVar("T")

# Two windows are on their way at a time: the server always has work, and never more open
# requests than its limits allow, however long the list is.
WINDOW = 256
"""The number of requests of a batch that are sent in one write."""


class Batches:
    """Requests of `Client` for many images at once.

    There is one result for each item, in the order of the items. With `return_exceptions=True` an
    item that failed has its HalcyonError in the list; without it the first failure is raised and
    what is still open is cancelled. `timeout` is in seconds for the whole list.
    """

    _servers: Servers

    def _many(
        self,
        method: str,
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
    ) -> List[Union[T, HalcyonError]]:
        deadline = None if timeout is None else time.monotonic() + timeout
        results: List[Union[T, HalcyonError]] = []
        calls: List[Call[T]] = []
        try:
            for item in range(len(wires)):
                while len(calls) < min(item + WINDOW + 1, len(wires)):
                    window = wires[len(calls) : len(calls) + WINDOW]
                    calls += self._servers.requests(method, window, decode)
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                try:
                    results.append(calls[item].result(left))
                except HalcyonError as error:
                    if not return_exceptions:
                        raise
                    calls[item].cancel_if_open()
                    results.append(error)
            return results
        except BaseException:
            for call in calls[len(results) :]:
                call.cancel_if_open()
            raise
