"""The messages of the codec worker as bytes (Sources/ImageRecipes/RenderMessage.swift); nothing here does anything."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Callable, List, Optional, Sequence, TypeVar

VERSION = 6
"""The version of the messages that are written and read here; a worker of another one is refused."""

Value = TypeVar("Value")


class MessageError(Exception):
    """Bytes that are no message of the worker, or of another version of it."""


@dataclass(frozen=True)
class Encoding:
    """How an image is written; the defaults are the worker's."""

    quality: Optional[int] = None
    progressive: bool = False


@dataclass(frozen=True)
class Output:
    """One file that is made: the source after ``steps``, all its frames, in ``format``.

    Without a format no file is made: the source is decoded whole, and the outcome is whether that can be done.
    """

    path: str = ""
    format: Optional[str] = None
    steps: Sequence[bytes] = ()
    encoding: Encoding = Encoding()


@dataclass(frozen=True)
class Limits:
    """What one request may cost; the defaults are the server's."""

    max_pixels: int = 50_000_000
    max_frames: int = 2_000
    max_animation_pixels: int = 250_000_000
    decode_seconds: float = 20
    max_bytes: int = 1 << 30
    max_entity_bytes: int = 1_000_000


@dataclass(frozen=True)
class Request:
    """What is to be made of a file; ``format`` is what the file was recognised as."""

    source: str
    format: str
    outputs: Sequence[Output]
    limits: Limits = field(default_factory=Limits)
    wants_placeholder: bool = False


MADE = "made"
KINDS = ("bad data", "unsupported", "limit", "processing failed", "out of memory", "file failed", "source changed")
"""The kinds of failure, in the order of their numbers."""


@dataclass(frozen=True)
class Outcome:
    """What became of one output: ``MADE``, or one of ``KINDS`` and its reason."""

    kind: str
    reason: str = ""


# -- steps of a recipe, in the form of the messages (RenderMessage+Processor.swift)


def downsample(width: int, height: int) -> bytes:
    """Fits a picture into a size; a smaller one stays as it is."""
    return _text("downsample") + struct.pack("<qq", width, height)


def enlarge(width: int, height: int) -> bytes:
    """Gives a picture a size, also a larger one."""
    return _text("resize") + struct.pack("<BqBq", 1, width, 1, height) + _text("none") + _flag(True) + _text("lanczos3") + _flag(False)


def crop(width: int, height: int) -> bytes:
    """Cuts out the middle."""
    return _text("crop") + struct.pack("<ddBBdd", width, height, 0, 0, 0.5, 0.5)


def crop_interesting(width: int, height: int) -> bytes:
    """Cuts out what draws attention."""
    return _text("crop") + struct.pack("<ddBB", width, height, 0, 2) + _text("smart")


def trim(tolerance: float) -> bytes:
    """Removes margins of the colour of the first pixel."""
    return _text("trim") + struct.pack("<d", tolerance)


def pixelate(size: int) -> bytes:
    """Makes squares of one colour."""
    return _text("pixelate") + struct.pack("<q", size)


def blur(radius: float) -> bytes:
    """Blurs by a radius in pixels."""
    return _text("blur") + struct.pack("<d", radius)


def round_corner(radius: float) -> bytes:
    """Rounds all four corners by a radius in pixels; neither target size nor background."""
    return _text("roundCorner") + struct.pack("<BdBBB", 0, radius, 0b1111, 0, 0)


def rotate(degrees: float) -> bytes:
    """Turns clockwise."""
    return _text("rotate") + _flag(True) + struct.pack("<d", degrees)


# -- frames


def frame(request: Request) -> bytes:
    """The request as it is sent, its length included."""
    limits = request.limits
    body = b"".join(
        [
            b"\2",
            _text(request.source),
            _text(request.format),
            _flag(False),  # no format that it had before
            _list(request.outputs, _output),
            struct.pack("<qqq", limits.max_pixels, limits.max_frames, limits.max_animation_pixels),
            struct.pack("<dqq", limits.decode_seconds, limits.max_bytes, limits.max_entity_bytes),
            _flag(request.wants_placeholder),
        ]
    )
    return struct.pack("<I", len(body)) + body


def check_hello(body: bytes) -> None:
    """Takes the worker's first message, without its length.

    Raises ``MessageError`` when it is none, or when the worker speaks another version.
    """
    reader = _Reader(body)
    if reader.byte() != 1:
        raise MessageError("The first message of the worker is no greeting.")
    version = reader.integer()
    if version != VERSION:
        raise MessageError(
            f"The worker speaks version {version} of its messages, and Tests/Support/codec_worker/messages.py {VERSION}:"
            " bring that file up to date with Sources/ImageRecipes/RenderMessage."
        )


def outcomes(body: bytes) -> list[Outcome]:
    """What became of each output, in their order, by a reply without its length; raises ``MessageError`` if it is none."""
    reader = _Reader(body)
    if reader.byte() != 3:
        raise MessageError("The message of the worker is no reply.")
    found = reader.list(_outcome)
    if reader.flag():  # the placeholder: its ThumbHash, its colour and its BlurHash
        reader.take(reader.integer())
        reader.take(4)
        reader.text()
    reader.flag()  # whether the worker ends now
    if not reader.is_at_end:
        raise MessageError("The reply of the worker goes on after its end.")
    return found


def _output(output: Output) -> bytes:
    if output.format is None:
        rule = b"\3"
    else:
        rule = b"\1" + _text(output.format) + _encoding(output.encoding)
    return _list(output.steps, lambda step: step) + b"\0" + rule + _text(output.path)


def _encoding(encoding: Encoding) -> bytes:
    quality = _flag(False) if encoding.quality is None else _flag(True) + struct.pack("<q", encoding.quality)
    # Neither lossless, nor a background, nor a limit of bytes, nor without metadata.
    return quality + bytes([0, encoding.progressive, 0, 0, 0]) + _text("keep")


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<q", len(data)) + data


def _flag(value: bool) -> bytes:
    return b"\1" if value else b"\0"


def _list(values: Sequence[Value], write: Callable[[Value], bytes]) -> bytes:
    return struct.pack("<q", len(values)) + b"".join(map(write, values))


def _outcome(reader: _Reader) -> Outcome:
    failed = reader.byte()
    if not failed:
        reader.text()  # the format
        reader.take(4 * 8)  # width, height, frames, bytes
        reader.flag()
        reader.list(_Reader.integer)  # the delays
        reader.take(2 * 8)  # loops, stride
        reader.flag()
        reader.integer()  # frames dropped
        return Outcome(MADE)
    number = reader.byte()
    if number >= len(KINDS):
        raise MessageError(f"The worker failed in a way of number {number}, which does not exist.")
    name = reader.text() if KINDS[number] == "limit" else ""
    reason = reader.text()
    return Outcome(KINDS[number], f"{name}: {reason}" if name else reason)


class _Reader:
    """Takes a message apart."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    @property
    def is_at_end(self) -> bool:
        return self._place == len(self._data)

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self._data) - self._place:
            raise MessageError("The message of the worker is cut off.")
        self._place += count
        return self._data[self._place - count : self._place]

    def byte(self) -> int:
        return self.take(1)[0]

    def flag(self) -> bool:
        return self.byte() == 1

    def integer(self) -> int:
        value: int = struct.unpack("<q", self.take(8))[0]
        return value

    def text(self) -> str:
        return self.take(self.integer()).decode(errors="replace")

    def list(self, read: Callable[[_Reader], Value]) -> List[Value]:
        return [read(self) for _ in range(self.integer())]
