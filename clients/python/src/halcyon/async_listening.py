"""The events that were subscribed to, as they come, for asyncio."""

from __future__ import annotations

from typing import AsyncIterator, Optional

from .async_servers import AsyncServers
from .errors import ServerGone
from .notices import Event, event_from_wire


class AsyncListening:
    """Subscriptions of `AsyncClient` to events."""

    @property
    def _servers(self) -> AsyncServers:
        raise NotImplementedError

    async def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Waits for the next event; None when `timeout` seconds pass first; as `Client.next_event`."""
        return event_from_wire(await self._servers.next_event(timeout))

    async def events(self) -> AsyncIterator[Event]:
        """Goes through the events as they come, until this client is closed; as `Client.events`."""
        while True:
            try:
                event = await self.next_event()
            except ServerGone:
                if self._servers.is_closed:
                    return
                await self._servers.living()
                continue
            if event is not None:
                yield event
