"""Shows the client at work: ``python -m halcyon`` with pictures of its own, or ``python -m halcyon URL…`` with yours."""

from __future__ import annotations

import http.server
import struct
import sys
import tempfile
import threading
import zlib
from typing import Any, List, Sequence

from . import BinaryNotFound, Client, HalcyonError, ImageResult


def _picture(size: int, shade: int) -> bytes:
    """A PNG with a gradient."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes((x + y + shade) % 256 for x in range(size)) for y in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class _Pictures(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        _Pictures.asked += 1
        body = _picture(200, hash(self.path) % 256)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _line(image: ImageResult) -> str:
    origins = {"none": "downloaded", "memory": "from memory", "disk": "from disk", "remote": "from the remote tier"}
    origin = origins.get(image.cache_type, image.cache_type)  # a newer server may name another
    return "%-12s %s, %d×%d, %d bytes\n             %s" % (
        origin,
        image.format,
        image.width or 0,
        image.height or 0,
        image.byte_count or 0,
        image.path,
    )


def _demonstrate() -> int:
    """Fetches pictures from a web server of this program, into a cache that goes with it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pictures)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = "http://127.0.0.1:%d" % server.server_address[1]
    with tempfile.TemporaryDirectory(prefix="halcyon-demo-") as cache, Client(cache_dir=cache) as images:
        print("A picture from a web server of this program:")
        print(_line(images.retrieve(base + "/cat.png")))
        print("The same again:")
        print(_line(images.retrieve(base + "/cat.png")))
        before = _Pictures.asked
        images.retrieve_many([base + "/dog.png"] * 100)
        print("Asked for another one a hundred times at once: downloads: %d" % (_Pictures.asked - before))
        size = images.calculate_size()
        print("On disk now: %d images, %d bytes" % (size.disk.count, size.disk.byte_count))
        try:
            images.retrieve("data:text/html,<p>no picture")
        except HalcyonError as error:
            print("Anything that is not an image is an error: %s" % error)
    server.shutdown()
    return 0


def _retrieve(urls: Sequence[str]) -> int:
    """Fetches what the user named, into the user's own cache."""
    failed = 0
    with Client() as images:
        for url in urls:
            try:
                print(_line(images.retrieve(url)))
            except HalcyonError as error:
                failed += 1
                print(error, file=sys.stderr)
    return 1 if failed else 0


def main(arguments: List[str]) -> int:
    """Returns the exit code: 0 when all went well, 1 when something failed, 2 without a server to start."""
    if any(argument in ("-h", "--help") for argument in arguments):
        print(__doc__)
        return 0
    try:
        return _retrieve(arguments) if arguments else _demonstrate()
    except BinaryNotFound as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
