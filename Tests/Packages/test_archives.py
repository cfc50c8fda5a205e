"""What holds for all packages: ``python3 -m unittest discover -s Tests/Packages``."""

from __future__ import annotations

import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Dict, Iterator, Tuple

from support import BINARIES, ROOT, made


def entries(path: Path) -> Iterator[Tuple[str, bytes]]:
    """The files in a package, with those of the archives in it."""
    if path.suffix in (".whl", ".vsix"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
        return
    data = path.read_bytes()
    if path.suffix == ".deb":
        (start,) = [place for place in range(len(data)) if data.startswith(b"data.tar.xz", place)][:1]
        data = lzma.decompress(data[start + 60 :])
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            yield member.name, file.read() if file else b""


class ArchiveTests(unittest.TestCase):
    def test_the_same_build_makes_the_same_bytes_whatever_the_time_zone_the_umask_and_the_language(self) -> None:
        first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (made().folder, made().again))
        self.assertEqual(set(first), set(second))
        for name, data in first.items():
            self.assertTrue(data == second[name], f"{name} differs")

    @unittest.skipIf("HALCYON_PACKAGES" in os.environ, "the packages were made before")
    def test_the_command_prints_the_size_of_each_package_and_how_fast_an_installed_server_starts(self) -> None:
        printed = made().printed
        for path in made().again.iterdir():
            self.assertIn(f"{path}  {path.stat().st_size:,} bytes\n", printed)
        for kind in ("deb", "tarball", "wheel"):
            self.assertRegex(printed, rf"start to first answer, {kind}: [0-9.]+ ms, [0-9.]+ of the build's [0-9.]+ ms\n")

    def test_no_package_says_that_it_has_a_licence_or_who_made_it_where(self) -> None:
        for path in made().folder.iterdir():
            with self.subTest(package=path.name):
                for name, data in entries(path):
                    if "third-party" in name:
                        continue
                    for word in (b"SPDX-License-Identifier:", b'"license"', b"License-Expression:", b"/root/", str(ROOT).encode()):
                        if not data.startswith(b"\x7fELF"):
                            self.assertFalse(word in data, f"{name} has {word!r}")

    def test_the_programs_have_no_symbols(self) -> None:
        for path in made().folder.iterdir():
            programs: Dict[str, bytes] = {name: data for name, data in entries(path) if data.startswith(b"\x7fELF")}
            for name, data in programs.items():
                with self.subTest(package=path.name, file=name), tempfile.NamedTemporaryFile() as copy:
                    Path(copy.name).write_bytes(data)
                    told = subprocess.run(["readelf", "-WS", copy.name], check=True, capture_output=True, text=True).stdout
                    self.assertNotIn(".symtab", told)

    def test_programs_that_need_the_toolchain_are_refused_unless_that_is_wanted(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, ROOT / ".ci/packaging", "--only", "deb", "--binaries", BINARIES, folder]
            done = subprocess.run(command, capture_output=True, text=True)
            if "libswiftCore" in subprocess.run(["readelf", "-d", BINARIES / "halcyon"], capture_output=True, text=True).stdout:
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("--static-swift-stdlib", done.stderr)
            else:
                self.assertEqual(done.returncode, 0, done.stderr)
