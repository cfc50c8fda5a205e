#!/usr/bin/python3
"""The library of Python's language server (python-lsp-jsonrpc, Debian: python3-pylsp-jsonrpc): Content-Length frames.

Usage: pylsp_jsonrpc_client.py URL…
"""

import os
import subprocess
import sys
import threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

server = subprocess.Popen(
    [os.environ.get("HALCYON_BIN", "halcyon")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
)
# The dispatcher answers what the server sends: events, when they were subscribed to.
endpoint = Endpoint({}, JsonRpcStreamWriter(server.stdin).write)
threading.Thread(target=JsonRpcStreamReader(server.stdout).listen, args=[endpoint.consume], daemon=True).start()

for url in sys.argv[1:]:
    try:
        image = endpoint.request("retrieve", {"url": url}).result(timeout=60)
        print(image["width"], image["height"], image["cacheType"], image["path"])
    except JsonRpcException as error:
        print("error", error.data["name"])

server.stdin.close()  # the end of its input ends the server
endpoint.shutdown()
sys.exit(server.wait())
