"""Fetches the URLs of a file with requests in a pool of threads; prints the seconds from the first request to the last byte."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter

urls = Path(sys.argv[1]).read_text(encoding="utf-8").split()
connections = int(sys.argv[2])
session = requests.Session()
session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=connections))


def _fetch(url: str) -> int:
    response = session.get(url, timeout=300)
    response.raise_for_status()
    return len(response.content)


with ThreadPoolExecutor(connections) as pool:
    begin = time.perf_counter()
    for _ in pool.map(_fetch, urls):
        pass
    print(time.perf_counter() - begin)
