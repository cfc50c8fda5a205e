"""One process of the codec worker and its socket."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from pathlib import Path
from typing import Mapping, Optional, Sequence

from .messages import MADE, Outcome, Request, check_hello, frame, outcomes

PARTS = ("heif", "jxl", "svg", "poppler")
"""The parts of the codec library that a worker prepares only when it is asked to."""


class WorkerGone(Exception):
    """The worker ended, or did not answer in time."""


class CodecWorker:
    """A worker that was started and has said hello; it ends when it is closed."""

    def __init__(
        self,
        binary: Path,
        environment: Optional[Mapping[str, str]] = None,
        patience: Optional[float] = None,
        is_quiet: bool = False,
        parts: Sequence[str] = PARTS,
    ) -> None:
        """Starts ``binary``, by default in this process's environment.

        ``parts`` are prepared, by default all. ``patience`` is how many seconds one answer may take, by default for ever. A quiet worker's complaints go nowhere.
        Raises ``WorkerGone``, and ``MessageError`` when it speaks another version of the messages.
        """
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(patience)
        # The worker finds its socket as descriptor 0 when there is no 3.
        self.process = subprocess.Popen(
            [str(binary), *parts],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if is_quiet else None,
            env=environment,
        )
        theirs.close()
        try:
            check_hello(self._receive())
        except Exception:
            self.kill()
            raise

    def render(self, request: Request) -> list[Outcome]:
        """What became of each output of the request. Raises ``WorkerGone``, and ``MessageError`` for what is no reply."""
        files = [os.open(request.source, os.O_RDONLY)]
        try:
            for output in request.outputs:
                if output.format is not None:
                    files.append(os.open(output.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            data = frame(request)
            sent = socket.send_fds(self._socket, [data], files)
            self._socket.sendall(data[sent:])
        except OSError as error:
            raise WorkerGone(str(error)) from error
        finally:
            for file in files:
                os.close(file)
        found = outcomes(self._receive())
        for output, outcome in zip(request.outputs, found):
            if outcome.kind != MADE and output.format is not None:
                os.unlink(output.path)
        return found

    def processor_time(self) -> float:
        """Milliseconds of a processor that it used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """The most memory that it held, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self) -> int:
        """Ends the worker by closing its socket; its exit code."""
        self._socket.close()
        return self.process.wait(30)

    def kill(self) -> None:
        """Ends the worker whatever it does."""
        self.process.kill()
        self.close()

    def __enter__(self) -> CodecWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _receive(self) -> bytes:
        return self._exactly(struct.unpack("<I", self._exactly(4))[0])

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                piece = self._socket.recv(count - len(data))
            except OSError as error:
                raise WorkerGone(str(error)) from error
            if not piece:
                raise WorkerGone(f"The codec worker ended with {self.process.wait(10)}.")
            data += piece
        return data
