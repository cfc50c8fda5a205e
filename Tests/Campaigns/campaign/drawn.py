"""Pictures that are drawn by chance, and written by other encoders than ours."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageCms, ImageDraw, ImageFilter

#: The formats that Pillow writes, each with its modes.
MODES = {
    "png": ("RGB", "RGBA", "L", "LA", "P", "1", "I;16"),
    "jpeg": ("RGB", "L"),
    "gif": ("P", "L"),
    "webp": ("RGB", "RGBA"),
    "tiff": ("RGB", "RGBA", "L", "P", "1", "I;16"),
    "bmp": ("RGB", "L", "P", "1"),
    "ico": ("RGBA",),
    "jp2": ("RGB", "RGBA", "L"),
    "pnm": ("RGB", "L", "1"),
}
#: The encoders of the others.
PROGRAMS = {"avif": "avifenc", "jxl": "cjxl"}
ANIMATED = ("png", "gif", "webp")


@dataclass(frozen=True)
class Drawn:
    """A picture as a file, with the words that tell how it was written."""

    kind: str
    data: bytes
    words: str


def formats() -> list[str]:
    """The formats that can be written on this machine."""
    return [*MODES, *(kind for kind, program in PROGRAMS.items() if shutil.which(program))]


def scene(chance: random.Random, width: int, height: int) -> Image.Image:
    """A picture like a photograph: light that changes slowly, shapes with edges, and noise."""
    bands = [Image.linear_gradient("L").rotate(90 * chance.randrange(4)).resize((width, height)) for _ in range(3)]
    picture = Image.merge("RGB", bands)
    draw = ImageDraw.Draw(picture)
    for _ in range(chance.randrange(2, 9)):
        left, right = sorted(chance.randrange(-20, width + 20) for _ in range(2))
        top, bottom = sorted(chance.randrange(-20, height + 20) for _ in range(2))
        shape = chance.choice((draw.ellipse, draw.rectangle))
        shape((left, top, right, bottom), fill=tuple(chance.randrange(256) for _ in range(3)))
    if chance.random() < 0.7:
        picture = picture.filter(ImageFilter.GaussianBlur(chance.choice((0.6, 1.5))))
    if chance.random() < 0.5:
        noise = Image.frombytes("RGB", (width, height), chance.randbytes(3 * width * height))
        picture = Image.blend(picture, noise, 0.04)
    return picture


def by_chance(seed: int) -> Drawn:
    """The picture of a seed."""
    chance = random.Random(seed)
    kind = chance.choice(formats())
    width, height = chance.choice((1, 2, 7, 16, 33, 64, 100, 241)), chance.choice((1, 3, 8, 17, 40, 64, 99, 180))
    if kind == "ico":
        width = height = 64
    if kind in PROGRAMS:
        return by_program(chance, kind, scene(chance, max(width, 8), max(height, 8)))
    mode = chance.choice(MODES[kind])
    options = chosen(chance, kind, mode)
    if kind in ANIMATED and mode != "I;16" and chance.random() < 0.3:
        mode = "P" if kind == "gif" else "RGBA"
        pictures = [in_mode(chance, scene(chance, width, height), mode) for _ in range(chance.randrange(2, 5))]
        options.pop("transparency", None)
        options.update(save_all=True, append_images=pictures[1:], duration=chance.choice((20, 100)), loop=0)
        picture = pictures[0]
        if kind == "webp":
            # The ground of what has no alpha is black in Pillow, and clear in browsers.
            picture.putpixel((0, 0), (0, 0, 0, 0))
    else:
        picture = in_mode(chance, scene(chance, width, height), mode)
    out = io.BytesIO()
    name = {"jp2": "JPEG2000", "pnm": "PPM"}.get(kind, kind.upper())
    picture.save(out, name, **options)
    told = {key: value for key, value in options.items() if key not in ("append_images", "exif", "icc_profile")}
    return Drawn(kind, out.getvalue(), f"{kind} {mode} {width}×{height} {told}")


def in_mode(chance: random.Random, picture: Image.Image, mode: str) -> Image.Image:
    """The picture in a mode of Pillow; one with alpha is clear and translucent in places."""
    if mode == "I;16":
        light = picture.convert("L").tobytes()
        return Image.frombytes("I;16", picture.size, b"".join(bytes((chance.randrange(256), value)) for value in light))
    if mode in ("RGBA", "LA"):
        alpha = Image.new("L", picture.size, chance.choice((0, 80, 255)))
        draw = ImageDraw.Draw(alpha)
        draw.ellipse((0, 0, picture.width * 3 // 4, picture.height), fill=chance.choice((255, 200)))
        picture = picture.convert("RGBA")
        picture.putalpha(alpha)
        return picture if mode == "RGBA" else picture.convert("LA")
    if mode == "P":
        return picture.quantize(chance.choice((2, 16, 250)))
    return picture.convert(mode)


def chosen(chance: random.Random, kind: str, mode: str) -> dict[str, object]:
    """Options of an encoder."""
    options: dict[str, object] = {}
    if kind == "jpeg":
        options = {"quality": chance.choice((35, 75, 90, 98)), "subsampling": chance.randrange(3)}
        options.update(progressive=chance.random() < 0.5, optimize=chance.random() < 0.5)
    if kind == "webp":
        options = {"lossless": chance.random() < 0.5, "quality": chance.choice((30, 80, 95))}
    if kind == "tiff" and mode != "I;16":
        options = {"compression": chance.choice(("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"))}
        if mode == "1":
            options["compression"] = chance.choice(("raw", "group3", "group4", "packbits"))
    if kind == "jp2":
        options = {"irreversible": chance.random() < 0.5, "num_resolutions": 1}
    if kind == "png":
        options = {"optimize": chance.random() < 0.2, "compress_level": chance.choice((0, 6))}
        if mode in ("P", "L", "RGB") and chance.random() < 0.3:
            options["transparency"] = 0 if mode != "RGB" else (0, 0, 0)
    if kind in ("jpeg", "png", "webp") and chance.random() < 0.3:
        exif = Image.Exif()
        exif[0x0112] = chance.randrange(1, 9)
        options["exif"] = exif.tobytes()
    if kind in ("jpeg", "png", "tiff") and mode == "RGB" and chance.random() < 0.2:
        options["icc_profile"] = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return options


def by_program(chance: random.Random, kind: str, picture: Image.Image) -> Drawn:
    """A picture through an encoder that is a program. Colours at half the size are smoothed by each decoder in its own way."""
    if kind == "avif":
        options = ["-s", "8", "-y", "444", "--min", "0", "--max", str(chance.choice((0, 20, 40)))]
    else:
        options = ["-e", "3", "-d", str(chance.choice((0, 1, 3)))]
    if chance.random() < 0.4:
        picture = in_mode(chance, picture, "RGBA")
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "a.png", Path(folder) / f"a.{kind}"
        picture.save(source)
        names = [str(source), str(made)]
        command = [PROGRAMS[kind], *options, *names] if kind == "avif" else [PROGRAMS[kind], *names, *options]
        subprocess.run(command, check=True, capture_output=True)
        return Drawn(kind, made.read_bytes(), f"{kind} {picture.mode} {picture.width}×{picture.height} {' '.join(options)}")
