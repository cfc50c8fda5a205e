"""The codec worker, spoken to over its socket as the server does (Sources/ImageRecipes/RenderMessage)."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from pathlib import Path

from .context import BenchError


class Codec:
    """One worker, which shrinks pictures."""

    def __init__(self, binary: Path) -> None:
        ours, theirs = socket.socketpair()
        # The worker finds its socket as descriptor 0 when there is no 3.
        self._process = subprocess.Popen([str(binary)], stdin=theirs.fileno(), stdout=subprocess.DEVNULL)
        theirs.close()
        self._socket = ours
        self._receive()

    def render(self, source: Path, name: str, processor: bytes, encoded: str, path: Path, progressive: bool = False) -> None:
        """Makes one file; the processor is in the form of the messages, and an empty one is none."""
        steps = struct.pack("<q", 1 if processor else 0) + processor
        encoding = b"\x01" + struct.pack("<q", 90) + bytes([0, progressive, 0, 0, 0]) + _text("keep")
        output = steps + b"\x00" + b"\x01" + _text(encoded) + encoding + _text(str(path))
        limits = struct.pack("<qqqdqq", 50_000_000, 2_000, 250_000_000, 60.0, 1 << 30, 1_000_000)
        body = b"\x02" + _text(str(source)) + _text(name) + b"\x00" + struct.pack("<q", 1) + output + limits + b"\x00"
        self._socket.sendall(struct.pack("<I", len(body)) + body)
        reply = self._receive()
        if reply[0] != 3 or reply[9] != 0:
            raise BenchError(f"The worker could not make {path.name} of {source.name}: {reply[10:]!r}")

    def processor_time(self) -> float:
        """Milliseconds of a processor that the worker used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """The most memory that the worker held, in MiB."""
        for line in Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
        return 0

    def close(self) -> None:
        """Ends the worker by closing its socket."""
        self._socket.close()
        self._process.wait(10)

    def __enter__(self) -> Codec:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> bytes:
        return self._exactly(struct.unpack("<I", self._exactly(4))[0])

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise BenchError(f"The codec worker ended with {self._process.wait(10)}.")
            data += piece
        return data


def downsample(side: int) -> bytes:
    """The processor that fits a picture into a square."""
    return _text("downsample") + struct.pack("<qq", side, side)


def enlarge(width: int, height: int) -> bytes:
    """The processor that gives a picture a size, also a larger one."""
    return _text("resize") + b"\x01" + struct.pack("<q", width) + b"\x01" + struct.pack("<q", height) + _text("none") + b"\x01"


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<q", len(data)) + data
