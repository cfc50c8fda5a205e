"""The synchronous client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Type, TypeVar

from . import requests as params_of
from .batch import BatchMethods
from .calls import PendingCall, ProgressCallback
from .care import CareMethods
from .delegates import Delegates, declaration
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
from .transport import Transport

T = TypeVar("T")


class Client(BatchMethods, CareMethods):
    """Starts a halcyon server and calls it; any number of threads may share one client.

    `binary` is the executable (default: the environment variable HALCYON_BIN, then `halcyon` on
    PATH), `cache_dir` the cache folder (default: the server's own), `args` further flags of
    `halcyon serve`, `env` variables set on top of this program's, `stderr` where the server's
    log goes. `delegates` decide about downloads while they run, one question at a time, on a thread
    of their own. Raises BinaryNotFound. Close it, or use it in a `with`; a client cannot be used after
    fork, where it stays the parent's: the child makes its own.

    Every method takes `timeout=`, the seconds to wait for the answer (default: for ever; the
    server has time-outs of its own, see ImageOptions); when it passes, the call is cancelled and
    CallTimedOut raised. All raise HalcyonError: a subclass for each code of the protocol, and
    ServerGone when the server ended. Ctrl-C while waiting cancels the call.
    """

    def __init__(
        self,
        *,
        binary: Optional[StrPath] = None,
        cache_dir: Optional[StrPath] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        stderr: Stderr = None,
        delegates: Optional[Delegates] = None,
    ) -> None:
        declared = declaration(delegates) if delegates else None
        process = ServerProcess(binary, cache_dir, args, env, stderr)
        self._transport = Transport(process)
        self.pid = process.pid
        """The server's process id."""
        if delegates and declared is not None:
            self._transport.answer_with(dict(delegates))
            try:
                self._transport.request("initialize", declared).result()
            except BaseException:
                self._transport.close(0)
                raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self, grace: float = 5.0) -> None:
        """Ends the server: closes its input, waits, then SIGTERM, then SIGKILL.

        Open calls have `grace` seconds to be answered; those that are not raise ServerCancelled
        or ServerGone. Closing twice is allowed, and from any thread.
        """
        self._transport.close(grace)

    # Images

    def retrieve(
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
        """Returns an image, from the cache when it is there, else downloaded and cached.

        `url` is http, https, file or data; `key` names the entry (default: the URL as given);
        `as_` says whether the answer has the file's path (default), the bytes, both or neither.
        `progress` is called on this thread. Raises InvalidURL, ConnectionFailed, TimedOut,
        InvalidStatusCode, BadData, LimitExceeded (with bytes: over 16 MiB) and others.
        """
        wire = params_of.retrieve(url, key, cache, processors, options, as_)
        if timeout is None and progress is None:
            return self._transport.call("retrieve", wire, image_from_wire)
        call = self._transport.request("retrieve", wire, image_from_wire, progress)
        return _answer(call, timeout)

    def store(
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
        """Puts an image into the cache under `key`, from a local file (fast) or from bytes.

        The file is copied, and may go afterwards. With `overwrite=False` an image that is there
        stays; `metadata` is kept with it for `inspect` and `list_entries`. Raises BadData for bytes that are no image,
        StorageFailed when the disk refuses, LimitExceeded for `data` beyond about 48 MiB.
        """
        wire = params_of.store(
            key, path, data, cache, processors, options, overwrite, metadata
        )
        return self._call("store", wire, image_from_wire, timeout)

    def remove(
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
        """Takes an image out of memory, disk or both; removing what is not there is no error.

        `all_variants` takes every processed form of the key as well.
        """
        wire = params_of.remove(
            key, cache, processors, from_memory, from_disk, all_variants, options
        )
        return self._call("remove", wire, remove_from_wire, timeout)

    def is_cached(
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
        return self._call("isCached", wire, cached_from_wire, timeout)

    def cache_path(
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
        return self._call("cachePath", wire, path_from_wire, timeout)

    def calculate_size(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> SizeResult:
        """Counts the images and bytes of a cache, on disk and in memory."""
        return self._call("calculateSize", params_of.of_cache(cache), size_from_wire, timeout)

    def clear(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache, from memory and disk; tells what went."""
        return self._call("clear", params_of.of_cache(cache), clear_from_wire, timeout)

    def clear_memory(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache from memory; the disk keeps them."""
        return self._call("clearMemory", params_of.of_cache(cache), clear_from_wire, timeout)

    def clear_disk(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> ClearResult:
        """Removes every image of a cache from disk; memory keeps them."""
        return self._call("clearDisk", params_of.of_cache(cache), clear_from_wire, timeout)

    # The server

    def stats(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The server's counters, under the protocol's names."""
        return self._call("stats", "{}", dict, timeout)

    def ping(self, *, timeout: Optional[float] = None) -> None:
        """Waits for a sign of life. Raises ServerGone when there is none to come."""
        self._call("ping", "{}", _nothing, timeout)

    def discover(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The OpenRPC document that describes every method of the server."""
        return self._call("rpc.discover", "{}", dict, timeout)

    # Anything else

    def call(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls any method and returns its result as JSON gave it.

        `params` are a mapping, or a sequence by position (not with `progress`).
        """
        return _answer(self.submit(method, params, progress=progress), timeout)

    def notify(self, method: str, params: Params = None) -> None:
        """Sends a notification, which the server never answers."""
        self._transport.notify(method, params_of.text(params))

    def submit(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
    ) -> "PendingCall[Any]":
        """Sends a call and returns at once; `.result()` waits, `.cancel()` gives it up."""
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return self._transport.request(method, wire, None, progress)

    def _call(
        self, method: str, wire: str, decode: Callable[[Any], T], timeout: Optional[float]
    ) -> T:
        if timeout is None:
            return self._transport.call(method, wire, decode)
        return _answer(self._transport.request(method, wire, decode), timeout)


def _answer(call: "PendingCall[T]", timeout: Optional[float]) -> T:
    try:
        return call.result(timeout)
    except BaseException:
        # Too late, Ctrl-C, or a progress callback that raised: nobody waits for it any more.
        call.cancel_if_open()
        raise


def _nothing(_: Any) -> None:
    return None
