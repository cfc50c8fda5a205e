"""The synchronous client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import requests as params_of
from .batch import Batches
from .calls import PendingCall, ProgressCallback
from .delegates import Delegates, declaration
from .listening import Listening
from .methods import Methods
from .process import ServerProcess, Stderr, flags
from .requests import Params, StrPath
from .transport import Transport

T = TypeVar("T")


class Client(Batches, Listening, Methods):
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
        declared = declaration(delegates) if delegates else None
        process = ServerProcess(binary, cache_dir, flags(schemes, args), env, stderr)
        self._transport = Transport(process)
        self.pid = process.pid
        """The server's process id."""
        if delegates and declared is not None:
            self._transport.answer_with(dict(delegates))
            try:
                self._transport.request("initialize", declared).result()
            except BaseException:
                self._transport.close(0)
                raise

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
        or ServerGone. Closing twice is allowed, and from any thread.
        """
        self._transport.close(grace)

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
        return _answer(self.submit(method, params, progress=progress), timeout)

    def notify(self, method: str, params: Params = None) -> None:
        """Sends a notification, which the server never answers."""
        self._transport.notify(method, params_of.text(params))

    def submit(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
    ) -> "PendingCall[Any]":
        """Sends a call and returns at once; `.result()` waits, `.cancel()` gives it up."""
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return self._transport.request(method, wire, None, progress)

    # The helpers of the generated methods.

    def _call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float],
        progress: Optional[ProgressCallback] = None,
    ) -> T:
        if timeout is None and progress is None:
            return self._transport.call(method, wire, decode)
        return _answer(self._transport.request(method, wire, decode, progress), timeout)


def _answer(call: "PendingCall[T]", timeout: Optional[float]) -> T:
    try:
        return call.result(timeout)
    except BaseException:
        # Too late, Ctrl-C, or a progress callback that raised: nobody waits for it any more.
        call.cancel_if_open()
        raise
