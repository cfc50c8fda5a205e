"""A web server whose pictures carry their URL and number, and which counts what reaches it."""

from __future__ import annotations

import collections
import http.server
import threading
import time

from .pictures import picture


class QuietServer(http.server.ThreadingHTTPServer):
    """Serves each connection in a thread, and says nothing of those that break off."""

    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # A killed client resets its connection.


class Web:
    """Serves ``/N`` as a picture of ``key = its URL`` and ``version = how often it was asked for``."""

    def __init__(self, size: int, delay: float = 0.0) -> None:
        self.hits: collections.Counter[str] = collections.Counter()
        self.delay = delay
        lock = threading.Lock()
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with lock:
                    web.hits[self.path] += 1
                    version = web.hits[self.path]
                time.sleep(web.delay)
                body = picture(web.base + self.path, version, size)
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "image/png")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # The asker was killed.

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
