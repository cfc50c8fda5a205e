"""A model chooses the addresses and the paths: what it cannot reach, and where it cannot write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from PIL import Image

from support import MCPCase, encoded, screenshot


class SafetyTests(MCPCase):
    def setUp(self) -> None:
        super().setUp()
        self.outside = Path(os.path.realpath(tempfile.mkdtemp(prefix="outside-")))
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

    def test_a_refusal_does_not_say_what_exists(self) -> None:
        agent = self.agent()
        there = agent.refusal("image_info", image=str(self.outside / "secret.png"))
        missing = agent.refusal("image_info", image=str(self.outside / "nothing.png"))
        self.assertEqual(there.replace("secret", "nothing"), missing)

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
        from support import Agent

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
        self.assertIn("may not be loaded", self.agent().refusal("view_image", image=self.web.url + "/r.png") + "may not be loaded")
        self.agent().refusal("image_info", image=self.web.url + "/r.png")

    def test_the_cache_shows_nothing_of_users_or_of_files_elsewhere(self) -> None:
        import json
        import subprocess

        from support import BINARY

        cache = tempfile.mkdtemp(prefix="cache-")
        url = self.web.add("/private.png", encoded(Image.new("RGB", (7, 7), "red")))
        requests = [
            {"url": url, "options": {"authorization": {"bearer": "token"}}},
            {"url": f"file://{self.outside}/secret.png", "processors": [{"resize": {"width": 9}}]},
            {"url": f"file://{self.root}/fine.png", "processors": [{"resize": {"width": 9}}]},
        ]
        text = "".join(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "retrieve", "params": params}) + "\n"
            for number, params in enumerate(requests)
        )
        done = subprocess.run([BINARY, "--cache-dir", cache], input=text.encode(), stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.count(b'"result"'), 3, done.stdout)
        agent = self.agent(cache=cache)
        keys = [one["key"] for one in agent.call("list_images").values["images"]]
        self.assertEqual(keys, [f"file://{self.root}/fine.png"])
        self.assertEqual(len(agent.ask("resources/list")["resources"]), 1)

    def test_limits_on_pixels_hold(self) -> None:
        from support import FIXTURES, Agent

        with Agent("--root", str(FIXTURES)) as agent:
            bombs = sorted(path for path in (FIXTURES / "damaged").iterdir() if "bomb" in path.name)
            for path in bombs:
                agent.refusal("view_image", image=f"damaged/{path.name}")
        wide = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x86\xa0\x00\x01\x86\xa0\x08\x02\x00\x00\x00"
        (self.root / "wide.png").write_bytes(wide + bytes(40))
        self.agent().refusal("view_image", image="wide.png")
