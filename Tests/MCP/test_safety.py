"""A model chooses the addresses and the paths: what it cannot reach, and where it cannot write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from PIL import Image

from support import BINARY, FIXTURES, Agent, MCPCase, encoded, screenshot


class SafetyTests(MCPCase):
    def setUp(self) -> None:
        super().setUp()
        self.outside = Path(os.path.realpath(tempfile.mkdtemp(prefix="outside-")))
        self.addCleanup(shutil.rmtree, self.outside, True)
        (self.outside / "secret.png").write_bytes(encoded(screenshot()))
        self.put("fine.png", screenshot())

    def test_no_path_leads_out_of_the_roots(self) -> None:
        os.symlink(self.outside / "secret.png", self.root / "link.png")
        os.symlink(self.outside, self.root / "folder")
        secret = self.outside / "secret.png"
        agent = self.agent()
        relative = os.path.relpath(secret, self.root)
        for path in [str(secret), relative, f"file://{secret}", f"file://localhost{secret}", "link.png", "folder/secret.png",
                     f"./fine.png/../{relative}", str(secret).replace("/", "//"), "file:" + str(secret).replace("s", "%73")]:
            for tool in ["view_image", "image_info"]:
                with self.subTest(tool=tool, path=path):
                    self.assertIn("outside of the allowed folders", agent.refusal(tool, image=path))
        self.assertIn("outside", agent.refusal("contact_sheet", folder="folder"))
        self.assertIn("outside", agent.call("contact_sheet", images=["link.png"]).text)
        self.assertIn("outside", agent.refusal("compare_images", first="fine.png", second=str(secret)))

    def test_paths_are_judged_as_the_system_reads_them(self) -> None:
        # A mark that combines with the slash before it, and a folder whose name looks like the root's.
        os.symlink(self.outside, self.root / "link")
        agent = self.agent()
        for mark in ["\u0301", "\u200d", "\ufe0f"]:
            with self.subTest(mark=ascii(mark)):
                (self.outside / f"{mark}there.png").write_bytes(encoded(screenshot()))
                before = (self.outside / f"{mark}there.png").read_bytes()
                for name in ["x.jpg", "there.png"]:
                    path = f"link/{mark}{name}"
                    refusal = agent.refusal("save_image", image="fine.png", path=path, overwrite=True, max_side=16)
                    self.assertIn("outside of the allowed folders", refusal)
                self.assertIn("outside", agent.refusal("view_image", image=f"link/{mark}there.png"))
                self.assertIn("hidden", agent.refusal("save_image", image="fine.png", path=f".{mark}x.jpg"))
                self.assertEqual((self.outside / f"{mark}there.png").read_bytes(), before)
                self.assertTrue(agent.call("save_image", image="fine.png", path=f"{mark}x.jpg").values)
                self.assertTrue((self.root / f"{mark}x.jpg").exists())
        self.assertEqual(len(list(self.outside.iterdir())), 4)
        (root, sibling) = (self.outside / "caf\u00e9", self.outside / "cafe\u0301")
        for folder in [root, sibling]:
            folder.mkdir()
            (folder / "a.png").write_bytes(encoded(screenshot()))
        agent = self.agent("--root", str(root))
        self.assertEqual(agent.call("image_info", image=str(root / "a.png")).values["format"], "png")
        for path in [str(sibling / "a.png"), "../cafe\u0301/a.png", f"file://{sibling}/a.png"]:
            self.assertIn("outside of the allowed folders", agent.refusal("view_image", image=path))
        self.assertIn("outside", agent.refusal("save_image", image=str(root / "a.png"), path=str(sibling / "b.png")))

    def test_a_refusal_does_not_say_what_exists(self) -> None:
        agent = self.agent()
        there = agent.refusal("image_info", image=str(self.outside / "secret.png"))
        missing = agent.refusal("image_info", image=str(self.outside / "nothing.png"))
        self.assertEqual(there.replace("secret", "nothing"), missing)

    def test_a_link_that_leads_outside_does_not_say_what_exists_there(self) -> None:
        os.symlink(self.outside, self.root / "folder")
        os.symlink(self.outside / "secret.png", self.root / "there.png")
        os.symlink(self.outside / "nothing.png", self.root / "gone.png")
        agent = self.agent()
        for there, gone in [("there.png", "gone.png"), ("folder/secret.png", "folder/nothing.png"), ("folder/secret.png", "folder/none/x")]:
            for tool in ["view_image", "image_info"]:
                with self.subTest(tool=tool, gone=gone):
                    self.assertIn("outside of the allowed folders", agent.refusal(tool, image=gone))
                    self.assertEqual(agent.refusal(tool, image=there).replace(there, gone), agent.refusal(tool, image=gone))
        for path in ["folder/x.png", "folder/none/x.png"]:
            with self.subTest(path):
                self.assertIn("outside of the allowed folders", agent.refusal("save_image", image="fine.png", path=path))
        self.assertIn("outside of the allowed folders", agent.refusal("contact_sheet", folder="folder/none"))

    def test_a_link_within_the_roots_is_followed(self) -> None:
        os.symlink(self.root / "fine.png", self.root / "link.png")
        self.assertEqual(self.agent().call("image_info", image="link.png").values["format"], "png")

    def test_devices_processes_and_pipes_are_refused_even_below_a_root(self) -> None:
        os.mkfifo(self.root / "pipe.png")
        agent = self.agent("--root", "/")
        for path in ["/proc/self/environ", "/dev/zero", "/dev/stdin", "/sys/kernel/notes"]:
            with self.subTest(path):
                self.assertIn("outside", agent.refusal("image_info", image=path))
        self.assertIn("not a regular file", agent.refusal("view_image", image="pipe.png"))
        self.assertIn("folder", agent.refusal("view_image", image="."))
        self.assertIn("outside", agent.refusal("save_image", image="fine.png", path="/dev/shm/x.png"))

    def test_nothing_is_written_outside_of_the_roots_or_through_links(self) -> None:
        os.symlink(self.outside, self.root / "folder")
        os.symlink(self.outside / "new.png", self.root / "new.png")
        agent = self.agent()
        for path in [str(self.outside / "x.png"), "../x.png", "folder/x.png", "sub/../../x.png"]:
            with self.subTest(path):
                agent.refusal("save_image", image="fine.png", path=path, overwrite=True)
        self.assertIn("not a regular file", agent.refusal("save_image", image="fine.png", path="new.png", overwrite=True))
        for path in ["", "/", ".", "..", "folder/", "a\0.png"]:
            with self.subTest(path):
                agent.refusal("save_image", image="fine.png", path=path)
        self.assertEqual([path.name for path in self.outside.iterdir()], ["secret.png"])

    def test_without_a_root_there_are_no_local_files(self) -> None:
        with Agent() as agent:
            self.assertIn("--root", agent.refusal("view_image", image=str(self.root / "fine.png")))
            self.assertIn("--root", agent.refusal("save_image", image="data:,", path="/tmp/x.png"))

    def test_by_default_only_public_addresses_are_reached(self) -> None:
        url = self.web.add("/a.png", encoded(screenshot()))
        agent = self.agent(network="public")
        for address in [url, url.replace("127.0.0.1", "localhost"), "http://169.254.169.254/latest/", "http://[::1]/a.png",
                        "http://192.168.0.1/a.png", "http://0x7f000001/"]:
            with self.subTest(address):
                agent.refusal("view_image", image=address)
        self.assertEqual(self.web.requests, [])

    def test_a_redirect_does_not_lead_to_a_file(self) -> None:
        self.web.redirects["/r.png"] = f"file://{self.root}/fine.png"
        for tool in ["view_image", "image_info"]:
            # Each with a cache of its own.
            self.assertIn("neither http nor https", self.agent().refusal(tool, image=self.web.url + "/r.png"))

    def fill(self, requests: Sequence[Dict[str, Any]]) -> Tuple[str, List[str]]:
        """A cache with what a client of our own protocol has retrieved into it, and the URIs of that."""
        cache = tempfile.mkdtemp(prefix="cache-")
        self.addCleanup(shutil.rmtree, cache, True)
        lines = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "retrieve", "params": params}) for params in requests]
        # One after the other, so that the answers have their order.
        done = [
            subprocess.run([BINARY, "--cache-dir", cache], input=line.encode(), stdout=subprocess.PIPE, check=True).stdout
            for line in lines
        ]
        return cache, [f"halcyon://default/{Path(json.loads(text)['result']['path']).stem}" for text in done]

    def hidden(self) -> List[Dict[str, Any]]:
        """Requests whose pictures no agent may see."""
        url = self.web.add("/private.png", encoded(Image.new("RGB", (7, 7), "red")))
        secret = {"url": f"file://{self.outside}/secret.png", "processors": [{"resize": {"width": 9}}]}
        mine = {"url": url, "options": {"authorization": {"bearer": "token"}}}
        return [mine, {**mine, "key": "avatar"}, secret, {**secret, "key": "filekey"}]

    def test_the_cache_shows_nothing_of_users_or_of_files_elsewhere(self) -> None:
        visible = {"url": f"file://{self.root}/fine.png", "processors": [{"resize": {"width": 9}}]}
        cache, uris = self.fill([*self.hidden(), visible])
        agent = self.agent(cache=cache)
        listed = [(one["key"], one["uri"]) for one in agent.call("list_images").values["images"]]
        self.assertEqual(listed, [(f"file://{self.root}/fine.png", uris[-1])])
        self.assertEqual([one["uri"] for one in agent.ask("resources/list")["resources"]], uris[-1:])
        for uri in uris[:-1]:
            self.assertEqual(agent.fail("resources/read", uri=uri)["code"], -32602)
            self.assertIn("There is no cached picture", agent.refusal("view_image", image=uri))
        self.assertEqual(agent.ask("resources/read", uri=uris[-1])["contents"][0]["mimeType"], "image/png")

    def test_what_an_agent_cannot_see_it_cannot_remove(self) -> None:
        cache, _ = self.fill(self.hidden())
        agent = self.agent(cache=cache)
        before = agent.call("cache_size").values
        self.assertEqual(before["images"], 4)
        for key in [self.web.url + "/private.png", "avatar", f"file://{self.outside}/secret.png", "filekey"]:
            with self.subTest(key):
                self.assertEqual(agent.call("remove_image", key=key).values, {"removed": False})
                self.assertEqual(agent.call("cache_size").values, before)

    def test_a_key_that_only_a_user_has_is_answered_like_one_that_nobody_has(self) -> None:
        cache, _ = self.fill(self.hidden())
        agent = self.agent(cache=cache)
        for tool in ["view_image", "image_info"]:
            for key in ["avatar", "filekey"]:
                with self.subTest(tool=tool, key=key):
                    self.assertEqual(agent.refusal(tool, image=key), agent.refusal(tool, image="nobody").replace("nobody", key))

    def test_limits_on_pixels_hold(self) -> None:
        with Agent("--root", str(FIXTURES)) as agent:
            bombs = sorted(path for path in (FIXTURES / "damaged").iterdir() if "bomb" in path.name)
            for path in bombs:
                agent.refusal("view_image", image=f"damaged/{path.name}")
        wide = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x86\xa0\x00\x01\x86\xa0\x08\x02\x00\x00\x00"
        (self.root / "wide.png").write_bytes(wide + bytes(40))
        self.agent().refusal("view_image", image="wide.png")
