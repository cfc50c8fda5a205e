"""Fetches the URLs of a file with aiohttp; prints the seconds from the first request to the last byte."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import aiohttp


async def _fetch(urls: list[str], connections: int) -> float:
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=300)) as session:

        async def one(url: str) -> None:
            async with session.get(url) as response:
                response.raise_for_status()
                await response.read()

        begin = time.perf_counter()
        await asyncio.gather(*map(one, urls))
        return time.perf_counter() - begin


print(asyncio.run(_fetch(Path(sys.argv[1]).read_text(encoding="utf-8").split(), int(sys.argv[2]))))
