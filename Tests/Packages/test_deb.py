"""The package for Debian, installed beside what this machine has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from support import PackageTest, made, needs


@needs("dpkg")
class DebTests(PackageTest):
    def install(self) -> Path:
        """A root in which dpkg has installed the package; what it depends on is what this machine has."""
        root = self.folder / "root"
        database = root / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (database / name).mkdir(parents=True)
        shutil.copy("/var/lib/dpkg/status", database / "status")
        self.dpkg(root, "--install", made().one("halcyon_*.deb"))
        return root

    def dpkg(self, root: Path, *words: object) -> None:
        # The triggers are programs of packages that are not in that root.
        options = (f"--root={root}", "--force-not-root", "--no-triggers", f"--log={self.folder}/log")
        self.run_there("dpkg", *options, *words, PATH="/usr/sbin:/usr/bin:/sbin:/bin")

    def test_it_installs_where_its_dependencies_are_and_works_there_and_leaves_nothing(self) -> None:
        root = self.install()
        self.expect_work(root / "usr/bin/halcyon")
        page = self.run_there("man", "-l", root / "usr/share/man/man1/halcyon.1.gz", MANPAGER="cat").stdout
        self.assertIn("halcyon get", page)
        completions = root / "usr/share/bash-completion/completions/halcyon"
        self.run_there("bash", "-c", f'set -e; source "{completions}"; complete -p halcyon')
        self.assertIn("has not chosen a licence", (root / "usr/share/doc/halcyon/copyright").read_text())
        sums = root / "var/lib/dpkg/info/halcyon.md5sums"
        self.run_there("md5sum", "--check", "--quiet", sums, cwd=root)
        self.dpkg(root, "--purge", "halcyon")
        self.assertEqual([path for path in (root / "usr").rglob("*") if path.is_file()], [])

    def test_it_depends_on_the_package_of_every_library_and_on_the_codecs_of_heic_and_avif(self) -> None:
        package = made().one("halcyon_*.deb")
        control = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True, capture_output=True, text=True)
        depends = {one.split(" ")[0] for one in control.stdout.strip().split(", ")}
        for name in ("libvips42", "libcurl4", "libjansson4", "libsqlite3-0", "libc6"):
            self.assertIn(name, depends)
        self.assertIn("libheif-plugin-aomenc | libheif1 (<< 1.17)", control.stdout)
        self.assertIn("libheif-plugin-libde265 | libheif1 (<< 1.17)", control.stdout)
