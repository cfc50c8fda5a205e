"""The packages of a release on bare Debian systems, which debootstrap makes; each takes minutes, so `.ci/test` leaves them out.

.ci/package dist
HALCYON_PACKAGES=dist python3 -m unittest discover -s Tests/Packages -p 'bare_*.py'

Needs root, debootstrap and Debian's packages. HALCYON_ROOTS names a folder for the bare systems, to have them next time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

from support import PackageTest, made, web

#: Runs a command in a root that has a /proc of its own, until it ends.
ENTER = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
FORMATS = "png jpeg gif webp avif heic tiff bmp ico svg jxl jp2 pnm icns pdf"
SCRIPT = """
import sys
from halcyon import Client, HalcyonError
with Client() as images:
    for words in {}, {"processors": "resize:16x16"}:
        try:
            picture = images.retrieve(sys.argv[1] + "/jpeg-photo.jpg", **words)
            print(picture.width, picture.height)
        except HalcyonError as error:
            print(error)
"""


def bare(suite: str) -> Path:
    """The folder with a bare system; made when it is not there."""
    folder = Path(os.environ.get("HALCYON_ROOTS") or tempfile.gettempdir() + "/halcyon-roots")
    root = folder / suite
    if not root.exists():
        folder.mkdir(parents=True, exist_ok=True)
        half = folder / f"{suite}.half"
        shutil.rmtree(half, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", suite, str(half)], check=True, stdout=subprocess.DEVNULL)
        half.rename(root)
    return root


@unittest.skipUnless(os.environ.get("HALCYON_PACKAGES"), "HALCYON_PACKAGES names no folder with packages of a release")
@unittest.skipUnless(shutil.which("debootstrap") and os.geteuid() == 0, "needs debootstrap and root")
class BareSystem(PackageTest):
    """A test with a bare system of its own."""

    suite = ""

    def setUp(self) -> None:
        super().setUp()
        if not self.suite:
            self.skipTest("no suite")
        self.root = self.folder / "root"
        self.run_there("cp", "-a", bare(self.suite), self.root)
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
        self.entering = ["unshare", "--mount", "sh", "-c", ENTER, str(self.root)]

    def outside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def inside(self, *command: object, status: Optional[int] = 0, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command in the bare system to its end."""
        return self.run_there(*self.entering, *command, status=status, patience=900, **variables)

    def bring(self, pattern: str) -> str:
        """Copies a package into the system: its path there."""
        package = made().one(pattern)
        shutil.copy(package, self.root / "tmp")
        return f"/tmp/{package.name}"

    def install(self, *packages: str, recommended: bool = True) -> None:
        self.inside("apt-get", "update", "-q")
        words = [] if recommended else ["--no-install-recommends"]
        self.inside("apt-get", "install", "-q", "-y", *words, *packages)

    def doctor(self, program: str, status: int) -> Dict[str, Dict[str, Any]]:
        """What the doctor finds, by the names."""
        told = json.loads(self.inside(program, "doctor", "--json", status=status).stdout)
        self.assertEqual(told["ok"], status == 0)
        return {one["name"]: one for one in told["findings"]}

    def advised(self, program: str) -> List[str]:
        """The packages that the doctor wants installed."""
        texts = [f"{one['text']} {one.get('advice')}" for one in self.doctor(program, 1).values() if one["state"] == "missing"]
        return sorted({name for text in texts for name in re.findall(r"the package (\S+) of Debian", text)})

    def heal(self, program: str) -> None:
        """Does what the doctor says until nothing is missing: libvips first, for without it no format can be tried."""
        for _ in range(2):
            packages = self.advised(program)
            self.assertNotEqual(packages, [])
            print(f"{self.suite}: the doctor wants {' '.join(packages)}", flush=True)
            self.install(*packages, recommended=False)
            if self.inside(program, "doctor", status=None).returncode == 0:
                break
        self.expect_everything(program)

    def expect_everything(self, program: str) -> None:
        found = self.doctor(program, 0)
        self.assertEqual(found["decodes"]["text"], FORMATS)
        self.expect_work(Path(program))


class BareTests:
    """The tests, for each suite."""

    def test_the_debian_package_brings_all_that_it_needs(self: Any) -> None:
        package = self.bring("halcyon_*.deb")
        self.assertIn("dependency problems", self.inside("dpkg", "-i", package, status=1).stderr)
        self.inside("apt-get", "update", "-q")
        self.inside("apt-get", "install", "-q", "-y", "-f")
        self.expect_everything("/usr/bin/halcyon")
        self.inside("apt-get", "purge", "-q", "-y", "halcyon")
        self.assertEqual([path for path in (self.root / "usr").rglob("*") if "halcyon" in path.name], [])

    def test_the_script_of_the_archive_and_then_the_doctor_say_what_to_install(self: Any) -> None:
        self.inside("tar", "-xzf", self.bring("halcyon-*-linux-*.tar.gz"), "-C", "/tmp")
        (script,) = (f"/tmp/{path.parent.name}/install.sh" for path in (self.root / "tmp").glob("*/install.sh"))
        told = self.inside(script, status=1).stderr
        self.assertIn("halcyon does not start without", told)
        (packages,) = re.findall(r"^Run: apt-get install (.*)$", told, re.MULTILINE)
        self.install(*packages.split(), recommended=False)
        self.inside(script)
        if self.inside("/usr/local/bin/halcyon", "doctor", status=None).returncode != 0:
            self.heal("/usr/local/bin/halcyon")
        self.expect_everything("/usr/local/bin/halcyon")

    def test_the_wheel_starts_without_libvips_and_the_doctor_says_what_to_install(self: Any) -> None:
        self.install("python3-venv", recommended=False)
        self.inside("python3", "-m", "venv", "/opt/place")
        self.inside("/opt/place/bin/pip", "install", "-q", "--no-index", self.bring("*.whl"))
        halcyon = "/opt/place/bin/halcyon"
        with web() as address:
            told = self.inside("/opt/place/bin/python", "-c", SCRIPT, address).stdout
            self.assertIn("libcurl", told)
            self.install("libcurl4", recommended=False)
            first, second = self.inside("/opt/place/bin/python", "-c", SCRIPT, address).stdout.splitlines()
            self.assertEqual(first, "320 240")
            self.assertIn("the package libvips42 of Debian", second)
            self.heal(halcyon)
            told = self.inside("/opt/place/bin/python", "-c", SCRIPT, address).stdout
            self.assertEqual(told.splitlines(), ["320 240", "16 16"])


class Debian12Tests(BareTests, BareSystem):
    suite = "bookworm"


class Debian13Tests(BareTests, BareSystem):
    suite = "trixie"
