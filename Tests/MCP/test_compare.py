"""Comparisons: figures that are right, of pictures of any form, and words that say what they mean."""

from __future__ import annotations

import struct
from typing import Any, Dict

from PIL import Image, ImageDraw

from support import MCPCase, data_url, screenshot


def tiff_header(width: int, height: int) -> bytes:
    """The beginning of a TIFF file that claims that size, and has no pixels."""
    entries = [(256, 4, width), (257, 4, height), (262, 3, 1), (277, 3, 1)]
    fields = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + fields + struct.pack("<I", 0)


class CompareTests(MCPCase):
    def figures(self, one: Image.Image, two: Image.Image) -> Dict[str, Any]:
        """What is told of the difference of two pictures."""
        self.put("one.png", one)
        self.put("two.png", two)
        return self.checked(self.agent(), "compare_images", first="one.png", second="two.png").values

    def check_regions(self, values: Dict[str, Any], width: int, height: int) -> None:
        """All regions lie within a picture of that size."""
        self.assertTrue(values["regions"])
        for region in values["regions"]:
            self.assertGreaterEqual(min(region["x"], region["y"]), 0)
            self.assertLessEqual(region["x"] + region["width"], width)
            self.assertLessEqual(region["y"] + region["height"], height)

    def test_a_size_that_no_picture_has_is_refused_and_the_server_lives_on(self) -> None:
        self.put("one.png", screenshot())
        agent = self.agent()
        for width, height in [(0xFFFF_FFFF, 0xFFFF_FFFF), (0xFFFF_FFFF, 1), (0, 0)]:
            url = data_url(tiff_header(width, height), "image/tiff")
            for first, second in [(url, url), ("one.png", url), (url, "one.png")]:
                with self.subTest(width=width, height=height, first=first[:10], second=second[:10]):
                    agent.refusal("compare_images", first=first, second=second)
            agent.check_alive()

    def test_a_wide_and_a_high_picture_are_compared(self) -> None:
        values = self.figures(Image.new("RGB", (4000, 200), "white"), Image.new("RGB", (200, 4000), "white"))
        self.assertFalse(values["identical"])
        self.assertIn("aligned at the top left", values["note"])
        self.check_regions(values, 4000, 4000)
        # They have only the corner in common.
        self.assertGreater(values["changed_percent"], 99)

    def test_a_very_high_picture_is_compared(self) -> None:
        tall = Image.new("RGB", (3, 66_000), "white")
        values = self.figures(tall, tall)
        self.assertEqual((values["identical"], values["changed_pixels"], values["regions"]), (True, 0, []))

    def test_a_difference_below_the_tolerance_is_told_apart_from_none(self) -> None:
        values = self.figures(Image.new("RGB", (40, 40), (100, 100, 100)), Image.new("RGB", (40, 40), (107, 107, 107)))
        self.assertEqual((values["identical"], values["changed_pixels"], values["regions"]), (False, 0, []))
        self.assertIn("no pixel differs by more than 8", values["note"].lower())

    def test_what_is_transparent_differs_from_what_is_white(self) -> None:
        values = self.figures(Image.new("RGBA", (40, 40), (255, 0, 0, 0)), Image.new("RGB", (40, 40), "white"))
        self.assertEqual((values["identical"], values["changed_pixels"]), (False, 1600))

    def test_the_color_of_what_is_fully_transparent_does_not_count(self) -> None:
        values = self.figures(Image.new("RGBA", (40, 40), (255, 0, 0, 0)), Image.new("RGBA", (40, 40), (0, 0, 255, 0)))
        self.assertEqual(values["changed_pixels"], 0)

    def test_of_animations_the_first_frames_are_compared_and_that_is_told(self) -> None:
        for name, color in [("one.gif", "lime"), ("two.gif", "blue")]:
            self.put(name, Image.new("RGB", (40, 40), "red"), save_all=True, append_images=[Image.new("RGB", (40, 40), color)])
        values = self.checked(self.agent(), "compare_images", first="one.gif", second="two.gif").values
        self.assertEqual(values["changed_pixels"], 0)
        self.assertIn("first frame", values["note"])

    def test_a_page_that_has_become_a_little_longer_is_not_scaled(self) -> None:
        # By less than one percent; of the narrow one, that is less than a pixel of its width.
        for width in [100, 400]:
            page = Image.new("RGB", (width, 800), "white")
            draw = ImageDraw.Draw(page)
            for line in range(0, 800, 8):
                draw.line((0, line, width - 1, line), fill="black")
            longer = Image.new("RGB", (width, 807), "white")
            longer.paste(page, (0, 0))
            with self.subTest(width):
                values = self.figures(page, longer)
                self.assertIn("aligned at the top left", values["note"])
                self.assertLess(values["changed_percent"], 2)
                self.assertEqual(values["regions"], [{"x": 0, "y": 800, "width": width, "height": 7}])

    def test_regions_of_large_pictures_are_in_pixels_of_the_original(self) -> None:
        page = Image.new("RGB", (4000, 3000), "white")
        changed = page.copy()
        ImageDraw.Draw(changed).rectangle((3000, 2000, 3019, 2019), fill="black")
        values = self.figures(page, changed)
        self.assertEqual(len(values["regions"]), 1)
        region = values["regions"][0]
        right, bottom = region["x"] + region["width"], region["y"] + region["height"]
        # It may be a little larger than what has changed, but not much.
        for edge, place in [(region["x"], 3000), (region["y"], 2000)]:
            self.assertIn(edge, range(place - 8, place + 1))
        for edge, place in [(right, 3020), (bottom, 2020)]:
            self.assertIn(edge, range(place, place + 9))
        self.check_regions(values, 4000, 3000)
