"""Many requests in one write, answers in the order asked, for asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Callable, List, Optional, Tuple, TypeVar, Union

from .async_servers import AsyncServers
from .async_transport import AsyncTransport, Sent
from .batch import WINDOW
from .errors import CallTimedOut, HalcyonError

T = TypeVar("T")


class AsyncBatches:
    """Requests of `AsyncClient` for many images at once; as `Batches` of the synchronous client."""

    @property
    def _servers(self) -> AsyncServers:
        raise NotImplementedError

    async def _many(
        self,
        method: str,
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
    ) -> List[Union[T, HalcyonError]]:
        servers = self._servers
        deadline = None if timeout is None else time.monotonic() + timeout
        results: List[Union[T, HalcyonError]] = []
        sent: List[Tuple[AsyncTransport, Sent]] = []
        try:
            for item in range(len(wires)):
                while len(sent) < min(item + WINDOW + 1, len(wires)):
                    window = wires[len(sent) : len(sent) + WINDOW]
                    transport, more = await servers.requests(method, window)
                    sent += [(transport, one) for one in more]
                    await transport.room()
                answer = sent[item][1].answer
                try:
                    if not answer.done():
                        left = None if deadline is None else max(0.0, deadline - time.monotonic())
                        await asyncio.wait({answer}, timeout=left)
                    if not answer.done():
                        raise CallTimedOut(
                            "%s was not answered within %g seconds." % (method, timeout or 0)
                        )
                    results.append(decode(answer.result()))
                except HalcyonError as error:
                    if not return_exceptions:
                        raise
                    _abandon(sent[item])
                    results.append(error)
            return results
        finally:
            for left_over in sent[len(results) :]:
                _abandon(left_over)


def _abandon(one: Tuple[AsyncTransport, Sent]) -> None:
    one[0].abandon(one[1])
