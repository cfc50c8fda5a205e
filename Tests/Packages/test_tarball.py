"""The archive for every Linux, installed by its script."""

from __future__ import annotations

from pathlib import Path
from typing import Set

from support import PackageTest, made


class TarballTests(PackageTest):
    def unpack(self) -> Path:
        self.run_there("tar", "-xzf", made().one("halcyon-*-linux-*.tar.gz"))
        (folder,) = self.folder.glob("halcyon-*")
        return folder

    def installed(self, prefix: Path) -> Set[str]:
        return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}

    def test_the_script_installs_below_a_prefix_and_removes_all_that_it_installed_and_no_more(self) -> None:
        script = self.unpack() / "install.sh"
        prefix = self.folder / "a prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "bin/other").write_text("not of halcyon")
        self.run_there(script, "--prefix", prefix)
        self.assertLessEqual({"bin/halcyon", "bin/halcyon-codec", "share/man/man1/halcyon.1"}, self.installed(prefix))
        self.expect_work(prefix / "bin/halcyon")
        # Again, over a program that runs: that of an older version with a file that is no more.
        with open(prefix / "share/doc/halcyon/files", "a") as files:
            files.write("share/doc/halcyon/old\n")
        (prefix / "share/doc/halcyon/old").write_text("")
        self.run_there("sh", "-c", f'"{prefix}/bin/halcyon" & server=$!; "{script}" --prefix="{prefix}"; kill $server || :')
        self.assertNotIn("share/doc/halcyon/old", self.installed(prefix))
        self.expect_work(prefix / "bin/halcyon")
        self.run_there(script, "--prefix", prefix, "--uninstall")
        self.assertEqual(self.installed(prefix), {"bin/other"})
        self.assertFalse((prefix / "share/doc/halcyon").exists())
        again = self.run_there(script, "--prefix", prefix, "--uninstall", status=1)
        self.assertIn("is not installed", again.stderr)

    def test_a_relative_prefix_counts_from_where_the_script_is_called_and_an_empty_one_is_refused(self) -> None:
        script = self.unpack() / "install.sh"
        place = self.folder / "elsewhere"
        place.mkdir()
        done = self.run_there(script, "--prefix", "here", cwd=place)
        self.expect_work(place / "here/bin/halcyon")
        self.assertIn(f"--prefix '{place}/here' --uninstall", done.stderr)
        for words in (["--prefix", ""], ["--prefix="], ["--prefix"]):
            self.assertIn("--prefix needs a folder", self.run_there(script, *words, status=2).stderr)

    def test_the_script_tells_which_library_is_missing_and_how_to_get_it(self) -> None:
        folder = self.unpack()
        codec = folder / "bin/halcyon-codec"
        codec.write_bytes(codec.read_bytes().replace(b"libvips.so.42", b"libvipz.so.42"))
        done = self.run_there(folder / "install.sh", "--prefix", self.folder / "prefix")
        self.assertIn("halcyon-codec, which resizes pictures, lacks libvipz.so.42", done.stderr)
        self.assertIn("Run: ", done.stderr)
        server = folder / "bin/halcyon"
        server.write_bytes(server.read_bytes().replace(b"libjansson.so.4", b"libjanssoz.so.4"))
        done = self.run_there(folder / "install.sh", "--prefix", self.folder / "prefix", status=1)
        self.assertIn("does not start without libjanssoz.so.4", done.stderr)
        self.assertEqual(self.run_there(folder / "install.sh", "--prefx", "x", status=2).stdout, "")
