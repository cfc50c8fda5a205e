"""The servers of the asynchronous client, one after the other."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, List, Optional, Sequence, Tuple, TypeVar

from .async_transport import AsyncTransport, Sent
from .calls import ProgressCallback
from .delegates import AsyncDelegates, declaration
from .errors import HalcyonError, ServerGone
from .failures import CLOSED, NotSent
from .lives import Lives
from .locks import deadline_in
from .process import Launch, ServerProcess
from .restored import RESTORED, Restored
from .servers import log

T = TypeVar("T")


class AsyncServers:
    """Sends the requests of one client to a server, and starts another one when that has died.

    As `Servers` of the synchronous client. Use `await AsyncServers.start(launch, delegates)`.
    """

    def __init__(self, launch: Launch, delegates: AsyncDelegates) -> None:
        self._launch = launch
        self._delegates = dict(delegates)
        self._restored = Restored()
        self._lives = Lives()
        self._dead: Optional[AsyncTransport] = None
        self._is_closed = False
        self._starting = asyncio.Lock()
        self._transport: AsyncTransport

    @classmethod
    async def start(cls, launch: Launch, delegates: AsyncDelegates) -> "AsyncServers":
        """Starts the first server."""
        self = cls(launch, delegates)
        self._transport = await self._start()
        return self

    async def introduce(self) -> None:
        """Tells the first server what is answered."""
        if self._delegates:
            try:
                await self.request("initialize", declaration(self._delegates))
            except BaseException:
                await self.close(0)
                raise

    @property
    def pid(self) -> int:
        """The process id of the server, or of the last one."""
        return self._transport.pid

    @property
    def is_closed(self) -> bool:
        """True when this side has ended the connection."""
        return self._is_closed

    # Requests

    async def request(
        self,
        method: str,
        wire: str,
        on_progress: Optional[ProgressCallback] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Sends one request and returns its result as JSON gave it."""
        result = await self._send(lambda other: other.request(method, wire, on_progress, timeout))
        if method in RESTORED:
            self._restored.note(method, wire)
        return result

    async def requests(self, method: str, wires: Sequence[str]) -> Tuple[AsyncTransport, List[Sent]]:
        """Sends one request for each of `wires`, all in one write; also tells through which connection.

        Never raises: a request that cannot be sent has failed already when it is returned.
        """

        async def send(transport: AsyncTransport) -> Tuple[AsyncTransport, List[Sent]]:
            return transport, transport.requests(method, wires)

        try:
            return await self._send(send)
        except HalcyonError as error:
            loop = asyncio.get_running_loop()
            failed = [Sent(0, loop.create_future()) for _ in wires]
            for one in failed:
                one.answer.set_exception(error)
            return self._transport, failed

    async def notify(self, method: str, wire: str) -> None:
        """Sends one notification, and waits while the pipe is full."""
        await self._send(lambda other: other.notify(method, wire))

    async def next_event(self, timeout: Optional[float]) -> Any:
        """The next notification that belongs to no call; None when `timeout` seconds pass first."""
        return await (await self.living()).next_event(timeout)

    async def _send(self, send: Callable[[AsyncTransport], Awaitable[T]]) -> T:
        transport = await self.living()
        try:
            return await send(transport)
        except NotSent:
            transport = await self._replace(transport)
        try:
            return await send(transport)
        except NotSent:  # it died at once
            await transport.retire()
            raise transport.why_gone() from None

    # Lives

    async def living(self) -> AsyncTransport:
        """The connection to the server, or to another one when that is known to have ended.

        Raises ServerGone when the time for another has not come yet, or this client was closed.
        """
        transport = self._transport
        if not transport.ended or transport.closing:
            return transport
        return await self._replace(transport)

    async def _replace(self, dead: AsyncTransport) -> AsyncTransport:
        async with self._starting:
            if self._is_closed:
                raise ServerGone(CLOSED)
            if self._transport is not dead:
                return self._transport
            if self._dead is not dead:
                await dead.retire()
                self._dead = dead
                self._lives.end()
            self._lives.check(dead.why_gone())
            transport = await self._start()
            transport.take_events(dead)
            try:
                for method, wire in self._restored.calls():
                    (sent,) = transport.requests(method, [wire])
                    sent.answer.add_done_callback(_teller(method))
            except NotSent:  # the call that follows meets the same end, and tells it
                pass
            self._transport = transport
            return transport

    async def _start(self) -> AsyncTransport:
        transport = await AsyncTransport.open(ServerProcess(self._launch))
        self._lives.begin()
        if self._delegates:
            transport.answer_with(self._delegates)
        return transport

    async def close(self, grace: float) -> None:
        """Ends the server, and starts no other."""
        deadline_in(grace)  # raises before anything is done
        self._is_closed = True
        async with self._starting:  # a server that is being started is there afterwards
            await self._transport.close(grace)


def _teller(method: str) -> "Callable[[asyncio.Future[Any]], None]":
    def tell(answer: "asyncio.Future[Any]") -> None:
        error = None if answer.cancelled() else answer.exception()
        if isinstance(error, HalcyonError) and not isinstance(error, ServerGone):
            log.warning("The new server does not take %s of the last one: %s", method, error)

    return tell
