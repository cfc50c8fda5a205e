"""The official Python SDK drives every tool in both eras, and all that it and the server say to each other is held against the
schemas. `.ci/setup test` installs it in `.build/mcp-sdk`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import List

from support import BINARY, ROOT, MCPCase, encoded, screenshot
from wire import Wire

#: The Python that has the SDK.
PYTHON = Path(os.environ.get("MCP_SDK_PYTHON", ROOT / ".build/mcp-sdk/bin/python"))
#: Made last by `.ci/setup`: a half installed SDK is none.
COMPLETE = PYTHON.parents[1] / "complete"

SCRIPT = """
import asyncio, json, sys
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

root, url, mode, command, *arguments = sys.argv[1:]
server = StdioServerParameters(command=command, args=arguments)
calls = [
    ("view_image", {"image": url, "max_side": 64}), ("view_image", {"image": "one.png"}), ("image_info", {"image": url, "colors": True}),
    ("save_image", {"image": url, "path": f"saved-{mode}.webp"}), ("compare_images", {"first": url, "second": "one.png"}),
    ("contact_sheet", {"images": [url, "one.png", "none.png"], "max_side": 400}),
    ("list_images", {}), ("cache_size", {}), ("remove_image", {"key": url}),
]

async def main():
    seen = []
    async def progress(done, total, message):
        seen.append(done)
    async with Client(stdio_client(server), mode=mode) as client:
        tools = await client.list_tools()
        results = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments, progress_callback=progress)
            results.append([name, bool(result.is_error), [block.type for block in result.content], result.structured_content])
        failed = await client.call_tool("view_image", {"image": "none.png"})
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
        print(json.dumps({
            "tools": [tool.name for tool in tools.tools], "results": results, "failed": failed.is_error,
            "templates": [one.uri_template for one in templates.resource_templates],
            "resources": len(resources.resources), "version": client.protocol_version,
        }))

asyncio.run(main())
"""


@unittest.skipUnless(COMPLETE.exists() or "MCP_SDK_PYTHON" in os.environ, "the SDK is not installed: .ci/setup test installs it from PyPI")
class SDKTests(MCPCase):
    def test_every_tool_works_in_both_eras_and_every_message_is_valid(self) -> None:
        (self.root / "one.png").write_bytes(encoded(screenshot()))
        url = self.web.add("/two.png", encoded(screenshot("#aa3366")))
        server = [BINARY, "mcp", "--root", str(self.root), "--cache-dir", str(self.root / "cache"), "--network-policy", "any"]
        for mode, version in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]:
            with self.subTest(mode):
                log = self.root / f"{mode}.log"
                tee = [sys.executable, str(Path(__file__).parent / "tee.py"), str(log)]
                done = subprocess.run(
                    [str(PYTHON), "-c", SCRIPT, str(self.root), url, mode, *tee, *server],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                )
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                told = json.loads(done.stdout)
                self.assertEqual(told["version"], version)
                self.assertEqual(len(told["tools"]), 8)
                self.assertEqual({result[0] for result in told["results"]}, set(told["tools"]))
                self.assertEqual([result for result in told["results"] if result[1]], [])
                self.assertTrue(told["failed"])
                for name, _, kinds, _ in told["results"]:
                    shows = name in ("view_image", "compare_images", "contact_sheet")
                    self.assertEqual(kinds, ["image", "text"] if shows else ["text"])
                seen = self.checked_messages(log, version)
                self.assertEqual(seen.count("CallToolResult"), len(told["results"]) + 1)
                # One that is told the version does not ask for it.
                begin = {"legacy": "InitializeResult", "auto": "DiscoverResult"}.get(mode, "ListToolsResult")
                for kind in [begin, "ListToolsResult", "ListResourcesResult", "ListResourceTemplatesResult", "ProgressNotification"]:
                    self.assertIn(kind, seen)

    def checked_messages(self, log: Path, version: str) -> List[str]:
        """The types of the messages in a log, of which each is held against its own."""
        wire = Wire(version)
        kinds = {"client": wire.sent, "server": wire.received}
        for line in log.read_text(encoding="utf-8").splitlines():
            sender, text = json.loads(line)
            kinds[sender](json.loads(text))
        self.assertEqual(wire.open, [])
        return wire.seen


if __name__ == "__main__":
    sys.exit(unittest.main())
