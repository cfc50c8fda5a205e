"""An nginx of our own on a free port of the loopback, with everything it writes in the scratch folder."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Iterator

from . import file_server
from .context import BenchError, Context

_CONFIGURATION = """
daemon off;
worker_processes 1;
pid {here}/nginx.pid;
error_log {here}/error.log warn;
{user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nodelay on;
    keepalive_requests 1000000;
    types {{ image/jpeg jpg; }}
    client_body_temp_path {here}/body;
    proxy_temp_path {here}/proxy;
    fastcgi_temp_path {here}/fastcgi;
    uwsgi_temp_path {here}/uwsgi;
    scgi_temp_path {here}/scgi;
    proxy_cache_path {here}/cache keys_zone=pictures:1m;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{ {location} }}
    }}
}}
"""


def path(context: Context) -> str | None:
    """Where nginx is, or ``None``; Debian keeps it in a folder that is not on every user's PATH."""
    return context.program("nginx") or context.program("nginx", path="/usr/sbin:/usr/local/sbin:/sbin")


def can_serve(context: Context) -> bool:
    """Whether there is something that serves files."""
    return context.is_self_check or path(context) is not None


@contextlib.contextmanager
def serving(context: Context, folder: Path) -> Iterator[str]:
    """Serves the files of ``folder``, in a self-check without nginx; yields the base URL without a slash at its end."""
    server = file_server.serving(folder) if context.is_self_check else _running(context, f"root {folder};")
    with server as base:
        yield base


@contextlib.contextmanager
def storing(context: Context) -> Iterator[tuple[str, Path]]:
    """A server that takes PUT and DELETE; yields its base URL and the folder where the files go."""
    folder = context.folder("stored")
    rules = f"root {folder}; dav_methods PUT DELETE; create_full_put_path on; client_max_body_size 64m;"
    with _running(context, rules) as base:
        yield base, folder


@contextlib.contextmanager
def locking_proxy(context: Context, upstream: str) -> Iterator[str]:
    """A caching proxy before ``upstream`` that lets one request for a URL through (``proxy_cache_lock``)."""
    rules = f"proxy_pass {upstream}; proxy_cache pictures; proxy_cache_valid 200 1h; proxy_cache_lock on;"
    with _running(context, rules + " proxy_cache_lock_timeout 60s; proxy_cache_lock_age 60s;") as base:
        yield base


@contextlib.contextmanager
def _running(context: Context, location: str) -> Iterator[str]:
    program = path(context)
    if program is None:
        raise BenchError("nginx is not installed (apt-get install nginx-light).")
    here = context.folder("nginx")
    port = free_port()
    user = "user root;" if os.geteuid() == 0 else ""
    configuration = here / "nginx.conf"
    configuration.write_text(
        _CONFIGURATION.format(here=here, port=port, user=user, location=location), encoding="utf-8"
    )
    process = subprocess.Popen(
        [program, "-e", str(here / "error.log"), "-p", str(here), "-c", str(configuration)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(process, port, here)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def free_port() -> int:
    """A port of the loopback that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, here: Path) -> None:
    for _ in range(500):
        if process.poll() is not None:
            log = here / "error.log"
            raise BenchError(f"nginx did not start: {log.read_text() if log.exists() else 'no log'}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise BenchError("nginx did not listen within ten seconds.")
