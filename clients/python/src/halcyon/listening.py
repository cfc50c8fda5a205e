"""The events that were subscribed to, as they come."""

from __future__ import annotations

from typing import Iterator, Optional

from .errors import ServerGone
from .notices import Event, event_from_wire
from .transport import Transport


class Listening:
    """Subscriptions of `Client` to events."""

    _transport: Transport

    def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Waits for the next event; None when `timeout` seconds pass first, 0 to only look.

        Up to 1,024 events wait to be taken; of more the oldest go. Raises ServerGone.
        """
        return event_from_wire(self._transport.next_event(timeout))

    def events(self) -> Iterator[Event]:
        """Goes through the events as they come, until this client is closed.

        Best on a thread of its own: it waits. Raises ServerGone when the server ended by itself.
        """
        while True:
            try:
                event = self.next_event()
            except ServerGone:
                if self._transport.closing:
                    return
                raise
            if event is not None:
                yield event
