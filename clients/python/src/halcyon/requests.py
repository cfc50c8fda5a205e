"""The parameters of methods as JSON text, shared by both clients."""

from __future__ import annotations

import base64
import os
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Union

from .framing import to_json

Params = Union[None, Mapping[str, Any], Sequence[Any]]
"""The params of a generic call: nothing, names with values, or values by position."""

StrPath = Union[str, os.PathLike[str]]
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


def given(params: Mapping[str, Any]) -> str:
    """Parameters by name as JSON text, without those that are None."""
    said = {name: value for name, value in params.items() if value is not None}
    if len(said) != 1:
        return to_json(said)
    # Most calls say one thing: a text alone is written several times faster than an object.
    ((name, value),) = said.items()
    return '{"%s":%s}' % (name, to_json(value))


def listed(name: str, values: Iterable[Any]) -> List[Any]:
    """The values of a parameter that is a list. Raises TypeError for one text, which is a list of characters."""
    if isinstance(values, (str, bytes)):
        raise TypeError("%s is a list, such as [%r], not one text." % (name, values[:80]))
    return list(values)


def each(name: str, values: Iterable[str], rest: Mapping[str, Any]) -> List[str]:
    """The parameters of many requests that differ in one of them."""
    shared = given(rest)
    end = "," + shared[1:] if shared != "{}" else "}"
    return ['{"%s":%s%s' % (name, to_json(value), end) for value in listed(name + "s", values)]


def absolute(path: StrPath) -> str:
    """A path as the server finds it: relative ones are taken from this program's working directory."""
    return os.path.abspath(path)


def key(key: Optional[str], url: Optional[str]) -> str:
    """The key of an image that is named by its key or its URL, which is the key without its fragment."""
    if (key is None) == (url is None):
        raise TypeError("An image is named by its key or by url=, and by one of the two.")
    if key is not None:
        return key
    text = str(url)
    return text if text[:5].lower() == "data:" else text.partition("#")[0]


def store(path: Optional[StrPath], data: Optional[Bytes], params: Mapping[str, Any]) -> str:
    """Parameters of `store`: either a path or bytes, and the others."""
    if (path is None) == (data is None):
        raise TypeError("store() takes either path= or data=, and one of the two.")
    if data is not None:
        # Base64 needs no escaping: it is put in as it is.
        return '{"data":"%s",%s' % (base64.b64encode(data).decode("ascii"), given(params)[1:])
    assert path is not None
    file = absolute(path)
    try:
        file.encode()
    except UnicodeEncodeError:
        raise ValueError(
            "The path %r is not valid UTF-8 and cannot be sent: read the file and give its "
            "bytes as data=." % path
        ) from None
    return given({**params, "path": file})
