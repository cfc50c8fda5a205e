"""Many requests, their answers in the order asked or as they come."""

from __future__ import annotations

import itertools
import queue
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypeVar, Union

from .calls import Call, PendingCall
from .errors import CallTimedOut, HalcyonError
from .locks import deadline_in, seconds_until
from .notices import Progress
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
        deadline = deadline_in(timeout)
        results: List[Union[T, HalcyonError]] = []
        calls: List[Call[T]] = []
        try:
            for item in range(len(wires)):
                while len(calls) < min(item + WINDOW + 1, len(wires)):
                    window = wires[len(calls) : len(calls) + WINDOW]
                    calls += self._servers.requests(method, window, decode, deadline)
                try:
                    if not calls[item].wait_until(deadline):
                        raise CallTimedOut.after(method, timeout)
                    results.append(calls[item].result())
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

    def _as_completed(
        self,
        method: str,
        items: List[str],
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
        on_progress: Optional[Callable[[str, Progress], object]],
    ) -> Iterator[Tuple[str, Union[T, HalcyonError]]]:
        deadline = deadline_in(timeout)
        news: "queue.SimpleQueue[Tuple[int, Union[Progress, HalcyonError, PendingCall[T]]]]"
        news = queue.SimpleQueue()
        open_calls: Dict[int, Optional[PendingCall[T]]] = {}
        unsent = iter(range(len(items)))

        def send(place: int) -> None:
            open_calls[place] = None
            report = None if on_progress is None else lambda value: news.put((place, value))
            try:
                call = self._servers.submit(method, wires[place], decode, report)
            except HalcyonError as error:
                news.put((place, error))
            else:
                open_calls[place] = call
                call.add_done_callback(lambda _: news.put((place, call)))

        try:
            for place in itertools.islice(unsent, WINDOW):
                send(place)
            while open_calls:
                left = None if deadline is None else seconds_until(deadline)
                try:
                    place, found = news.get(timeout=left)
                except queue.Empty:
                    place = next(iter(open_calls))
                    found = CallTimedOut.after(method, timeout)
                if place not in open_calls:  # it came too late
                    continue
                if isinstance(found, Progress):
                    if on_progress is not None:
                        on_progress(items[place], found)
                    continue
                call = open_calls.pop(place)
                result: Union[T, HalcyonError]
                try:
                    if isinstance(found, HalcyonError):
                        raise found
                    result = found.result()
                except HalcyonError as error:
                    if call is not None:
                        call.cancel()  # one that took too long
                    if not return_exceptions:
                        raise
                    result = error
                for following in itertools.islice(unsent, 1):
                    send(following)
                yield items[place], result
        finally:
            for call in open_calls.values():
                if call is not None:
                    call.cancel()
