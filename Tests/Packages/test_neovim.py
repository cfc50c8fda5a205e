"""The plugin for Neovim, unpacked where Neovim looks for packages."""

from __future__ import annotations

import json
from pathlib import Path

from support import CLIENT_SIZES, ClientTest, made, needs, web

SCRIPT = """
local halcyon = require("halcyon")
local url = vim.env.ADDRESS .. "/jpeg-photo.jpg"
local cat = assert(halcyon.retrieve(url):wait())
local small = assert(halcyon.retrieve({ url = url, processors = "resize:16x16" }):wait())
io.stdout:write(vim.json.encode({ cat.width, cat.height, small.width, small.height }))
"""


class NeovimTests(ClientTest):
    def setUp(self) -> None:
        super().setUp()
        start = self.folder / ".local/share/nvim/site/pack/images/start"
        start.mkdir(parents=True)
        self.run_there("tar", "-xzf", made().one("halcyon.nvim-*.tar.gz"), "-C", start)
        (self.plugin,) = start.iterdir()

    def nvim(self, script: str, **variables: str) -> str:
        path = self.folder / "script.lua"
        path.write_text(script)
        done = self.run_there(
            "nvim", "--headless", "-i", "NONE", "-n", "-c", f"luafile {path}", "-c", "qall!", **variables
        )
        self.assertEqual(done.stderr, "")
        return done.stdout

    @needs("nvim")
    def test_it_is_loaded_at_the_start_and_loads_and_resizes(self) -> None:
        self.assertEqual(self.nvim('io.stdout:write(vim.fn.exists(":HalcyonPreview"))'), "2")
        with web() as address:
            self.assertEqual(json.loads(self.nvim(SCRIPT, ADDRESS=address)), CLIENT_SIZES)

    @needs("nvim")
    def test_its_help_is_found_by_the_tags_that_neovim_would_make(self) -> None:
        shown = self.nvim('vim.cmd("help :HalcyonPreview") io.stdout:write(vim.fn.expand("%:t"))')
        self.assertEqual(shown, "halcyon.txt")
        tags: Path = self.plugin / "doc/tags"
        packed = tags.read_bytes()
        tags.unlink()
        self.nvim(f'vim.cmd("helptags {self.plugin}/doc")')
        self.assertEqual(packed, tags.read_bytes())
