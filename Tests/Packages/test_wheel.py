"""The wheel, installed by pip into an environment of its own."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

from support import FIXTURES, ROOT, PackageTest, made, web, without_libvips

SCRIPT = """
import json, sys
from halcyon import Client
with Client() as images:
    cat = images.retrieve(sys.argv[1] + "/jpeg-photo.jpg")
    small = images.retrieve(sys.argv[1] + "/jpeg-photo.jpg", processors="resize:16x16")
    print(json.dumps([cat.width, cat.height, max(small.width, small.height)]))
"""


class WheelTests(PackageTest):
    def install(self) -> Path:
        """The folder of a new environment with the wheel."""
        place = self.folder / "environment"
        self.run_there(sys.executable, "-m", "venv", place)
        wheel = made().one("*.whl")
        self.run_there(place / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel)
        return place

    def test_a_script_needs_nothing_but_the_one_file_and_the_command_is_there_too(self) -> None:
        place = self.install()
        python = place / "bin/python"
        (folder,) = place.glob("lib/python*/site-packages/halcyon")
        with web() as address:
            done = self.run_there(python, "-c", SCRIPT, address, XDG_CACHE_HOME=str(self.folder / "one"))
            self.assertEqual(json.loads(done.stdout)[:3], [320, 240, 16])
            path = self.run_there(place / "bin/halcyon", "get", f"{address}/png-rgb.png").stdout.strip()
            self.assertEqual(Path(path).read_bytes(), (FIXTURES / "png-rgb.png").read_bytes())
        self.expect_work(place / "bin/halcyon")
        for library in ("libjansson.so.4", "libsqlite3.so.0"):
            self.assertIn(f"{library} => {folder}/bin/", self.run_there("ldd", folder / "bin/halcyon").stdout)
        self.run_there(python, "-m", "pip", "uninstall", "-q", "-y", "halcyon-images")
        self.assertFalse(folder.exists())
        self.assertFalse((place / "bin/halcyon").exists())

    def test_without_libvips_it_downloads_and_the_first_resize_names_the_package(self) -> None:
        place = self.install()
        (codec,) = place.glob("lib/python*/site-packages/halcyon/bin/halcyon-codec")
        without_libvips(codec)
        with web() as address:
            url = f"{address}/jpeg-photo.jpg"
            first, second = self.ask(
                place / "bin/halcyon",
                {"method": "retrieve", "params": {"url": url}},
                {"method": "retrieve", "params": {"url": url, "processors": "resize:16x16"}},
            )
        self.assertEqual(first["result"]["width"], 320)
        self.assertEqual(second["error"]["data"]["name"], "processingFailed")
        self.assertIn("libvipz.so.42: cannot open", second["error"]["message"])
        self.assertIn("the package libvips42 of Debian", second["error"]["message"])

    def test_it_has_every_file_of_the_client(self) -> None:
        source = ROOT / "clients/python/src"
        client = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
        with zipfile.ZipFile(made().one("*.whl")) as archive:
            self.assertLessEqual(client, set(archive.namelist()))

    def test_its_tag_names_the_oldest_c_library_that_all_its_programs_start_with(self) -> None:
        wheel = made().one("*.whl")
        self.assertRegex(wheel.name, r"^halcyon_images-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
        wanted = int(wheel.name.split("manylinux_2_")[1].split("_")[0])
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("halcyon/bin/"):
                    archive.extract(name, self.folder)
                    told = self.run_there("readelf", "-WV", self.folder / name).stdout
                    versions = [int(word.split("_2.")[1].split(".")[0]) for word in told.split() if word.startswith("GLIBC_2.")]
                    self.assertLessEqual(max(versions), wanted, name)
