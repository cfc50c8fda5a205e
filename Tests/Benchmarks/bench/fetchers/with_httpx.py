"""Fetches the URLs of a file with httpx; prints the seconds from the first request to the last byte."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import httpx


async def _fetch(urls: list[str], connections: int) -> float:
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    remaining = iter(urls)
    async with httpx.AsyncClient(limits=limits, timeout=300, trust_env=False) as client:

        async def work() -> None:
            for url in remaining:
                async with client.stream("GET", url) as response:
                    response.raise_for_status()
                    async for _ in response.aiter_raw():
                        pass

        begin = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(connections)))
        return time.perf_counter() - begin


print(asyncio.run(_fetch(Path(sys.argv[1]).read_text(encoding="utf-8").split(), int(sys.argv[2]))))
