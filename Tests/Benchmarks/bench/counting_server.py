"""A web server that counts the requests that reach it and answers none before its gate opens."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import Iterator


class CountingServer:
    """Serves one picture at every path. ``hits`` is how many requests have arrived; ``open`` lets the answers out."""

    def __init__(self, body: bytes, patience: float) -> None:
        self.hits = 0
        self.base = ""
        self._body = body
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._gate: asyncio.Event

    def open(self) -> None:
        """Answers everything that waits and everything that comes; callable from any thread."""
        self._loop.call_soon_threadsafe(self._gate.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {len(self._body)}\r\n\r\n".encode()
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.hits += 1
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._gate.wait(), self._patience)
                writer.write(head + self._body)
                await writer.drain()
        writer.close()

    def _serve(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._gate = asyncio.Event()  # made here, because before Python 3.10 it belongs to the loop of its thread
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=4096))
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))


@contextlib.contextmanager
def counting(body: bytes, patience: float) -> Iterator[CountingServer]:
    """Runs a counting server on a free port; an answer is let out by ``open`` or after ``patience`` seconds."""
    server = CountingServer(body, patience)
    ready = threading.Event()
    thread = threading.Thread(target=server._serve, args=(ready,), daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield server
    finally:
        server._loop.call_soon_threadsafe(server._loop.stop)
        thread.join(30)
