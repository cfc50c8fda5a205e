"""Calls that go on at once, with typed results.

Made by clients/generate.py from protocol/openrpc.json.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Literal, Optional, overload, TypeVar

from .calls import PendingCall, ProgressCallback
from .decoding import as_it_is, nothing
from .requests import Params
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
    pause_state_from_wire,
    PauseState,
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
from .settings import CacheSettings, ConfiguredSettings

T = TypeVar("T")


class Submitting:
    """`Client.submit`, and what it is made with."""

    def _submit(
        self,
        method: str,
        params: Params,
        decode: Callable[[Any], T],
        progress: Optional[ProgressCallback],
    ) -> PendingCall[T]:
        raise NotImplementedError

    @overload
    def submit(
        self,
        method: Literal["retrieve"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ImageResult]: ...

    @overload
    def submit(
        self,
        method: Literal["store"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[StoreResult]: ...

    @overload
    def submit(
        self,
        method: Literal["remove"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[RemoveResult]: ...

    @overload
    def submit(
        self,
        method: Literal["isCached"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[CachedResult]: ...

    @overload
    def submit(
        self,
        method: Literal["cachePath"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[CachePathResult]: ...

    @overload
    def submit(
        self,
        method: Literal["calculateSize"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[SizeResult]: ...

    @overload
    def submit(
        self,
        method: Literal["download"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[DownloadResult]: ...

    @overload
    def submit(
        self,
        method: Literal["probe"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ProbeResult]: ...

    @overload
    def submit(
        self,
        method: Literal["prefetch"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[PrefetchResult]: ...

    @overload
    def submit(
        self,
        method: Literal["cancelAll"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[int]: ...

    @overload
    def submit(
        self,
        method: Literal["pause"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[PauseState]: ...

    @overload
    def submit(
        self,
        method: Literal["resume"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[PauseState]: ...

    @overload
    def submit(
        self,
        method: Literal["clear"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ClearResult]: ...

    @overload
    def submit(
        self,
        method: Literal["clearMemory"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ClearResult]: ...

    @overload
    def submit(
        self,
        method: Literal["clearDisk"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ClearResult]: ...

    @overload
    def submit(
        self,
        method: Literal["forgetFailures"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[int]: ...

    @overload
    def submit(
        self,
        method: Literal["listFailures"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[List[RememberedFailure]]: ...

    @overload
    def submit(
        self,
        method: Literal["stats"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[Stats]: ...

    @overload
    def submit(
        self,
        method: Literal["checkRemote"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[RemoteCheckResult]: ...

    @overload
    def submit(
        self,
        method: Literal["inspect"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[EntryDetails]: ...

    @overload
    def submit(
        self,
        method: Literal["explain"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[Explanation]: ...

    @overload
    def submit(
        self,
        method: Literal["cleanExpired"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[CleanResult]: ...

    @overload
    def submit(
        self,
        method: Literal["verify"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[VerifyResult]: ...

    @overload
    def submit(
        self,
        method: Literal["configure"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[ConfiguredSettings]: ...

    @overload
    def submit(
        self,
        method: Literal["addReadOnlyCachePath"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[CacheSettings]: ...

    @overload
    def submit(
        self,
        method: Literal["caches"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[List[KnownCache]]: ...

    @overload
    def submit(
        self,
        method: Literal["subscribe"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[List[str]]: ...

    @overload
    def submit(
        self,
        method: Literal["unsubscribe"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[List[str]]: ...

    @overload
    def submit(
        self,
        method: Literal["ping"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[None]: ...

    @overload
    def submit(
        self,
        method: Literal["rpc.discover"],
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[Dict[str, Any]]: ...

    @overload
    def submit(
        self,
        method: str,
        params: Params = ...,
        *,
        progress: Optional[ProgressCallback] = ...,
    ) -> PendingCall[Any]: ...

    def submit(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
    ) -> PendingCall[Any]:
        """Sends a call and returns at once, with a future: `.result()` waits, `.cancel()` gives it
        up.

        `params` are those of the protocol, by name, or by position (not with `progress`). The
        result is the one that the method of that name returns here; for a method that has none, the
        one that JSON gave.
        """
        return self._submit(method, params, DECODERS.get(method, as_it_is), progress)


DECODERS: Dict[str, Callable[[Any], Any]] = {
    "retrieve": image_result_from_wire,
    "store": store_result_from_wire,
    "remove": remove_result_from_wire,
    "isCached": cached_result_from_wire,
    "cachePath": cache_path_result_from_wire,
    "calculateSize": size_result_from_wire,
    "download": download_result_from_wire,
    "probe": probe_result_from_wire,
    "prefetch": prefetch_result_from_wire,
    "cancelAll": cancel_all_from_wire,
    "pause": pause_state_from_wire,
    "resume": pause_state_from_wire,
    "clear": clear_result_from_wire,
    "clearMemory": clear_result_from_wire,
    "clearDisk": clear_result_from_wire,
    "forgetFailures": forget_failures_from_wire,
    "listFailures": list_failures_from_wire,
    "stats": stats_from_wire,
    "checkRemote": remote_check_result_from_wire,
    "inspect": entry_details_from_wire,
    "explain": explanation_from_wire,
    "cleanExpired": clean_result_from_wire,
    "verify": verify_result_from_wire,
    "configure": configured_settings_from_wire,
    "addReadOnlyCachePath": cache_settings_from_wire,
    "caches": caches_from_wire,
    "subscribe": subscribe_from_wire,
    "unsubscribe": unsubscribe_from_wire,
    "ping": nothing,
    "rpc.discover": document_from_wire,
}
"""What makes the result of a method of what JSON gave."""
