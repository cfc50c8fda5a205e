"""The batch form of the lookups for asyncio: many requests in one write, answers in order."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, Iterable, List, Literal, Optional, TypeVar, Union, overload

from . import requests as params_of
from .async_transport import AsyncTransport, Sent
from .batch import WINDOW
from .errors import CallTimedOut, HalcyonError
from .options import As, ImageOptions, Processors
from .results import (
    CachedResult,
    CachePathResult,
    ImageResult,
    cached_from_wire,
    image_from_wire,
    path_from_wire,
)

T = TypeVar("T")


class AsyncBatchMethods:
    """What `AsyncClient` can ask for many images at once.

    Each method returns one result for each item, in the order of the items. With
    `return_exceptions=True` an item that failed has its HalcyonError in the list; without it the
    first failure is raised and what is still open is cancelled. `timeout` is in seconds for the
    whole list.
    """

    @property
    def _transport(self) -> AsyncTransport:
        raise NotImplementedError

    @overload
    async def retrieve_many(
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
    async def retrieve_many(
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

    async def retrieve_many(
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
        return await self._many("retrieve", wires, image_from_wire, timeout, return_exceptions)

    @overload
    async def is_cached_many(
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
    async def is_cached_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: bool,
    ) -> List[Union[CachedResult, HalcyonError]]: ...

    async def is_cached_many(
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
        return await self._many("isCached", wires, cached_from_wire, timeout, return_exceptions)

    @overload
    async def cache_path_many(
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
    async def cache_path_many(
        self,
        keys: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        timeout: Optional[float] = ...,
        return_exceptions: bool,
    ) -> List[Union[CachePathResult, HalcyonError]]: ...

    async def cache_path_many(
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
        return await self._many("cachePath", wires, path_from_wire, timeout, return_exceptions)

    async def _many(
        self,
        method: str,
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
    ) -> List[Union[T, HalcyonError]]:
        transport = self._transport
        deadline = None if timeout is None else time.monotonic() + timeout
        results: List[Union[T, HalcyonError]] = []
        sent: List[Sent] = []
        try:
            for item in range(len(wires)):
                while len(sent) < min(item + WINDOW + 1, len(wires)):
                    sent += transport.requests(method, wires[len(sent) : len(sent) + WINDOW])
                    await transport.room()
                answer = sent[item].answer
                try:
                    if not answer.done():
                        left = None if deadline is None else max(0.0, deadline - time.monotonic())
                        await asyncio.wait({answer}, timeout=left)
                    if not answer.done():
                        raise CallTimedOut(
                            "%s was not answered within %g seconds." % (method, timeout or 0)
                        )
                    results.append(decode(answer.result()))
                except HalcyonError as error:
                    if not return_exceptions:
                        raise
                    transport.abandon(sent[item])
                    results.append(error)
            return results
        finally:
            for left_over in sent[len(results) :]:
                transport.abandon(left_over)
