"""The server as a child process: found, started, watched and ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import weakref
from typing import IO, Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union

from .errors import BinaryNotFound

StrPath = Union[str, os.PathLike[str]]

Stderr = Union[None, Literal["discard"], int, IO[Any], Callable[[str], object]]
"""The destination of the server's log: None = this program's own standard error, "discard", a descriptor
or open file, or a function that is called with each line (on a thread of its own)."""

_THREE_WAYS = (
    "halcyon is looked for by the argument binary=, then by the environment variable HALCYON_BIN, "
    "then on PATH"
)


def find_binary(binary: Optional[StrPath] = None) -> str:
    """The absolute path of the server's executable.

    `binary` is a path, or a name on PATH. Without it HALCYON_BIN counts, then `halcyon` on PATH.
    A way that is given but leads nowhere is an error; the next one is not tried in its place.
    Raises BinaryNotFound, which tells what each of the three ways held.
    """
    if binary is not None:
        wanted, way = os.fspath(binary), "binary=%r" % os.fspath(binary)
    elif os.environ.get("HALCYON_BIN"):
        wanted = os.environ["HALCYON_BIN"]
        way = "HALCYON_BIN=%r" % wanted
    else:
        wanted, way = "halcyon", ""
    found = shutil.which(wanted)
    if found is not None:
        return os.path.abspath(found)
    if way:
        raise BinaryNotFound("%s is not an executable file (%s)." % (way, _THREE_WAYS))
    raise BinaryNotFound(
        "There is no halcyon executable: %s; the first two are not set and PATH holds none. "
        "Build it with `swift build -c release` and set HALCYON_BIN to .build/release/halcyon."
        % _THREE_WAYS
    )


def flags(schemes: Union[str, Sequence[str], None], args: Sequence[str]) -> List[str]:
    """The flags of the server for what a client was given."""
    if schemes is None:
        return list(args)
    names = [schemes] if isinstance(schemes, str) else schemes
    return ["--allowed-schemes", ",".join(names), *args]


class ServerProcess:
    """One running server and the descriptors that lead to it.

    It runs in a session of its own, so that Ctrl-C at the terminal reaches this program alone,
    and ends by itself when its standard input closes, also when this program is killed.
    """

    def __init__(
        self,
        binary: Optional[StrPath],
        cache_dir: Optional[StrPath],
        args: Sequence[str],
        env: Optional[Mapping[str, str]],
        stderr: Stderr,
    ) -> None:
        self.path = find_binary(binary)
        command: List[str] = [self.path, "serve"]
        if cache_dir is not None:
            command += ["--cache-dir", os.path.abspath(cache_dir)]
        command += args
        environment: Optional[Dict[str, str]] = None if env is None else {**os.environ, **env}
        listener = stderr if callable(stderr) else None
        target: Any = stderr
        if listener is not None:
            target = subprocess.PIPE
        elif stderr == "discard":
            target = subprocess.DEVNULL
        elif stderr == subprocess.PIPE or stderr == subprocess.STDOUT:
            raise ValueError(
                "stderr= takes a function, a file, \"discard\" or None: a pipe that nobody reads "
                "would stop the server when it is full, and STDOUT carries the protocol."
            )
        try:
            self._child = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=target,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise BinaryNotFound(
                "%s cannot be started: %s (%s)."
                % (self.path, error.strerror or error, _THREE_WAYS)
            ) from error
        assert self._child.stdin is not None and self._child.stdout is not None
        self.stdin: IO[bytes] = self._child.stdin
        self.stdout: IO[bytes] = self._child.stdout
        self.pid = self._child.pid
        if listener is not None and self._child.stderr is not None:
            threading.Thread(
                target=_drain, args=(self._child.stderr, listener), daemon=True
            ).start()
        # Runs when the owner was forgotten without close(), at the latest when the program ends.
        self._owner: Optional["weakref.WeakMethod[Callable[[], None]]"] = None
        _alive.add(self)
        self._last_resort = weakref.finalize(self, _abandon, self._child, os.getpid())

    def wait(self, seconds: float) -> Optional[int]:
        """The exit status, or None when the server still runs after that time."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> None:
        """Asks the server to end now; it answers what is open with ServerCancelled."""
        self._child.terminate()

    def kill(self) -> None:
        """Ends the server at once."""
        self._child.kill()

    def ending(self) -> "tuple[str, Optional[int]]":
        """The end of the server, in words and as a status; called once its output has ended.

        A server that closed its output and lives on is of no use any more and is killed.
        """
        status = self.wait(2.0)
        if status is None:
            self.kill()
            self.wait(2.0)
            return "it closed its output without exiting and was killed", None
        if status < 0:
            try:
                return "killed by %s" % signal.Signals(-status).name, status
            except ValueError:
                return "killed by signal %d" % -status, status
        return "exit status %d" % status, status

    def leave_to_parent(self) -> None:
        """Lets go of the server in a forked child: the parent's closing must be its end."""
        self._last_resort.detach()
        for stream in (self.stdin, self.stdout):
            stream.close()
        self._child.returncode = 0
        owner = None if self._owner is None else self._owner()
        if owner is not None:
            owner()

    def in_forked_child(self, tell: Callable[[], None]) -> None:
        """Has the method `tell`, which is not kept alive, called in every forked child."""
        self._owner = weakref.WeakMethod(tell)


def _drain(stream: IO[bytes], listener: Callable[[str], object]) -> None:
    with stream:
        for line in stream:
            try:
                listener(line.decode(errors="replace").rstrip("\r\n"))
            except Exception:  # a listener that fails must not stop the server
                continue


def _abandon(child: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() != owner or child.returncode is not None:
        return
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                pass
    for end in (None, child.terminate, child.kill):
        if end is not None:
            end()
        try:
            child.wait(1.0)
            return
        except subprocess.TimeoutExpired:
            continue


_alive: "weakref.WeakSet[ServerProcess]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for process in list(_alive):
        process.leave_to_parent()
    _alive.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
