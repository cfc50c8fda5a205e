"""Comparisons: figures that are right, of pictures of any form, and words that say what they mean."""

from __future__ import annotations

import struct
from typing import Any, Dict

from PIL import Image, ImageDraw

from support import MCPCase, data_url, noise, screenshot


def tiff_header(width: int, height: int) -> bytes:
    """The beginning of a TIFF file that claims that size, and has no pixels."""
    entries = [(256, 4, width), (257, 4, height), (262, 3, 1), (277, 3, 1)]
    fields = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + fields + struct.pack("<I", 0)


class CompareTests(MCPCase):
    def figures(self, one: Image.Image, two: Image.Image, **arguments: Any) -> Dict[str, Any]:
        """What is told of the difference of two pictures."""
        self.put("one.png", one)
        self.put("two.png", two)
        return self.checked(self.agent(), "compare_images", first="one.png", second="two.png", **arguments).values

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
        # They have only the corner in common, and neither has anything below the one and beside the other.
        self.assertEqual(values["changed_pixels"], 2 * 3800 * 200)
        self.assertGreater(values["changed_percent"], 97)
        strips = [{"x": 200, "y": 0, "width": 3800, "height": 200}, {"x": 0, "y": 200, "width": 200, "height": 3800}]
        self.assertEqual(values["regions"], strips)

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
        page = Image.new("RGB", (2000, 1500), "white")
        changed = page.copy()
        ImageDraw.Draw(changed).rectangle((1500, 1000, 1519, 1019), fill="black")
        values = self.figures(page, changed)
        self.assertEqual(values["regions"], [{"x": 1500, "y": 1000, "width": 20, "height": 20}])
        self.assertEqual((values["changed_pixels"], values["width"], values["height"]), (400, 2000, 1500))

    def test_a_difference_of_large_pictures_is_found_however_small_it_is(self) -> None:
        page = Image.new("RGB", (2000, 1500), (200, 200, 200))
        changed = page.copy()
        for number in range(100):
            changed.putpixel((100 + 7 * number, 100), (201, 201, 201))
        values = self.figures(page, changed, tolerance=0)
        self.assertEqual((values["identical"], values["changed_pixels"]), (False, 100))
        self.assertEqual(values["regions"], [{"x": 100, "y": 100, "width": 694, "height": 1}])
        self.assertIn("Less than 0.01 %", values["note"])
        values = self.figures(page, changed)
        self.assertEqual((values["identical"], values["changed_pixels"], values["regions"]), (False, 0, []))
        self.assertEqual(self.figures(page, page)["identical"], True)

    def test_what_only_one_of_two_large_pictures_has_counts_as_changed(self) -> None:
        page = Image.new("RGB", (2000, 1500), (200, 200, 200))
        for width, height, region in [
            (2000, 1501, {"x": 0, "y": 1500, "width": 2000, "height": 1}),
            (2001, 1500, {"x": 2000, "y": 0, "width": 1, "height": 1500}),
        ]:
            with self.subTest(width=width, height=height):
                values = self.figures(page, Image.new("RGB", (width, height), (200, 200, 200)))
                self.assertEqual((values["identical"], values["regions"]), (False, [region]))
                self.assertEqual(values["changed_pixels"], region["width"] * region["height"])

    def test_no_region_names_what_neither_picture_has(self) -> None:
        values = self.figures(noise(1700, 900), noise(900, 900))
        regions = [{"x": 0, "y": 0, "width": 900, "height": 900}, {"x": 900, "y": 0, "width": 800, "height": 900}]
        self.assertEqual(values["regions"], regions)

    def test_pictures_of_two_sizes_are_never_identical(self) -> None:
        values = self.figures(Image.new("RGB", (100, 80), "red"), Image.new("RGB", (50, 40), "red"))
        self.assertEqual((values["identical"], values["changed_pixels"]), (False, 0))

    def test_of_what_is_too_large_to_be_decoded_nothing_is_said_to_be_identical(self) -> None:
        self.put("large.jpg", Image.new("L", (8000, 6400), 128))
        self.put("larger.jpg", Image.new("L", (8000, 6401), 128))
        agent = self.agent()
        values = self.checked(agent, "compare_images", first="large.jpg", second="large.jpg").values
        self.assertNotIn("identical", values)
        self.assertIn("only compared at 28", values["note"])
        values = self.checked(agent, "compare_images", first="large.jpg", second="larger.jpg").values
        self.assertIs(values["identical"], False)
