"""Messages as bytes: one JSON text a line, in both directions."""

from __future__ import annotations

import json
from typing import Any, Optional, Sequence, Tuple

from .codes import MESSAGE_LIMIT, LimitExceeded

_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_unescaped = json.JSONEncoder(ensure_ascii=False).encode


def to_json(value: Any) -> str:
    """Encodes a value as compact ASCII JSON; a string alone takes a fast path.

    Raises TypeError or ValueError for what JSON cannot say, half of a surrogate pair among it.
    """
    text = _ascii(value)
    if "\\ud" in text:  # surrogates, or a backslash before these letters
        try:
            _unescaped(value).encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise ValueError("Half of a surrogate pair is no text and cannot be sent.") from None
    return text


_from_json = json.JSONDecoder().raw_decode


def request_frame(identifier: int, method: str, params: str, token: Optional[int] = None) -> bytes:
    """One request as bytes; `params` is JSON text, `token` asks for progress under that token.

    Raises LimitExceeded for a message the server would not read.
    """
    if token is not None:
        rest = params[1:]
        params = '{"workDoneToken":%d%s%s' % (token, "" if rest == "}" else ",", rest)
    frame = b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}\n' % (
        identifier,
        to_json(method).encode(),
        params.encode(),
    )
    return limited(frame)


def notification_frame(method: str, params: str) -> bytes:
    """One notification as bytes; `params` is JSON text. Raises as `request_frame` does."""
    return limited(
        b'{"jsonrpc":"2.0","method":%b,"params":%b}\n' % (to_json(method).encode(), params.encode())
    )


def limited(frame: bytes) -> bytes:
    """The same message. Raises LimitExceeded for one the server would not read."""
    if len(frame) > MESSAGE_LIMIT:
        raise LimitExceeded(
            10005,
            "limitExceeded",
            "The message is %d bytes long and the server reads at most %d: "
            "give large images by path." % (len(frame), MESSAGE_LIMIT),
            {"limit": "messageBytes", "retryable": False},
        )
    return frame


def cancel_frame(identifier: int) -> bytes:
    """The notification that cancels one request."""
    return b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % identifier


def parse(line: bytes) -> Any:
    """The value in one line. Raises ValueError when the line is not exactly one JSON text."""
    text = line.decode().rstrip()
    value, end = _from_json(text)
    if end != len(text):
        raise ValueError("something follows the JSON text")
    return value


NO_RESULT = object()
"""The value that `result_of` returns for anything but the success of that request."""


def result_of(line: bytes, identifier: int) -> Any:
    """The result in a line that answers request `identifier` with success, else NO_RESULT."""
    try:
        message = parse(line)
    except Exception:  # whoever deals with the line ends the server
        return NO_RESULT
    if isinstance(message, dict) and message.get("id") == identifier:
        return message.get("result", NO_RESULT)
    return NO_RESULT


def split_lines(
    partial: Tuple[bytes, ...], chunk: bytes
) -> Tuple[Sequence[bytes], Tuple[bytes, ...]]:
    """The lines that `chunk` completes, without their line ends, and the pieces of the next one.

    `partial` are the pieces of the line before it. Blank lines are left out. Each byte is looked
    at once, however long a line is.
    """
    if b"\n" not in chunk:
        return (), partial + (chunk,)
    lines = chunk.split(b"\n")
    if partial:
        lines[0] = b"".join(partial + (lines[0],))
    last = lines.pop()
    return [line for line in lines if line.strip()], ((last,) if last else ())


class LineSplitter:
    """Cuts a stream of bytes into lines of any length."""

    def __init__(self) -> None:
        self._partial: Tuple[bytes, ...] = ()

    def feed(self, chunk: bytes) -> Sequence[bytes]:
        """The lines that `chunk` completes, without their line ends; blank lines are left out."""
        lines, self._partial = split_lines(self._partial, chunk)
        return lines

    def rest(self) -> Sequence[bytes]:
        """The last line of a stream that has ended without a line end."""
        line = b"".join(self._partial)
        self._partial = ()
        return [line] if line.strip() else []
