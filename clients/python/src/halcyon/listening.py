"""The events that were subscribed to, as they come."""

from __future__ import annotations

from typing import Iterator, Optional

from .errors import ServerGone
from .notices import Event, event_from_wire
from .servers import Servers


class Listening:
    """Subscriptions of `Client` to events."""

    _servers: Servers

    def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Waits for the next event; None when `timeout` seconds pass first, 0 to only look.

        Up to 1,024 events wait to be taken; of more the oldest go. Raises ServerGone when the
        server ends meanwhile; the next call starts another, with the same subscriptions.
        """
        return event_from_wire(self._servers.next_event(timeout))

    def events(self) -> Iterator[Event]:
        """Goes through the events as they come, until this client is closed.

        Best on a thread of its own: it waits. When the server dies it starts another, and goes on:
        what happened in between is missed. Raises ServerGone when that is not to be done yet.
        """
        while True:
            try:
                event = self.next_event()
            except ServerGone:
                if self._servers.is_closed:
                    return
                self._servers.living()
                continue
            if event is not None:
                yield event
