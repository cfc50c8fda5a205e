"""The parameters of every method as JSON text, shared by both clients."""

from __future__ import annotations

import base64
import os
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .framing import to_json
from .options import As, ImageOptions, Processors
from .settings import DiskSettings, DownloaderSettings, MemorySettings

Params = Union[None, Mapping[str, Any], Sequence[Any]]
"""What a generic call may send: nothing, names with values, or values by position."""

StrPath = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]


def text(params: Params) -> str:
    """Any parameters as JSON text. Raises TypeError or ValueError for what JSON cannot say."""
    if params is None:
        return "{}"
    if isinstance(params, Mapping):
        return to_json(params if isinstance(params, dict) else dict(params))
    if isinstance(params, (str, bytes)):
        raise TypeError("params is a mapping or a sequence, not one string.")
    return to_json(list(params))


def named_text(params: Params) -> str:
    """The same for calls with progress, whose token needs parameters by name."""
    if params is not None and not isinstance(params, Mapping):
        raise TypeError("A call with progress= takes its params by name, as a mapping.")
    return text(params)


def _given(**params: Any) -> Dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def retrieve(
    url: str,
    key: Optional[str] = None,
    cache: Optional[str] = None,
    processors: Optional[Processors] = None,
    options: Optional[ImageOptions] = None,
    as_: As = "path",
) -> str:
    """Parameters of `retrieve`."""
    if key is None and cache is None and processors is None and options is None:
        if as_ == "path":
            return '{"url":%s}' % to_json(url)
    return to_json(
        _given(
            url=url, key=key, cache=cache, processors=processors, options=options, **{"as": as_}
        )
    )


def store(
    key: str,
    path: Optional[StrPath],
    data: Optional[Bytes],
    cache: Optional[str],
    processors: Optional[Processors],
    options: Optional[ImageOptions],
    overwrite: bool,
    metadata: Optional[Mapping[str, str]],
) -> str:
    """Parameters of `store`; relative paths are taken from this program's working directory."""
    if (path is None) == (data is None):
        raise TypeError("store() takes either path= or data=, and one of the two.")
    params = _given(
        key=key,
        cache=cache,
        processors=processors,
        options=options,
        overwrite=None if overwrite else False,
        metadata=None if metadata is None else dict(metadata),
    )
    if path is not None:
        params["path"] = os.path.abspath(path)
        try:
            params["path"].encode()
        except UnicodeEncodeError:
            raise ValueError(
                "The path %r is not valid UTF-8 and cannot be sent: read the file and give its "
                "bytes as data=." % path
            ) from None
        return to_json(params)
    assert data is not None
    # Base64 needs no escaping: it is put in as it is.
    return '{"data":"%s",%s' % (base64.b64encode(data).decode("ascii"), to_json(params)[1:])


def remove(
    key: str,
    cache: Optional[str],
    processors: Optional[Processors],
    from_memory: bool,
    from_disk: bool,
    all_variants: bool,
    options: Optional[ImageOptions] = None,
) -> str:
    """Parameters of `remove`; what has its default value is left out."""
    return to_json(
        _given(
            key=key,
            cache=cache,
            processors=processors,
            fromMemory=None if from_memory else False,
            fromDisk=None if from_disk else False,
            allVariants=True if all_variants else None,
            options=options,
        )
    )


def lookup(
    key: str,
    cache: Optional[str],
    processors: Optional[Processors],
    options: Optional[ImageOptions] = None,
) -> str:
    """Parameters of `isCached`, `cachePath` and `inspect`."""
    if cache is None and processors is None and options is None:
        return '{"key":%s}' % to_json(key)
    return to_json(_given(key=key, cache=cache, processors=processors, options=options))


def of_cache(cache: Optional[str]) -> str:
    """Parameters of the methods that only name a cache."""
    return "{}" if cache is None else to_json({"cache": cache})


def configure(
    cache: Optional[str],
    memory: Union[None, bool, MemorySettings],
    disk: Optional[DiskSettings],
    downloader: Optional[DownloaderSettings],
) -> str:
    """Parameters of `configure`."""
    return to_json(_given(cache=cache, memory=memory, disk=disk, downloader=downloader))


def add_read_only_path(path: StrPath, cache: Optional[str]) -> str:
    """Parameters of `addReadOnlyCachePath`; relative paths are taken from here."""
    return to_json(_given(path=os.path.abspath(path), cache=cache))


def failures(url: Optional[str], cache: Optional[str]) -> str:
    return text(_given(url=url, cache=cache))


def explain(
    url: str,
    key: Optional[str],
    cache: Optional[str],
    processors: Optional[Processors],
    options: Optional[ImageOptions],
) -> str:
    return text(
        _given(url=str(url), key=key, cache=cache, processors=processors, options=options)
    )


def verify(cache: Optional[str], repair: bool) -> str:
    """Parameters of `verify`."""
    return to_json(_given(cache=cache, repair=None if repair else False))


def page(
    cache: Optional[str],
    page_size: int,
    host: Optional[str],
    prefix: Optional[str],
    format: Optional[str],
    min_age: Optional[float],
    max_age: Optional[float],
) -> Dict[str, Any]:
    """Parameters of `list` for the first page; the cursor of the next is put in."""
    return _given(
        cache=cache,
        limit=page_size,
        host=host,
        prefix=prefix,
        format=format,
        minAge=min_age,
        maxAge=max_age,
    )
