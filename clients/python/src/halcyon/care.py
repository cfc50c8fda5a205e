"""Looking after caches: settings, what is in them, whether they are whole, and events."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Literal, Optional, TypeVar, Union

from . import requests as params_of
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
from .transport import Transport

T = TypeVar("T")


class CareMethods:
    """What `Client` can ask about a whole cache, and the events it can hear of."""

    _transport: Transport

    def _call(
        self, method: str, wire: str, decode: Callable[[Any], T], timeout: Optional[float]
    ) -> T:
        raise NotImplementedError

    # Settings

    def configure(
        self,
        *,
        cache: Optional[str] = None,
        memory: Union[None, bool, MemorySettings] = None,
        disk: Optional[DiskSettings] = None,
        downloader: Optional[DownloaderSettings] = None,
        timeout: Optional[float] = None,
    ) -> ConfiguredSettings:
        """Changes the settings of a cache, or of the downloader, from now on and returns those in force.

        `memory` is False to switch that tier off, True to switch it on, or its settings. What is
        left out stays as it was; without any change it only tells. Raises InvalidParams, which
        names the setting, and then nothing has changed.
        """
        wire = params_of.configure(cache, memory, disk, downloader)
        return self._call("configure", wire, _configured, timeout)

    def caches(self, *, timeout: Optional[float] = None) -> List[KnownCache]:
        """The caches that are open, configured, or found in the cache folder, by name."""
        return self._call("caches", "{}", _known_caches, timeout)

    def add_read_only_cache_path(
        self, path: StrPath, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> CacheSettings:
        """Adds a folder that is searched after that of the cache, and never written."""
        wire = params_of.add_read_only_path(path, cache)
        return self._call("addReadOnlyCachePath", wire, _settings, timeout)

    # What is in a cache

    def inspect(
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
        return self._call("inspect", wire, entry_from_wire, timeout)

    def list_entries(
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
    ) -> Iterator[EntryDetails]:
        """Goes through the images on disk, fetching a page of them when it is needed.

        Only those from `host`, with keys that begin with `prefix`, of `format`, and stored at
        least `min_age` and at most `max_age` seconds ago. `timeout` counts for each page.
        """
        params = params_of.page(cache, page_size, host, prefix, format, min_age, max_age)
        while True:
            page = self._call("list", params_of.text(params), dict, timeout)
            yield from map(entry_from_wire, page["entries"])
            if page.get("cursor") is None:
                return
            params["cursor"] = page["cursor"]

    def explain(
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
        return self._call("explain", wire, dict, timeout)

    def list_failures(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> List[Dict[str, Any]]:
        """The failures that are remembered, the oldest first: `url`, `key`, `error` and `seconds`."""
        return self._call("listFailures", params_of.of_cache(cache), _failures, timeout)

    def forget_failures(
        self,
        url: Optional[str] = None,
        *,
        cache: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> int:
        """Forgets remembered failures, those of a URL or cache key or all; returns how many."""
        return self._call("forgetFailures", params_of.failures(url, cache), _forgotten, timeout)

    def pause(
        self, what: Literal["all", "prefetch"] = "all", *, timeout: Optional[float] = None
    ) -> Dict[str, Any]:
        """Starts no more downloads until `resume`; returns `paused`, `running` and `waiting`."""
        return self._call("pause", params_of.text({"what": what}), dict, timeout)

    def resume(self, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Starts downloads again after `pause`."""
        return self._call("resume", "{}", dict, timeout)

    def clean_expired(
        self, *, cache: Optional[str] = None, timeout: Optional[float] = None
    ) -> CleanResult:
        """Removes every image whose time is over; paths that were promised stay valid."""
        return self._call("cleanExpired", params_of.of_cache(cache), clean_from_wire, timeout)

    def verify(
        self, *, cache: Optional[str] = None, repair: bool = True, timeout: Optional[float] = None
    ) -> VerifyResult:
        """Reads every image of a cache through and puts right what is wrong, if `repair`.

        Takes about as long as reading the whole folder; other calls go on meanwhile.
        """
        return self._call("verify", params_of.verify(cache, repair), verify_from_wire, timeout)

    # Events

    def subscribe(self, *events: str, timeout: Optional[float] = None) -> List[str]:
        """Asks to be told of events, such as "cache/didClean"; returns all that are subscribed.

        Take them with `next_event` or `events`. Raises InvalidParams for an unknown name.
        """
        wire = params_of.text({"events": events})
        return self._call("subscribe", wire, _events, timeout)

    def unsubscribe(self, *events: str, timeout: Optional[float] = None) -> List[str]:
        """Ends subscriptions; returns what is still subscribed. None of them follows."""
        wire = params_of.text({"events": events})
        return self._call("unsubscribe", wire, _events, timeout)

    def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Waits for the next event; None when `timeout` seconds pass first, 0 to only look.

        Up to 1,024 events wait to be taken; of more the oldest go. Raises ServerGone.
        """
        return _event(self._transport.next_event(timeout))

    def events(self) -> Iterator[Event]:
        """Goes through the events as they come, until this client is closed.

        Best on a thread of its own: it waits. Raises ServerGone when the server ended by itself.
        """
        while True:
            try:
                event = self.next_event()
            except ServerGone:
                if self._transport.closing:
                    return
                raise
            if event is not None:
                yield event


def _configured(wire: Any) -> ConfiguredSettings:
    settings: ConfiguredSettings = wire
    return settings


def _settings(wire: Any) -> CacheSettings:
    settings: CacheSettings = wire
    return settings


def _known_caches(wire: Any) -> List[KnownCache]:
    return list(wire["caches"])


def _failures(wire: Any) -> List[Dict[str, Any]]:
    return list(wire["failures"])


def _forgotten(wire: Any) -> int:
    return int(wire["forgotten"])


def _events(wire: Any) -> List[str]:
    return list(wire["events"])


def _event(message: Any) -> Optional[Event]:
    if message is None:
        return None
    params = message.get("params")
    return Event(message["method"], params if isinstance(params, dict) else {})
