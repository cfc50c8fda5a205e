"""The asynchronous client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Sequence, Type

from . import requests as params_of
from .async_batch import AsyncBatchMethods
from .async_care import AsyncCareMethods
from .async_transport import AsyncTransport
from .calls import ProgressCallback
from .delegates import AsyncDelegates, declaration
from .errors import ServerGone
from .options import As, ImageOptions, Processors
from .process import ServerProcess, Stderr, StrPath
from .requests import Bytes, Params
from .results import (
    CachedResult,
    CachePathResult,
    ClearResult,
    ImageResult,
    RemoveResult,
    SizeResult,
    cached_from_wire,
    clear_from_wire,
    image_from_wire,
    path_from_wire,
    remove_from_wire,
    size_from_wire,
)


class AsyncClient(AsyncBatchMethods, AsyncCareMethods):
    """Starts a halcyon server and calls it from asyncio; many tasks may share one client.

    Takes what `Client` takes. The server starts with `async with`, or with `await start()`, and
    the client belongs to the event loop that runs then. Cancelling a task that waits for an answer
    cancels the request. Progress callbacks are plain functions, called on the event loop; what
    they raise is raised by the call. Delegates may be coroutine functions. Not usable after fork.
    """

    def __init__(
        self,
        *,
        binary: Optional[StrPath] = None,
        cache_dir: Optional[StrPath] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        stderr: Stderr = None,
        delegates: Optional[AsyncDelegates] = None,
    ) -> None:
        self._delegates = dict(delegates or {})
        self._declaration = declaration(self._delegates)
        self._arguments = (binary, cache_dir, tuple(args), env, stderr)
        self._opened: Optional[AsyncTransport] = None
        self.pid: Optional[int] = None
        """The server's process id, None before `start`."""

    async def start(self) -> "AsyncClient":
        """Starts the server, once, and returns this client. Raises BinaryNotFound."""
        if self._opened is None:
            process = ServerProcess(*self._arguments)
            self.pid = process.pid
            self._opened = await AsyncTransport.open(process)
            if self._delegates:
                self._opened.answer_with(self._delegates)
                try:
                    await self._opened.request("initialize", self._declaration)
                except BaseException:
                    await self._opened.close(0)
                    raise
        return self

    async def __aenter__(self) -> "AsyncClient":
        return await self.start()

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self, grace: float = 5.0) -> None:
        """Ends the server: closes its input, waits `grace` seconds, then SIGTERM, then SIGKILL."""
        if self._opened is not None:
            await self._opened.close(grace)

    @property
    def _transport(self) -> AsyncTransport:
        if self._opened is None:
            raise ServerGone("This client was not started: use `async with`, or await start().")
        return self._opened

    # Images

    async def retrieve(
        self,
        url: str,
        *,
        key: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        as_: As = "path",
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> ImageResult:
        """Returns an image, from the cache or downloaded now; as `Client.retrieve`."""
        wire = params_of.retrieve(url, key, cache, processors, options, as_)
        return image_from_wire(await self._transport.request("retrieve", wire, progress, timeout))

    async def store(
        self,
        key: str,
        *,
        path: Optional[StrPath] = None,
        data: Optional[Bytes] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        overwrite: bool = True,
        metadata: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> ImageResult:
        """Puts an image into the cache, from a file or from bytes; as `Client.store`."""
        wire = params_of.store(
            key, path, data, cache, processors, options, overwrite, metadata
        )
        return image_from_wire(await self._transport.request("store", wire, None, timeout))

    async def remove(
        self,
        key: str,
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        from_memory: bool = True,
        from_disk: bool = True,
        all_variants: bool = False,
        timeout: Optional[float] = None,
    ) -> RemoveResult:
        """Takes an image out of memory, disk or both; as `Client.remove`."""
        wire = params_of.remove(
            key, cache, processors, from_memory, from_disk, all_variants, options
        )
        return remove_from_wire(await self._transport.request("remove", wire, None, timeout))

    async def is_cached(
        self,
        key: str,
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> CachedResult:
        """Tells whether and where an image is cached, without loading it."""
        wire = params_of.lookup(key, cache, processors, options)
        return cached_from_wire(await self._transport.request("isCached", wire, None, timeout))

    async def cache_path(
        self,
        key: str,
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> CachePathResult:
        """Tells the file an image has in the cache, or would have."""
        wire = params_of.lookup(key, cache, processors, options)
        return path_from_wire(await self._transport.request("cachePath", wire, None, timeout))

    async def calculate_size(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> SizeResult:
        """Counts the images and bytes of a cache, on disk and in memory."""
        wire = params_of.of_cache(cache)
        return size_from_wire(await self._transport.request("calculateSize", wire, None, timeout))

    async def clear(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache, from memory and disk; tells what went."""
        wire = params_of.of_cache(cache)
        return clear_from_wire(await self._transport.request("clear", wire, None, timeout))

    async def clear_memory(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache from memory; the disk keeps them."""
        wire = params_of.of_cache(cache)
        return clear_from_wire(await self._transport.request("clearMemory", wire, None, timeout))

    async def clear_disk(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache from disk; memory keeps them."""
        wire = params_of.of_cache(cache)
        return clear_from_wire(await self._transport.request("clearDisk", wire, None, timeout))

    # The server, and anything else

    async def stats(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The server's counters, under the protocol's names."""
        return dict(await self._transport.request("stats", "{}", None, timeout))

    async def ping(self, *, timeout: Optional[float] = None) -> None:
        """Waits for a sign of life. Raises ServerGone when there is none to come."""
        await self._transport.request("ping", "{}", None, timeout)

    async def discover(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The OpenRPC document that describes every method of the server."""
        return dict(await self._transport.request("rpc.discover", "{}", None, timeout))

    async def call(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls any method and returns its result as JSON gave it; as `Client.call`."""
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return await self._transport.request(method, wire, progress, timeout)

    async def notify(self, method: str, params: Params = None) -> None:
        """Sends a notification, which the server never answers."""
        await self._transport.notify(method, params_of.text(params))
