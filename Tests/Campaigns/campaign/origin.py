"""A web server whose answer to each URL is scripted, and which keeps every request that reaches it."""

from __future__ import annotations

import http.server
import sys
import threading
import time
from typing import Any, Callable, Mapping, NamedTuple, Optional

#: The longest time that a held answer waits for its release, in seconds. Who waits for it is then known to wait.
PATIENCE = 3.0


class Seen(NamedTuple):
    """One request as the origin got it."""

    path: str
    #: The header fields, with names in small letters.
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """One answer of the origin."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    #: `True` to close the connection before the end of the body.
    breaks: bool = False


Script = Callable[[Seen], Answer]


class Place:
    """The URLs below one path: their script, the requests that came, and a gate before the answers."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        #: When set, answers wait until it is opened.
        self.gate: Optional[threading.Event] = None
        #: `True` when an answer was sent because the gate stayed closed for too long.
        self.was_stuck = False


class Origin:
    """Serves the places on a port of this machine."""

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._news = threading.Condition()
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", "0")))
                seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()})
                answer = origin._answer(seen)
                self.close_connection = answer.breaks
                lines = [f"HTTP/1.1 {answer.status} Scripted"]
                lines += [f"{name}: {value}" for name, value in answer.headers.items()]
                if answer.status != 304:
                    lines.append(f"Content-Length: {len(answer.body) + answer.breaks}")
                body = b"" if answer.status == 304 else answer.body
                try:
                    self.wfile.write("\r\n".join([*lines, "", ""]).encode() + body)
                except OSError:
                    pass  # The asker has gone.

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, request: Any, client_address: Any) -> None:
                # A server that ends resets its connections.
                if not isinstance(sys.exc_info()[1], OSError):
                    super().handle_error(request, client_address)

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def place(self, name: str, script: Script) -> Place:
        """A new place: it answers ``/NAME`` and all below it."""
        place = Place(script)
        self._places[name] = place
        return place

    def drop(self, name: str) -> None:
        """Forgets a place."""
        del self._places[name]

    def _answer(self, seen: Seen) -> Answer:
        place = self._places.get(seen.path.split("/")[1])
        if place is None:
            return Answer(410)
        with self._news:
            place.seen.append(seen)
            self._news.notify_all()
        if place.gate is not None and not place.gate.wait(PATIENCE):
            place.was_stuck = True
        return place.script(seen)

    def awaits(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until the condition holds, which is looked at whenever a request comes; ``False`` when it never does."""
        end = time.monotonic() + seconds
        with self._news:
            return self._news.wait_for(condition, max(0.0, end - time.monotonic()))

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
