"""Pictures whose bytes say which key and version they are, so that a mix-up or a part of one shows."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from typing import NamedTuple

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Stamp(NamedTuple):
    """What a picture says of itself."""

    key: str
    version: int


class NotWhole(Exception):
    """The bytes are no picture that a campaign made, or not all of it."""


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(key: str, version: int, size: int) -> bytes:
    """A PNG of about ``size`` bytes, filled with random ones; its text chunk holds key, version and their digest."""
    filling = os.urandom(max(size - 250 - len(key), 1))
    text = json.dumps([key, version, hashlib.sha256(filling).hexdigest()]).encode()
    head = struct.pack(">IIBBBBB", 1 + version % 1000, 1, 8, 0, 0, 0, 0)
    body = _chunk(b"tEXt", b"campaign\0" + text) + _chunk(b"IDAT", filling) + _chunk(b"IEND", b"")
    return _SIGNATURE + _chunk(b"IHDR", head) + body


def stamp(data: bytes) -> Stamp:
    """What the picture says it is, once every byte of it has been checked."""
    if data[:8] != _SIGNATURE:
        raise NotWhole(f"{len(data)} bytes that begin with {data[:12].hex()}")
    chunks: dict[bytes, bytes] = {}
    place = 8
    while place < len(data):
        if place + 12 > len(data):
            raise NotWhole(f"cut off after {len(data)} bytes")
        (count,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + count]
        place += 12 + count
        if place > len(data) or zlib.crc32(kind + body) != struct.unpack_from(">I", data, place - 4)[0]:
            raise NotWhole(f"{len(data)} bytes with a damaged chunk {kind!r}")
        chunks[kind] = body
    if b"IEND" not in chunks:
        raise NotWhole(f"{len(data)} bytes without an end")
    key, version, digest = json.loads(chunks[b"tEXt"][len(b"campaign\0") :])
    if hashlib.sha256(chunks[b"IDAT"]).hexdigest() != digest:
        raise NotWhole(f"the filling is not that of {key} version {version}")
    return Stamp(key, version)
