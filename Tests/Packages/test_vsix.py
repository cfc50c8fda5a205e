"""The extension of VS Code, unpacked as VS Code does, with the stand-in for the editor that its own tests have."""

from __future__ import annotations

import json
import shutil
import struct
import xml.etree.ElementTree
import zipfile

from support import CLIENT_SIZES, ROOT, ClientTest, made, needs, web

SCRIPT = """
import { configure, requireExtension, reset } from "./tests/support/vscode.mjs";
reset();
configure("binary", process.env.HALCYON_BIN);
configure("cacheDir", process.argv[3]);
const extension = requireExtension("./extension.js");
const api = extension.activate({ subscriptions: [] });
const url = process.argv[2] + "/jpeg-photo.jpg";
const cat = await api.call("retrieve", { url });
const small = await api.call("retrieve", { url, processors: "resize:16x16" });
console.log(JSON.stringify([cat.width, cat.height, small.width, small.height]));
await extension.deactivate();
"""


class VsixTests(ClientTest):
    def setUp(self) -> None:
        super().setUp()
        with zipfile.ZipFile(made().one("*.vsix")) as archive:
            archive.extractall(self.folder)
        self.extension = self.folder / "extension"

    @needs("node")
    def test_the_unpacked_extension_loads_and_resizes(self) -> None:
        support = self.extension / "tests/support"
        support.mkdir(parents=True)
        shutil.copy(ROOT / "clients/vscode/tests/support/vscode.mjs", support)
        (self.extension / "script.mjs").write_text(SCRIPT)
        with web() as address:
            done = self.run_there("node", "script.mjs", address, self.folder / "cache", cwd=self.extension)
        self.assertEqual(json.loads(done.stdout), CLIENT_SIZES)

    def test_what_it_says_of_itself_is_there(self) -> None:
        about = xml.etree.ElementTree.parse(self.folder / "extension.vsixmanifest").getroot()
        space = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
        paths = {one.attrib["Type"].split(".")[-1]: one.attrib["Path"] for one in about.iter(space + "Asset")}
        self.assertEqual(set(paths), {"Manifest", "Details", "Changelog", "Default"})
        for path in paths.values():
            self.assertTrue((self.folder / path).is_file(), path)
        described = json.loads((self.folder / paths["Manifest"]).read_text())
        self.assertNotIn("private", described)
        (identity,) = about.iter(space + "Identity")
        self.assertEqual(
            [identity.attrib[name] for name in ("Publisher", "Id", "Version")],
            [described[name] for name in ("publisher", "name", "version")],
        )
        self.assertIn(f"## {described['version']}\n", (self.folder / paths["Changelog"]).read_text())
        for name in ("main", "types", "icon"):
            self.assertTrue((self.extension / described[name]).is_file(), name)
        # The market wants an icon of 128 pixels or more.
        icon = (self.extension / described["icon"]).read_bytes()
        self.assertEqual(icon[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreaterEqual(min(struct.unpack(">II", icon[16:24])), 128)

    def test_every_kind_of_file_in_it_has_a_media_type(self) -> None:
        types = xml.etree.ElementTree.parse(self.folder / "[Content_Types].xml").getroot()
        known = {one.attrib["Extension"] for one in types}
        found = {path.suffix[1:] for path in self.folder.rglob("*") if path.is_file() and path.parent != self.folder}
        self.assertLessEqual(found | {"vsixmanifest"}, known)
