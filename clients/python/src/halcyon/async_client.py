"""The asynchronous client."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, TypeVar, Union

from . import requests as params_of
from .async_batch import AsyncBatches
from .async_listening import AsyncListening
from .async_methods import AsyncMethods
from .async_servers import AsyncServers
from .calls import ProgressCallback
from .delegates import AsyncDelegates, declaration
from .errors import ServerGone
from .process import Launch, Stderr, flags
from .requests import Params, StrPath

T = TypeVar("T")


class AsyncClient(AsyncBatches, AsyncListening, AsyncMethods):
    """Starts a halcyon server and calls it from asyncio; many tasks may share one client.

    Takes what `Client` takes. The server starts with `async with`, or with `await start()`, and
    the client belongs to the event loop that runs then. Cancelling a task that waits for an answer
    cancels the request. Progress callbacks are plain functions, called on the event loop; what
    they raise is raised by the call. Delegates may be coroutine functions. Not usable after fork.
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
        delegates: Optional[AsyncDelegates] = None,
    ) -> None:
        declaration(delegates or {})  # raises for what is no function
        self._delegates = dict(delegates or {})
        self._arguments = (binary, cache_dir, flags(schemes, args), env, stderr)
        self._opened: Optional[AsyncServers] = None
        self._opening: Optional[asyncio.Lock] = None

    @property
    def pid(self) -> Optional[int]:
        """The process id of the server, None before `start`; another one's, once it was started anew."""
        return None if self._opened is None else self._opened.pid

    async def start(self) -> "AsyncClient":
        """Starts the server, once, and returns this client. Raises BinaryNotFound."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._opened is None:
                launch = Launch(*self._arguments)
                servers = await AsyncServers.start(launch, self._delegates)
                await servers.introduce()
                self._opened = servers
        return self

    async def __aenter__(self) -> "AsyncClient":
        return await self.start()

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self, grace: float = 5.0) -> None:
        """Ends the server: closes its input, waits `grace` seconds, then SIGTERM, then SIGKILL."""
        if self._opened is not None:
            await self._opened.close(grace)

    @property
    def _servers(self) -> AsyncServers:
        if self._opened is None:
            raise ServerGone("This client was not started: use `async with`, or await start().")
        return self._opened

    # Anything else

    async def call(
        self,
        method: str,
        params: Params = None,
        *,
        progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls any method and returns its result as JSON gave it; as `Client.call`."""
        wire = params_of.text(params) if progress is None else params_of.named_text(params)
        return await self._servers.request(method, wire, progress, timeout)

    async def notify(self, method: str, params: Params = None) -> None:
        """Sends a notification, which the server never answers."""
        await self._servers.notify(method, params_of.text(params))

    # The helpers of the generated methods.

    async def _call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float],
        progress: Optional[ProgressCallback] = None,
    ) -> T:
        return decode(await self._servers.request(method, wire, progress, timeout))
