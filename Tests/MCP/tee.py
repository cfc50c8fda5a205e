"""Starts a server and copies the lines of both sides to a log: ``tee.py LOG COMMAND ARGUMENTS…``.

Each line of the log is JSON: who said it (``client`` or ``server``), and what. It stands there before the other side gets it,
so that a request is always before its answer.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from typing import Any, BinaryIO


def main() -> int:
    """Runs until the server ends; the status is its own."""
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    lock = threading.Lock()
    assert process.stdin is not None and process.stdout is not None

    def copy(name: str, source: BinaryIO, target: Any) -> None:
        with open(sys.argv[1], "a", encoding="utf-8") as log:
            for line in source:
                with lock:
                    print(json.dumps([name, line.decode()]), file=log, flush=True)
                try:
                    target.write(line)
                    target.flush()
                except BrokenPipeError:
                    return

    def copy_input() -> None:
        copy("client", sys.stdin.buffer, process.stdin)
        try:
            process.stdin.close()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass

    threading.Thread(target=copy_input, daemon=True).start()
    copy("server", process.stdout, sys.stdout.buffer)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
