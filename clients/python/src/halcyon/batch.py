"""The batch form of the lookups: many requests in one write, answers in the order asked."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterable, List, Literal, Optional, TypeVar, Union, overload

from . import requests as params_of
from .calls import PendingCall
from .errors import HalcyonError
from .options import As, ImageOptions, Processors
from .results import (
    CachedResult,
    CachePathResult,
    ImageResult,
    cached_from_wire,
    image_from_wire,
    path_from_wire,
)
from .transport import Transport

T = TypeVar("T")

# Two windows are on their way at a time: the server always has work, and never more open
# requests than its limits allow, however long the list is.
WINDOW = 256
"""How many requests of a batch go out in one write."""


class BatchMethods:
    """What `Client` can ask for many images at once.

    Each method returns one result for each item, in the order of the items. With
    `return_exceptions=True` an item that failed has its HalcyonError in the list; without it the
    first failure is raised and what is still open is cancelled. `timeout` is in seconds for the
    whole list.
    """

    _transport: Transport

    @overload
    def retrieve_many(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        as_: As = ...,
        timeout: Optional[float] = ...,
        return_exceptions: Literal[False] = ...,
    ) -> List[ImageResult]: ...

    @overload
    def retrieve_many(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        as_: As = ...,
        timeout: Optional[float] = ...,
        return_exceptions: bool,
    ) -> List[Union[ImageResult, HalcyonError]]: ...

    def retrieve_many(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        as_: As = "path",
        timeout: Optional[float] = None,
        return_exceptions: bool = False,
    ) -> Any:
        """`retrieve` for every URL; the server downloads as many at once as its limits allow."""
        wires = [params_of.retrieve(url, None, cache, processors, options, as_) for url in urls]
        return self._many("retrieve", wires, image_from_wire, timeout, return_exceptions)

    @overload
    def is_cached_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: Literal[False] = ...,
    ) -> List[CachedResult]: ...

    @overload
    def is_cached_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: bool,
    ) -> List[Union[CachedResult, HalcyonError]]: ...

    def is_cached_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
        return_exceptions: bool = False,
    ) -> Any:
        """`is_cached` for every key."""
        wires = [params_of.lookup(key, cache, processors, options) for key in keys]
        return self._many("isCached", wires, cached_from_wire, timeout, return_exceptions)

    @overload
    def cache_path_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: Literal[False] = ...,
    ) -> List[CachePathResult]: ...

    @overload
    def cache_path_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: bool,
    ) -> List[Union[CachePathResult, HalcyonError]]: ...

    def cache_path_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
        return_exceptions: bool = False,
    ) -> Any:
        """`cache_path` for every key."""
        wires = [params_of.lookup(key, cache, processors, options) for key in keys]
        return self._many("cachePath", wires, path_from_wire, timeout, return_exceptions)

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
        calls: List[PendingCall[T]] = []
        try:
            for item in range(len(wires)):
                while len(calls) < min(item + WINDOW + 1, len(wires)):
                    window = wires[len(calls) : len(calls) + WINDOW]
                    calls += self._transport.requests(method, window, decode)
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                try:
                    results.append(calls[item].result(left))
                except HalcyonError as error:
                    if not return_exceptions:
                        raise
                    calls[item].cancel()
                    results.append(error)
            return results
        except BaseException:
            for call in calls[len(results) :]:
                call.cancel()
            raise
