#!/usr/bin/env python3
"""The client of pygls (PyPI: pygls 1.3): asyncio over Content-Length frames.

Usage: pygls_client.py URL…
"""

import asyncio
import os
import sys

from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException


async def main() -> None:
    client = JsonRPCClient()
    await client.start_io(os.environ.get("HALCYON_BIN", "halcyon"))
    for url in sys.argv[1:]:
        try:
            image = await client.protocol.send_request_async("retrieve", {"url": url})
            print(image.width, image.height, image.cacheType, image.path)
        except JsonRpcException as error:
            print("error", error.data["name"])
    await client.protocol.send_request_async("shutdown")
    client.protocol.notify("exit")
    await client.stop()


asyncio.run(main())
