"""The server as a child process: found, started, watched and ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import weakref
from typing import IO, Any, Callable, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Union

from .errors import BinaryNotFound
from .stderr import StandardError

StrPath = Union[str, os.PathLike[str]]

Stderr = Union[None, Literal["discard"], int, IO[Any], Callable[[str], object]]
"""The destination of the server's log: None = this program's own standard error, "discard", a descriptor
or open file, or a function that is called with each line (on a thread of its own)."""

_THREE_WAYS = (
    "halcyon is looked for by the argument binary=, then by the environment variable HALCYON_BIN, "
    "then on PATH"
)

_CARRIED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "halcyon")
"""The executable that a wheel for this platform carries; it is looked for before PATH, as it is of the same version."""


def find_binary(binary: Optional[StrPath] = None) -> str:
    """The absolute path of the server's executable.

    `binary` is a path, or a name on PATH. Without it HALCYON_BIN counts, then the executable that came
    with this package, if one did, then `halcyon` on PATH.
    A way that is given but leads nowhere is an error; the next one is not tried in its place.
    Raises BinaryNotFound, which tells what each of the three ways held.
    """
    if binary is not None:
        wanted, way = os.fspath(binary), "binary=%r" % os.fspath(binary)
    elif os.environ.get("HALCYON_BIN"):
        wanted = os.environ["HALCYON_BIN"]
        way = "HALCYON_BIN=%r" % wanted
    else:
        wanted, way = _CARRIED if os.path.exists(_CARRIED) else "halcyon", ""
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
    if isinstance(args, str):
        raise TypeError("args is a list of flags, such as [%r], not one string." % args)
    if schemes is None:
        return list(args)
    names = [schemes] if isinstance(schemes, str) else schemes
    return ["--allowed-schemes", ",".join(names), *args]


class Launch:
    """All that the servers of one client are started with.

    Looked up once: the next server is started as the first one was, wherever this program is by
    then. Raises BinaryNotFound.
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
        self.command: List[str] = [self.path, "serve"]
        if cache_dir is not None:
            self.command += ["--cache-dir", os.path.abspath(cache_dir)]
        self.command += args
        self.env = None if env is None else dict(env)
        self.listener = stderr if callable(stderr) else None
        self.log: Optional[int] = None
        if stderr is None:
            self.log = 2
        elif stderr == subprocess.PIPE or stderr == subprocess.STDOUT:
            raise ValueError(
                "stderr= takes a function, a file, \"discard\" or None: a pipe that nobody reads "
                "would stop the server when it is full, and STDOUT carries the protocol."
            )
        elif not callable(stderr) and stderr != "discard":
            # One of our own: the file may be closed once the client was made.
            self.log = os.dup(stderr if isinstance(stderr, int) else stderr.fileno())
            weakref.finalize(self, os.close, self.log)


class Ending(NamedTuple):
    """The end of a server: in words, as a status and as the name of a signal, and its last words."""

    how: str
    status: Optional[int] = None
    signal: Optional[str] = None
    stderr: Sequence[str] = ()

    def data(self, retryable: bool = True) -> Dict[str, Any]:
        """The same as the `data` of an error; not `retryable` when this side has ended the server."""
        return {
            "exitStatus": self.status,
            "signal": self.signal,
            "stderr": list(self.stderr),
            "retryable": retryable,
        }

    def told(self, complaint: Optional[str]) -> str:
        """The same as a message; `complaint` is what the server was ended for."""
        said = "".join("\n    " + line for line in self.stderr)
        return "The halcyon server is gone: %s.%s" % (complaint or self.how, said and " It said:" + said)


class ServerProcess:
    """One running server and the descriptors that lead to it.

    It runs in a session of its own, so that Ctrl-C at the terminal reaches this program alone,
    and ends by itself when its standard input closes, also when this program is killed.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        environment = None if launch.env is None else {**os.environ, **launch.env}
        # A fork in between would leave a child with the pipes of a server that it does not know of.
        with _starting:
            try:
                self._child = subprocess.Popen(
                    launch.command,
                    bufsize=0,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise BinaryNotFound(
                    "%s cannot be started: %s (%s)."
                    % (launch.path, error.strerror or error, _THREE_WAYS)
                ) from error
            try:
                self._take_charge(self._child, launch)
            except BaseException:  # Ctrl-C: nobody else would end it
                self._child.kill()
                self._child.wait()
                raise

    def _take_charge(self, child: "subprocess.Popen[bytes]", launch: Launch) -> None:
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        self.stdin: IO[bytes] = child.stdin
        self.stdout: IO[bytes] = child.stdout
        self.pid = child.pid
        # Runs when the owner was forgotten without close(), at the latest when the program ends.
        self._owner: Optional["weakref.WeakMethod[Callable[[], None]]"] = None
        self._stderr = StandardError(child.stderr, launch.log, launch.listener)
        self._last_resort = weakref.finalize(self, _abandon, child, self._stderr, os.getpid())
        _alive.add(self)

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

    def ending(self) -> Ending:
        """The end of the server; called once its output has ended.

        A server that closed its output and lives on is of no use any more and is killed.
        """
        status = self.wait(2.0)
        how, name = "", None
        if status is None:
            self.kill()
            self.wait(2.0)
            how = "it closed its output without exiting and was killed"
        elif status < 0:
            try:
                name = signal.Signals(-status).name
            except ValueError:
                name = "signal %d" % -status
            how = "killed by %s" % name
        else:
            how = "exit status %d" % status
        return Ending(how, status, name, self._stderr.last_lines())

    def leave_to_parent(self) -> None:
        """Lets go of the server in a forked child: the parent's closing must be its end."""
        self._last_resort.detach()
        for stream in (self.stdin, self.stdout, self._stderr.stream):
            stream.close()
        self._child.returncode = 0
        owner = None if self._owner is None else self._owner()
        if owner is not None:
            owner()

    def in_forked_child(self, tell: Callable[[], None]) -> None:
        """Has the method `tell`, which is not kept alive, called in every forked child."""
        self._owner = weakref.WeakMethod(tell)


def _abandon(child: "subprocess.Popen[bytes]", stderr: StandardError, owner: int) -> None:
    if os.getpid() != owner:
        return
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                pass
    if child.returncode is not None:
        return
    for end in (None, child.terminate, child.kill):
        if end is not None:
            end()
        try:
            child.wait(1.0)
            stderr.wait()
            return
        except subprocess.TimeoutExpired:
            continue


_starting = threading.RLock()
_alive: "weakref.WeakSet[ServerProcess]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for process in list(_alive):
        process.leave_to_parent()
    _alive.clear()
    _starting.release()


os.register_at_fork(
    before=_starting.acquire,
    after_in_parent=_starting.release,
    after_in_child=_after_fork_in_child,
)
