"""The pictures themselves: drawn from shapes and seeded noise, the same on every run."""

from __future__ import annotations

import random
import struct

from PIL import Image, ImageChops, ImageCms, ImageDraw

PALETTE = [
    (12, 20, 44),
    (230, 236, 245),
    (214, 69, 52),
    (244, 176, 62),
    (52, 140, 96),
    (58, 110, 196),
    (120, 72, 160),
    (150, 158, 170),
]
"""Eight colours, in the order in which the palette pictures store them."""


def scene(width: int = 64, height: int = 48, shift: int = 0) -> Image.Image:
    """An RGB picture that looks different under every rotation and mirroring.

    A gradient with a sun at the top left, a hill at the right and a bar down the left side. `shift` moves the
    sun to the right, in pixels, for animations.
    """
    across = Image.linear_gradient("L").rotate(90).resize((width, height), Image.Resampling.BILINEAR)
    down = Image.linear_gradient("L").resize((width, height), Image.Resampling.BILINEAR)
    picture = Image.merge("RGB", (across, down, ImageChops.invert(down)))
    draw = ImageDraw.Draw(picture)
    radius = max(1, min(width, height) // 5)
    draw.ellipse((2 + shift, 1, 2 + shift + 2 * radius, 1 + 2 * radius), fill=PALETTE[3], outline=PALETTE[2])
    draw.polygon([(width // 3, height), (width * 3 // 4, height // 2), (width, height)], fill=PALETTE[4])
    draw.rectangle((0, height * 2 // 3, max(1, width // 12), height), fill=PALETTE[0])
    return picture


def frames(count: int, width: int = 64, height: int = 48) -> list[Image.Image]:
    """The frames of an animation: the scene with its sun moving to the right by 9 pixels each time."""
    return [scene(width, height, shift=9 * index) for index in range(count)]


def flat(width: int = 64, height: int = 48) -> Image.Image:
    """A palette picture (mode P) of stripes and a disc, entry 0 of the palette being its background."""
    picture = Image.new("P", (width, height), 0)
    picture.putpalette([value for colour in PALETTE for value in colour])
    draw = ImageDraw.Draw(picture)
    for index in range(1, len(PALETTE)):
        left = width * index // len(PALETTE)
        draw.rectangle((left, height * index // 12, left + width // 16, height), fill=index)
    draw.ellipse((2, 2, width // 3, height // 2), fill=2, outline=1)
    return picture


def translucent(width: int = 64, height: int = 48) -> Image.Image:
    """The scene as RGBA, clear outside an ellipse and half clear towards the right."""
    picture = scene(width, height).convert("RGBA")
    shape = Image.new("L", (width, height), 0)
    ImageDraw.Draw(shape).ellipse((1, 1, width - 2, height - 2), fill=255)
    fade = Image.linear_gradient("L").rotate(90).resize((width, height), Image.Resampling.BILINEAR)
    picture.putalpha(ImageChops.multiply(shape, ImageChops.invert(fade)))
    return picture


def photo(width: int, height: int, seed: int) -> Image.Image:
    """An RGB picture with the statistics of a photograph: noise of several scales over the scene, plus grain."""
    source = random.Random(seed)
    channels = []
    for base in scene(width, height).split():
        total = base
        for cells, weight in ((4, 0.5), (12, 0.35), (40, 0.2), (120, 0.12)):
            size = (cells, max(2, cells * height // width))
            layer = Image.frombytes("L", size, source.randbytes(size[0] * size[1]))
            total = Image.blend(total, layer.resize((width, height), Image.Resampling.BICUBIC), weight)
        grain = Image.frombytes("L", (width, height), source.randbytes(width * height))
        channels.append(Image.blend(total, grain, 0.04))
    return Image.merge("RGB", channels)


def stored_for(orientation: int, upright: Image.Image) -> Image.Image:
    """The pixels to store so that applying the EXIF orientation (1 to 8) shows `upright` again."""
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    return upright if orientation == 1 else upright.transpose(undo[orientation])


def gray16(width: int = 64, height: int = 48) -> Image.Image:
    """A 16-bit gray picture (mode I;16) whose low bytes carry detail that 8 bits cannot hold."""
    values = [(x * 1021 + y * 769 + x * y * 7) % 65536 for y in range(height) for x in range(width)]
    return Image.frombytes("I;16", (width, height), struct.pack(f"<{len(values)}H", *values))


def linear_profile() -> bytes:
    """An ICC profile of the colours of sRGB whose samples are the light itself, dated like the one of sRGB."""
    profile = bytearray(srgb_profile())
    count = struct.unpack(">I", profile[128:132])[0]
    for entry in range(count):
        name, place, size = struct.unpack(">4sII", profile[132 + 12 * entry : 144 + 12 * entry])
        if name in (b"rTRC", b"gTRC", b"bTRC"):
            profile[place : place + size] = struct.pack(">4sII", b"curv", 0, 0).ljust(size, b"\0")
    return bytes(profile)


def srgb_profile() -> bytes:
    """An sRGB ICC profile from Little CMS, its creation date set to 2020-01-01 so that it never changes."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile[:24] + struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + profile[36:]
