"""Looking after caches from asyncio: settings, what is in them, whether they are whole, and events."""

from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Literal, Optional, Union

from . import requests as params_of
from .async_transport import AsyncTransport
from .care import _event
from .errors import ServerGone
from .options import ImageOptions, Processors
from .requests import StrPath
from .results import (
    CleanResult,
    EntryDetails,
    Event,
    VerifyResult,
    clean_from_wire,
    entry_from_wire,
    verify_from_wire,
)
from .settings import (
    CacheSettings,
    ConfiguredSettings,
    DiskSettings,
    DownloaderSettings,
    KnownCache,
    MemorySettings,
)


class AsyncCareMethods:
    """What `AsyncClient` can ask about a whole cache, and the events it can hear of."""

    @property
    def _transport(self) -> AsyncTransport:
        raise NotImplementedError

    # Settings

    async def configure(
        self,
        *,
        cache: Optional[str] = None,
        memory: Union[None, bool, MemorySettings] = None,
        disk: Optional[DiskSettings] = None,
        downloader: Optional[DownloaderSettings] = None,
        timeout: Optional[float] = None,
    ) -> ConfiguredSettings:
        """Changes the settings of a cache, or of the downloader, and returns those in force; as `Client.configure`."""
        wire = params_of.configure(cache, memory, disk, downloader)
        settings: ConfiguredSettings = await self._request("configure", wire, timeout)
        return settings

    async def caches(self, *, timeout: Optional[float] = None) -> List[KnownCache]:
        """The caches that are open, configured, or found in the cache folder, by name."""
        return list((await self._request("caches", "{}", timeout))["caches"])

    async def add_read_only_cache_path(
        self, path: StrPath, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> CacheSettings:
        """Adds a folder that is searched after that of the cache, and never written."""
        wire = params_of.add_read_only_path(path, cache)
        settings: CacheSettings = await self._request("addReadOnlyCachePath", wire, timeout)
        return settings

    # What is in a cache

    async def inspect(
        self,
        key: str,
        *,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> EntryDetails:
        """Everything that is known of a cached image, without loading it. Raises NotCached."""
        wire = params_of.lookup(key, cache, processors, options)
        return entry_from_wire(await self._request("inspect", wire, timeout))

    async def list_entries(
        self,
        *,
        cache: Optional[str] = None,
        host: Optional[str] = None,
        prefix: Optional[str] = None,
        format: Optional[str] = None,
        min_age: Optional[float] = None,
        max_age: Optional[float] = None,
        page_size: int = 100,
        timeout: Optional[float] = None,
    ) -> AsyncIterator[EntryDetails]:
        """Goes through the images on disk, page by page; as `Client.list_entries`."""
        params = params_of.page(cache, page_size, host, prefix, format, min_age, max_age)
        while True:
            page = await self._request("list", params_of.text(params), timeout)
            for entry in page["entries"]:
                yield entry_from_wire(entry)
            if page.get("cursor") is None:
                return
            params["cursor"] = page["cursor"]

    async def explain(
        self,
        url: str,
        *,
        key: Optional[str] = None,
        cache: Optional[str] = None,
        processors: Optional[Processors] = None,
        options: Optional[ImageOptions] = None,
        timeout: Optional[float] = None,
    ) -> Dict[str, Any]:
        """What `retrieve` would do now and why, by the names of the protocol; nothing is loaded."""
        wire = params_of.explain(url, key, cache, processors, options)
        return dict(await self._request("explain", wire, timeout))

    async def list_failures(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> List[Dict[str, Any]]:
        """The failures that are remembered, the oldest first: `url`, `key`, `error` and `seconds`."""
        wire = params_of.of_cache(cache)
        return list((await self._request("listFailures", wire, timeout))["failures"])

    async def forget_failures(
        self,
        url: Optional[str] = None,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> int:
        """Forgets remembered failures, those of a URL or cache key or all; returns how many."""
        wire = params_of.failures(url, cache)
        return int((await self._request("forgetFailures", wire, timeout))["forgotten"])

    async def pause(
        self, what: Literal["all", "prefetch"] = "all", *, timeout: Optional[float] = None
    ) -> Dict[str, Any]:
        """Starts no more downloads until `resume`; returns `paused`, `running` and `waiting`."""
        return dict(await self._request("pause", params_of.text({"what": what}), timeout))

    async def resume(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Starts downloads again after `pause`."""
        return dict(await self._request("resume", "{}", timeout))

    async def clean_expired(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> CleanResult:
        """Removes every image whose time is over; paths that were promised stay valid."""
        wire = params_of.of_cache(cache)
        return clean_from_wire(await self._request("cleanExpired", wire, timeout))

    async def verify(
        self, *, cache: Optional[str] = None, repair: bool = True, timeout: Optional[float] = None
    ) -> VerifyResult:
        """Reads every image of a cache through and puts right what is wrong, if `repair`."""
        wire = params_of.verify(cache, repair)
        return verify_from_wire(await self._request("verify", wire, timeout))

    # Events

    async def subscribe(self, *events: str, timeout: Optional[float] = None) -> List[str]:
        """Asks to be told of events; returns all that are subscribed; as `Client.subscribe`."""
        wire = params_of.text({"events": events})
        return list((await self._request("subscribe", wire, timeout))["events"])

    async def unsubscribe(self, *events: str, timeout: Optional[float] = None) -> List[str]:
        """Ends subscriptions; returns what is still subscribed. None of them follows."""
        wire = params_of.text({"events": events})
        return list((await self._request("unsubscribe", wire, timeout))["events"])

    async def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Waits for the next event; None when `timeout` seconds pass first; as `Client.next_event`."""
        return _event(await self._transport.next_event(timeout))

    async def events(self) -> AsyncIterator[Event]:
        """Goes through the events as they come, until this client is closed."""
        while True:
            try:
                event = await self.next_event()
            except ServerGone:
                if self._transport.closing:
                    return
                raise
            if event is not None:
                yield event

    async def _request(self, method: str, wire: str, timeout: Optional[float]) -> Any:
        return await self._transport.request(method, wire, None, timeout)
