"""The Node client, installed by npm into a project of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

from support import BINARIES, CLIENT_SIZES, ROOT, ClientTest, made, needs, web

SCRIPT = """
import { Client } from "halcyon-client";
const images = await Client.start({ cacheDir: "cache" });
const url = process.argv[2] + "/jpeg-photo.jpg";
const cat = await images.retrieve({ url });
const small = await images.retrieve({ url, processors: [{ resize: { width: 16, height: 16 } }] });
console.log(JSON.stringify([cat.width, cat.height, small.width, small.height]));
await images.close();
"""
TYPES = """
import { Client, type ImageResult } from "halcyon-client";
const images: Client = await Client.start();
const cat: ImageResult = await images.retrieve({ url: "https://example.com/cat.jpg" });
export const bytes: Buffer | undefined = cat.data;
"""
COMPILER = {"strict": True, "noEmit": True, "module": "nodenext", "target": "es2022", "lib": ["es2022", "dom"]}


@needs("npm")
class NpmTests(ClientTest):
    def install(self) -> Path:
        """A project with the package as its only dependency."""
        project = self.folder / "project"
        project.mkdir()
        (project / "package.json").write_text('{ "name": "project", "private": true, "type": "module" }')
        options = ("--offline", "--no-audit", "--no-fund", "--ignore-scripts")
        self.run_there("npm", "install", *options, made().one("*.tgz"), cwd=project)
        return project

    def test_a_project_needs_nothing_but_the_package_and_a_server(self) -> None:
        project = self.install()
        (project / "script.mjs").write_text(SCRIPT)
        with web() as address:
            done = self.run_there("node", "script.mjs", address, cwd=project)
        self.assertEqual(json.loads(done.stdout), CLIENT_SIZES)
        self.assertEqual([path.name for path in (project / "node_modules").iterdir() if path.name[0] != "."], ["halcyon-client"])
        described = json.loads((project / "node_modules/halcyon-client/package.json").read_text())
        self.assertEqual(list(described["peerDependencies"]), ["@types/node"])

    @needs("tsc")
    def test_its_types_are_complete(self) -> None:
        project = self.install()
        node = project / "node_modules/@types/node"
        node.mkdir(parents=True)
        shutil.copy(ROOT / "clients/node/tests/types/node.d.ts", node / "index.d.ts")
        (node / "package.json").write_text('{ "name": "@types/node", "version": "18.0.0" }')
        (project / "uses.ts").write_text(TYPES)
        (project / "tsconfig.json").write_text(json.dumps({"compilerOptions": {**COMPILER, "types": ["node"]}, "files": ["uses.ts"]}))
        told = self.run_there("tsc", "-p", ".", cwd=project, status=None)
        self.assertEqual(told.stdout, "")

    def test_it_has_the_files_that_npm_would_pack(self) -> None:
        told = self.run_there("npm", "pack", "--dry-run", "--json", "--silent", ROOT / "clients/node").stdout
        expected = {"package/" + one["path"] for one in json.loads(told)[0]["files"]}
        with tarfile.open(made().one("*.tgz")) as archive:
            found = {member.name for member in archive.getmembers() if member.isfile()}
        self.assertEqual(found, expected | {"package/LICENCE"})

    def test_it_names_the_repository_where_that_is_known_and_no_password_of_it(self) -> None:
        address = "https://ann:secret@example.com/ann/halcyon.git"
        command = (ROOT / ".ci/package", "--toolchain", "--only", "npm,vsix,emacs", "--binaries", BINARIES)
        self.run_there(*command, self.folder / "named", HALCYON_REPOSITORY=address)
        (package,) = (self.folder / "named").glob("*.tgz")
        with tarfile.open(package) as archive:
            described = json.load(archive.extractfile("package/package.json"))  # type: ignore[arg-type]
        self.assertEqual(
            described["repository"],
            {"type": "git", "url": "git+https://example.com/ann/halcyon.git", "directory": "clients/node"},
        )
        for path in (self.folder / "named").iterdir():
            told = subprocess.run(["grep", "-c", "secret", path], capture_output=True, text=True)
            self.assertEqual(told.stdout.strip(), "0", path)
