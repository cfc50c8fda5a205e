"""The methods of the asynchronous client.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import (
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Iterable,
    List,
    Literal,
    Mapping,
    Optional,
    overload,
    Tuple,
    TypeVar,
    Union,
)

from . import requests as params_of
from .calls import ProgressCallback
from .decoding import nothing
from .events import EventName
from .failures import HalcyonError
from .notices import Progress
from .options import As, ImageOptions, Processors
from .requests import Bytes, StrPath
from .results import (
    cache_path_result_from_wire,
    cache_settings_from_wire,
    cached_result_from_wire,
    CachedResult,
    CachePathResult,
    caches_from_wire,
    cancel_all_from_wire,
    clean_result_from_wire,
    CleanResult,
    clear_result_from_wire,
    ClearResult,
    configured_settings_from_wire,
    document_from_wire,
    download_result_from_wire,
    DownloadResult,
    entry_details_from_wire,
    EntryDetails,
    Explanation,
    explanation_from_wire,
    forget_failures_from_wire,
    image_result_from_wire,
    ImageResult,
    KnownCache,
    list_failures_from_wire,
    page_from_wire,
    pause_state_from_wire,
    PauseState,
    PictureFormat,
    prefetch_result_from_wire,
    PrefetchResult,
    probe_result_from_wire,
    ProbeResult,
    RememberedFailure,
    remote_check_result_from_wire,
    RemoteCheckResult,
    remove_result_from_wire,
    RemoveResult,
    size_result_from_wire,
    SizeResult,
    Stats,
    stats_from_wire,
    store_result_from_wire,
    StoreResult,
    subscribe_from_wire,
    unsubscribe_from_wire,
    verify_result_from_wire,
    VerifyResult,
)
from .settings import (
    CacheSettings,
    ConfiguredSettings,
    DiskSettings,
    DownloaderSettings,
    MemorySettings,
    RemoteSettings,
)

T = TypeVar("T")


class AsyncMethods:
    """The methods of `AsyncClient`, and what they are made with."""

    async def _call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float],
        progress: Optional[ProgressCallback] = None,
    ) -> T:
        raise NotImplementedError

    async def _many(
        self,
        method: str,
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
    ) -> List[Union[T, HalcyonError]]:
        raise NotImplementedError

    def _as_completed(
        self,
        method: str,
        items: List[str],
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
        on_progress: Optional[Callable[[str, Progress], object]],
    ) -> AsyncIterator[Tuple[str, Union[T, HalcyonError]]]:
        raise NotImplementedError

    async def retrieve(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        as_: As = "path",
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> ImageResult:
        """Returns an image from memory, from disk, or else from its URL, and caches it.

        Raises InvalidURL, ConnectionFailed, TimedOut, InvalidStatusCode, BadData, LimitExceeded
        (with bytes: over 16 MiB) and others.

        Args:
            url: Where the image is: an http, https, file or data URL. Without it, the image cached
                under key.
            key: The cache key; the URL without its fragment when left out. Alone, nothing is
                loaded.
            cache: The name of the cache.
            processors: The processing steps, in order.
            options: How to look up, load and keep the image.
            as_: What the result contains. One of "path", "data", "both", "none", "dataUrl",
                "pixels".
            progress: Called with reports of how far it is, at most about 10 a second.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "url": None if url is None else str(url),
                "key": key,
                "cache": cache,
                "processors": processors,
                "options": options,
                "as": None if as_ == "path" else as_,
            },
        )
        return await self._call("retrieve", wire, image_result_from_wire, timeout, progress)

    async def store(
        self,
        key: str,
        *,
        data: Optional[Bytes] = None,
        path: Optional[StrPath] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        overwrite: bool = True,
        metadata: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> StoreResult:
        """Puts an image into the cache.

        Either `path`, which is faster, or `data` is needed. A file is copied, and may go
        afterwards. Raises BadData for bytes that are not an image, StorageFailed when the disk
        refuses, LimitExceeded for `data` beyond about 48 MiB.

        Args:
            key: The cache key: any text.
            data: The bytes of the image; about 48 MiB at most. Give this or path.
            path: A file to copy from; a relative path counts from the working directory of this
                program.
            cache: The name of the cache.
            processors: The processing steps, in order.
            options: How to look up, load and keep the image.
            overwrite: Replace an image that is there.
            metadata: Metadata to keep with the image, for inspect and list.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.store(
            path,
            data,
            {
                "key": key,
                "cache": cache,
                "processors": processors,
                "options": options,
                "overwrite": None if overwrite else False,
                "metadata": None if metadata is None else dict(metadata),
            },
        )
        return await self._call("store", wire, store_result_from_wire, timeout)

    async def remove(
        self,
        key: Optional[str] = None,
        *,
        url: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        from_memory: bool = True,
        from_disk: bool = True,
        all_variants: bool = False,
        remote: bool = False,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> RemoveResult:
        """Removes an image from the cache.

        It is not an error to remove what is not there.

        Args:
            key: The cache key: any text.
            url: The URL of the image, in place of its key.
            cache: The name of the cache.
            processors: The processing steps, in order.
            from_memory: Remove it from memory.
            from_disk: Remove it from disk.
            all_variants: Remove everything made from it by processors too.
            remote: Remove them from the remote tier too, for all machines.
            options: The other options with which the image was made: cacheSerializer,
                onlyLoadFirstFrame, scaleFactor and the like.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "key": params_of.key(key, url),
                "cache": cache,
                "processors": processors,
                "fromMemory": None if from_memory else False,
                "fromDisk": None if from_disk else False,
                "allVariants": True if all_variants else None,
                "remote": True if remote else None,
                "options": options,
            },
        )
        return await self._call("remove", wire, remove_result_from_wire, timeout)

    async def is_cached(
        self,
        key: Optional[str] = None,
        *,
        url: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> CachedResult:
        """Returns whether an image is cached, and in which tier; nothing is loaded.

        Args:
            key: The cache key: any text.
            url: The URL of the image, in place of its key.
            cache: The name of the cache.
            processors: The processing steps, in order.
            options: The other options with which the image was made: cacheSerializer,
                onlyLoadFirstFrame, scaleFactor and the like.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "key": params_of.key(key, url),
                "cache": cache,
                "processors": processors,
                "options": options,
            },
        )
        return await self._call("isCached", wire, cached_result_from_wire, timeout)

    async def cache_path(
        self,
        key: Optional[str] = None,
        *,
        url: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> CachePathResult:
        """Returns the path at which an image is cached, or would be.

        Args:
            key: The cache key: any text.
            url: The URL of the image, in place of its key.
            cache: The name of the cache.
            processors: The processing steps, in order.
            options: The other options with which the image was made: cacheSerializer,
                onlyLoadFirstFrame, scaleFactor and the like.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "key": params_of.key(key, url),
                "cache": cache,
                "processors": processors,
                "options": options,
            },
        )
        return await self._call("cachePath", wire, cache_path_result_from_wire, timeout)

    async def calculate_size(
        self,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> SizeResult:
        """Returns how many images a cache holds and how many bytes they take, without walking a
        folder.

        Args:
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache})
        return await self._call("calculateSize", wire, size_result_from_wire, timeout)

    async def download(
        self,
        url: str,
        *,
        options: Optional[ImageOptions] = None,
        as_: Literal["data", "none"] = "data",
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> DownloadResult:
        """Downloads an image and checks it; no cache is read or written.

        Args:
            url: Where the image is: an http, https, file or data URL.
            options: How to load the images.
            as_: Whether the result holds the bytes. One of "data", "none".
            progress: Called with reports of how far it is, at most about 10 a second.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {"url": str(url), "options": options, "as": None if as_ == "data" else as_},
        )
        return await self._call("download", wire, download_result_from_wire, timeout, progress)

    async def probe(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        cache: Optional[str] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> ProbeResult:
        """Returns the format, size, orientation, frame count and transparency of an image from its
        first kilobytes.

        Args:
            url: Where the image is: an http, https, file or data URL. Without it, the image cached
                under key.
            key: The cache key; the URL without its fragment when left out. Alone, nothing is
                loaded.
            cache: The name of the cache that is looked into first.
            options: How to look up and load the image.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "url": None if url is None else str(url),
                "key": key,
                "cache": cache,
                "options": options,
            },
        )
        return await self._call("probe", wire, probe_result_from_wire, timeout)

    async def prefetch(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = None,
        options: Optional[ImageOptions] = None,
        max_concurrent: Optional[int] = None,
        processors: Optional[Processors] = None,
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> PrefetchResult:
        """Loads images into a cache ahead of time, behind all other downloads.

        Args:
            urls: Where the images are; each is loaded once, even if it is named several times.
            cache: The name of the cache.
            options: How to load the images.
            max_concurrent: How many are loaded at once.
            processors: The processing steps, in order.
            progress: Called with reports of how far it is, at most about 10 a second.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "urls": params_of.listed("urls", urls),
                "cache": cache,
                "options": options,
                "maxConcurrent": max_concurrent,
                "processors": processors,
            },
        )
        return await self._call("prefetch", wire, prefetch_result_from_wire, timeout, progress)

    async def cancel_all(
        self,
        url: Optional[str] = None,
        *,
        cache: Optional[str] = None,
        slot: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> int:
        """Cancels every running retrieve, download and prefetch, or those that match all the
        conditions given.

        Returns how many.

        Args:
            url: Only those for this URL; a prefetch goes on with its others.
            cache: Only those for this cache.
            slot: Only the one in this slot.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"url": url, "cache": cache, "slot": slot})
        return await self._call("cancelAll", wire, cancel_all_from_wire, timeout)

    async def pause(
        self,
        what: Literal["all", "prefetch"] = "all",
        *,
        timeout: Optional[float] = None,
    ) -> PauseState:
        """Starts no more downloads until resume; running ones continue, and waiting ones keep their
        place.

        Args:
            what: All, or only those of prefetch that nobody else waits for. One of "all",
                "prefetch".
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"what": None if what == "all" else what})
        return await self._call("pause", wire, pause_state_from_wire, timeout)

    async def resume(self, *, timeout: Optional[float] = None) -> PauseState:
        """Starts downloads again after pause.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("resume", "{}", pause_state_from_wire, timeout)

    async def clear(
        self,
        *,
        cache: Optional[str] = None,
        remote: bool = False,
        host: Optional[str] = None,
        prefix: Optional[str] = None,
        format: Optional[PictureFormat] = None,
        min_age: Optional[float] = None,
        max_age: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> ClearResult:
        """Removes all images of a cache, or those that match.

        Args:
            cache: The name of the cache.
            remote: Remove them from the remote tier too, for all machines.
            host: Only images from this host.
            prefix: Only images whose keys begin with this.
            format: Only images of this format. One of "png", "jpeg", "gif", "webp", "avif", "heic",
                "tiff", "bmp", "ico", "svg", "jxl", "jp2", "pnm", "icns", "pdf".
            min_age: Only images stored at least that many seconds ago.
            max_age: Only images stored at most that many seconds ago.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "cache": cache,
                "remote": True if remote else None,
                "host": host,
                "prefix": prefix,
                "format": format,
                "minAge": min_age,
                "maxAge": max_age,
            },
        )
        return await self._call("clear", wire, clear_result_from_wire, timeout)

    async def clear_memory(
        self,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ClearResult:
        """Empties the memory tier of a cache.

        Args:
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache})
        return await self._call("clearMemory", wire, clear_result_from_wire, timeout)

    async def clear_disk(
        self,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> ClearResult:
        """Empties the disk tier of a cache; memory keeps its images, within its limit.

        Args:
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache})
        return await self._call("clearDisk", wire, clear_result_from_wire, timeout)

    async def forget_failures(
        self,
        url: Optional[str] = None,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> int:
        """Forgets remembered failures, so that their URLs are tried again.

        Returns how many.

        Args:
            url: Only those of this URL or cache key.
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"url": url, "cache": cache})
        return await self._call("forgetFailures", wire, forget_failures_from_wire, timeout)

    async def list_failures(
        self,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> List[RememberedFailure]:
        """Lists the remembered failures, which are repeated without asking the server.

        Args:
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache})
        return await self._call("listFailures", wire, list_failures_from_wire, timeout)

    async def stats(self, *, timeout: Optional[float] = None) -> Stats:
        """Returns what the server has done since it started.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("stats", "{}", stats_from_wire, timeout)

    async def check_remote(self, *, timeout: Optional[float] = None) -> RemoteCheckResult:
        """Tries whether the remote tier can be read and written, and how far its clock is off.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("checkRemote", "{}", remote_check_result_from_wire, timeout)

    async def inspect(
        self,
        key: Optional[str] = None,
        *,
        url: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> EntryDetails:
        """Returns everything that is known about a cached image, without loading it or extending
        its life.

        Nothing is loaded. Raises NotCached.

        Args:
            key: The cache key: any text.
            url: The URL of the image, in place of its key.
            cache: The name of the cache.
            processors: The processing steps of the image.
            options: The other options with which the image was made: cacheSerializer and the like.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "key": params_of.key(key, url),
                "cache": cache,
                "processors": processors,
                "options": options,
            },
        )
        return await self._call("inspect", wire, entry_details_from_wire, timeout)

    async def list_entries(
        self,
        *,
        cache: Optional[str] = None,
        page_size: int = 100,
        host: Optional[str] = None,
        prefix: Optional[str] = None,
        format: Optional[PictureFormat] = None,
        min_age: Optional[float] = None,
        max_age: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> AsyncIterator[EntryDetails]:
        """Lists the images on disk, page by page, in an order that does not change when they are
        used.

        Goes through the images on disk, in an order that no use changes, and fetches a page of them
        when it is needed. `timeout` counts for each page.

        Args:
            cache: The name of the cache.
            page_size: How many are fetched at a time, 1 to 1000.
            host: Only images from this host.
            prefix: Only images whose keys begin with this.
            format: Only images of this format. One of "png", "jpeg", "gif", "webp", "avif", "heic",
                "tiff", "bmp", "ico", "svg", "jxl", "jp2", "pnm", "icns", "pdf".
            min_age: Only images stored at least that many seconds ago.
            max_age: Only images stored at most that many seconds ago.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        params = {
            "cache": cache,
            "limit": page_size,
            "host": host,
            "prefix": prefix,
            "format": format,
            "minAge": min_age,
            "maxAge": max_age,
        }
        cursor: Optional[str] = None
        while True:
            wire = params_of.given({**params, "cursor": cursor})
            entries, cursor = await self._call("list", wire, page_from_wire, timeout)
            for entry in entries:
                yield entry
            if cursor is None:
                return

    async def explain(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> Explanation:
        """Returns what retrieve would do now and why; nothing is loaded, extended or asked.

        Args:
            url: Where the image is: an http, https, file or data URL. Without it, the image cached
                under key.
            key: The cache key; the URL without its fragment when left out. Alone, nothing is
                loaded.
            cache: The name of the cache.
            processors: The processing steps.
            options: The options of the request.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "url": None if url is None else str(url),
                "key": key,
                "cache": cache,
                "processors": processors,
                "options": options,
            },
        )
        return await self._call("explain", wire, explanation_from_wire, timeout)

    async def clean_expired(
        self,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> CleanResult:
        """Removes every expired image. A leased path stays valid until its lease ends.

        Args:
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache})
        return await self._call("cleanExpired", wire, clean_result_from_wire, timeout)

    async def verify(
        self,
        *,
        cache: Optional[str] = None,
        repair: bool = True,
        timeout: Optional[float] = None,
    ) -> VerifyResult:
        """Reads every image of a cache through, and puts right what is wrong.

        Takes about as long as reading the whole folder; other calls go on meanwhile.

        Args:
            cache: The name of the cache.
            repair: Put right what is wrong; otherwise it is only counted.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"cache": cache, "repair": None if repair else False})
        return await self._call("verify", wire, verify_result_from_wire, timeout)

    async def configure(
        self,
        *,
        cache: Optional[str] = None,
        memory: Optional[Union[bool, MemorySettings]] = None,
        disk: Optional[DiskSettings] = None,
        downloader: Optional[DownloaderSettings] = None,
        remote: Optional[RemoteSettings] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> ConfiguredSettings:
        """Changes the settings of a cache, the downloader or the remote tier, or the default
        options, from now on; settings that are left out keep their values.

        Returns the settings in force; without any change it only tells. Raises InvalidParams, which
        names the setting, and then nothing has changed.

        Args:
            cache: The name of the cache.
            memory: The memory tier: its settings, or whether there is one.
            disk: The settings of the disk tier.
            downloader: The settings of the downloader of all caches.
            remote: The settings of the remote tier of all caches.
            options: The options of requests that leave them out.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given(
            {
                "cache": cache,
                "memory": memory,
                "disk": disk,
                "downloader": downloader,
                "remote": remote,
                "options": options,
            },
        )
        return await self._call("configure", wire, configured_settings_from_wire, timeout)

    async def add_read_only_cache_path(
        self,
        path: StrPath,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> CacheSettings:
        """Adds a folder that is searched after that of a cache, and never written.

        Args:
            path: The folder; a relative path counts from the working directory of this program.
            cache: The name of the cache.
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"path": params_of.absolute(path), "cache": cache})
        return await self._call("addReadOnlyCachePath", wire, cache_settings_from_wire, timeout)

    async def caches(self, *, timeout: Optional[float] = None) -> List[KnownCache]:
        """Lists the caches that are open, configured, or found in the cache folder.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("caches", "{}", caches_from_wire, timeout)

    async def subscribe(
        self,
        *events: Union[EventName, str],
        timeout: Optional[float] = None,
    ) -> List[str]:
        """Asks to be told of events; nothing comes before.

        Returns all that are subscribed. Take events with `next_event` or `events`. Raises
        InvalidParams for an unknown name.

        Args:
            events: The names of the events. One of "cache/didClean", "image/didChange",
                "activity/didChange", "download/didFinish", "remote/didChange", "log".
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"events": params_of.listed("events", events)})
        return await self._call("subscribe", wire, subscribe_from_wire, timeout)

    async def unsubscribe(
        self,
        *events: Union[EventName, str],
        timeout: Optional[float] = None,
    ) -> List[str]:
        """Ends subscriptions: none of these events comes after the answer.

        Returns what is still subscribed.

        Args:
            events: The names of the events. One of "cache/didClean", "image/didChange",
                "activity/didChange", "download/didFinish", "remote/didChange", "log".
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        wire = params_of.given({"events": params_of.listed("events", events)})
        return await self._call("unsubscribe", wire, unsubscribe_from_wire, timeout)

    async def ping(self, *, timeout: Optional[float] = None) -> None:
        """Waits for a sign of life.

        Raises ServerGone when no answer is to come.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("ping", "{}", nothing, timeout)

    async def discover(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Returns the OpenRPC document that describes every method of the server.

        Args:
            timeout: Seconds to wait for the answer, then CallTimedOut; for ever when left out.
        """
        return await self._call("rpc.discover", "{}", document_from_wire, timeout)

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
        """`retrieve` for each of `urls`, all sent in one write; the results are in their order."""
        rest = {
            "cache": cache,
            "processors": processors,
            "options": options,
            "as": None if as_ == "path" else as_,
        }
        wires = params_of.each("url", urls, rest)
        return await self._many("retrieve", wires, image_result_from_wire, timeout, return_exceptions)

    @overload
    def retrieve_iter(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        as_: As = ...,
        timeout: Optional[float] = ...,
        on_progress: Optional[Callable[[str, Progress], object]] = ...,
        return_exceptions: Literal[False] = ...,
    ) -> AsyncIterator[Tuple[str, ImageResult]]: ...

    @overload
    def retrieve_iter(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = ...,
        processors: Optional[Processors] = ...,
        options: Optional[ImageOptions] = ...,
        as_: As = ...,
        timeout: Optional[float] = ...,
        on_progress: Optional[Callable[[str, Progress], object]] = ...,
        return_exceptions: bool,
    ) -> AsyncIterator[Tuple[str, Union[ImageResult, HalcyonError]]]: ...

    def retrieve_iter(
        self,
        urls: Iterable[str],
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        as_: As = "path",
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[str, Progress], object]] = None,
        return_exceptions: bool = False,
    ) -> Any:
        """Goes through `urls`, each with what `retrieve` returns for it, as they come.

        Nothing is sent before the first is asked for; leaving the loop cancels what is open.
        `on_progress` is called with the url and each report about it. `timeout` is for all, and
        `return_exceptions` as in `retrieve_many`.
        """
        items = [str(item) for item in params_of.listed("urls", urls)]
        rest = {
            "cache": cache,
            "processors": processors,
            "options": options,
            "as": None if as_ == "path" else as_,
        }
        wires = params_of.each("url", items, rest)
        return self._as_completed(
            "retrieve",
            items,
            wires,
            image_result_from_wire,
            timeout,
            return_exceptions,
            on_progress,
        )

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
        """`is_cached` for each of `keys`, all sent in one write; the results are in their order."""
        rest = {"cache": cache, "processors": processors, "options": options}
        wires = params_of.each("key", keys, rest)
        return await self._many("isCached", wires, cached_result_from_wire, timeout, return_exceptions)

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
        """`cache_path` for each of `keys`, all sent in one write; the results are in their order.
        """
        rest = {"cache": cache, "processors": processors, "options": options}
        wires = params_of.each("key", keys, rest)
        return await self._many("cachePath", wires, cache_path_result_from_wire, timeout, return_exceptions)
