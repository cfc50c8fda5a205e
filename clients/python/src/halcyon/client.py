"""The synchronous client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import requests as params_of
from .batch import Batches
from .calls import PendingCall, ProgressCallback
from .decoding import as_it_is
from .delegates import Delegates, declaration
from .listening import Listening
from .methods import Methods
from .process import Launch, Stderr, flags
from .requests import Params, StrPath
from .servers import Servers
from .submitting import Submitting

T = TypeVar("T")


class Client(Batches, Listening, Submitting, Methods):
    """Starts a halcyon server and calls it; any number of threads may share one client.

    `binary` is the executable (default: the environment variable HALCYON_BIN, then `halcyon` on
    PATH), `cache_dir` the cache folder (default: the server's own), `schemes` the only URL schemes
    to load from (default: http, https, file and data), `args` further flags of `halcyon serve`,
    `env` variables set on top of this program's, `stderr` where the server's log goes. `delegates` decide about downloads while they run, one question at a time, on a thread
    of their own. Raises BinaryNotFound. Close it, or use it in a `with`; a client cannot be used after
    fork, where it stays the parent's: the child makes its own.

    Every method takes `timeout=`, the seconds to wait for the answer (default: for ever; the
    server has time-outs of its own, see ImageOptions); when it passes, the call is cancelled and
    CallTimedOut raised. All raise HalcyonError: a subclass for each code of the protocol, and
    ServerGone when the server ended. Ctrl-C while waiting cancels the call.

    A server that died is started again by the next call, with the settings, folders, pause and
    subscriptions that this client gave the last one.
    """

    def __init__(
        self,
        *,
        binary: Optional[StrPath] = None,
        cache_dir: Optional[StrPath] = None,
        schemes: Union[str, Sequence[str], None] = None,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, str]] = None,
        stderr: Stderr = None,
        delegates: Optional[Delegates] = None,
    ) -> None:
        declaration(delegates or {})  # raises for what is no function, before anything is started
        self._servers = Servers(Launch(binary, cache_dir, flags(schemes, args), env, stderr), delegates)

    @property
    def pid(self) -> int:
        """The process id of the server; another one's, once it was started anew."""
        return self._servers.pid

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self, grace: float = 5.0) -> None:
        """Ends the server: closes its input, waits, then SIGTERM, then SIGKILL.

        Open calls have `grace` seconds to be answered; those that are not raise ServerCancelled
        or ServerGone. Closing twice is allowed, and from any thread. A signal handler should raise
        an exception, after which the client is closed, rather than call the client.
        """
        self._servers.close(grace)

    # Anything else

    def call(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls any method and returns its result as JSON gave it.

        `params` are a mapping, or a sequence by position (not with `progress`).
        """
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return self._servers.call(method, wire, as_it_is, timeout, progress)

    def notify(self, method: str, params: Params = None) -> None:
        """Sends a notification, which the server never answers."""
        self._servers.notify(method, params_of.text(params))

    def _submit(
        self,
        method: str,
        params: Params,
        decode: Callable[[Any], T],
        progress: Optional[ProgressCallback],
    ) -> "PendingCall[T]":
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return self._servers.submit(method, wire, decode, progress)

    # The helpers of the generated methods.

    def _call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float],
        progress: Optional[ProgressCallback] = None,
    ) -> T:
        return self._servers.call(method, wire, decode, timeout, progress)
