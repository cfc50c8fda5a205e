"""Many requests, their answers in the order asked or as they come, for asyncio."""

from __future__ import annotations

import asyncio
import functools
import itertools
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Tuple, TypeVar, Union

from .async_servers import AsyncServers
from .async_transport import AsyncTransport, Sent
from .batch import WINDOW
from .errors import CallTimedOut, HalcyonError
from .locks import deadline_in
from .notices import Progress

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
        deadline = deadline_in(timeout)
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
                        raise CallTimedOut.after(method, timeout)
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

    async def _as_completed(
        self,
        method: str,
        items: List[str],
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
        on_progress: Optional[Callable[[str, Progress], object]],
    ) -> AsyncIterator[Tuple[str, Union[T, HalcyonError]]]:
        deadline = deadline_in(timeout)
        finished: "asyncio.Queue[int]" = asyncio.Queue()
        tasks: Dict[int, "asyncio.Task[Any]"] = {}
        unsent = iter(range(len(items)))

        def send(place: int) -> None:
            report = None if on_progress is None else functools.partial(on_progress, items[place])
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            task = asyncio.ensure_future(self._servers.request(method, wires[place], report, left))
            tasks[place] = task
            task.add_done_callback(lambda _: finished.put_nowait(place))

        try:
            for place in itertools.islice(unsent, WINDOW):
                send(place)
            while tasks:
                place = await finished.get()
                result: Union[T, HalcyonError]
                try:
                    result = decode(tasks.pop(place).result())
                except HalcyonError as error:
                    result = CallTimedOut.after(method, timeout) if isinstance(error, CallTimedOut) else error
                    if not return_exceptions:
                        raise result from None
                for following in itertools.islice(unsent, 1):
                    send(following)
                yield items[place], result
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)


def _abandon(one: Tuple[AsyncTransport, Sent]) -> None:
    one[0].abandon(one[1])
