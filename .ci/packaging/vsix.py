"""The extension of VS Code as `vsce package` packs it: `code --install-extension`."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape, quoteattr

from archives import Entry, files, zipped
from build import LICENCE, ROOT, Build, repository, with_repository
from npm import manifest

CLIENT = "clients/vscode"
#: The names by which VS Code finds what it shows of an extension; the others are those of the extension's files.
SHOWN = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md"}
#: The media types of the files, by the ends of their names.
TYPES = {
    "json": "application/json",
    "vsixmanifest": "text/xml",
    "js": "application/javascript",
    "mjs": "application/javascript",
    "ts": "application/typescript",
    "md": "text/markdown",
    "txt": "text/plain",
    "png": "image/png",
}


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    folder = ROOT / CLIENT
    description = json.loads((folder / "package.json").read_text())
    entries = [
        Entry("extension/" + SHOWN.get(one.path, one.path), one.data, one.is_executable)
        for one in files(folder, description["files"])
    ]
    entries += [
        Entry("extension/package.json", manifest(with_repository(description, CLIENT))),
        Entry("extension/LICENCE.txt", LICENCE.encode()),
    ]
    entries.sort(key=lambda one: one.path)
    about = [Entry("extension.vsixmanifest", _about(description)), Entry("[Content_Types].xml", _types())]
    return {f"{description['name']}-{description['version']}.vsix": zipped(about + entries, build.epoch, build.level)}


def _about(description: "dict[str, object]") -> bytes:
    """What VS Code reads before it unpacks the extension."""
    properties = {
        "Microsoft.VisualStudio.Code.Engine": description["engines"]["vscode"],  # type: ignore[index]
        "Microsoft.VisualStudio.Code.ExtensionKind": ",".join(description["extensionKind"]),  # type: ignore[arg-type]
        "Microsoft.VisualStudio.Services.GitHubFlavoredMarkdown": "true",
    }
    address = repository()
    if address is not None:
        properties["Microsoft.VisualStudio.Services.Links.Source"] = address
    assets = {
        "Microsoft.VisualStudio.Code.Manifest": "package.json",
        "Microsoft.VisualStudio.Services.Content.Details": "readme.md",
        "Microsoft.VisualStudio.Services.Content.Changelog": "changelog.md",
        "Microsoft.VisualStudio.Services.Icons.Default": description["icon"],
    }
    identity = {
        "Language": "en-US",
        "Id": description["name"],
        "Version": description["version"],
        "Publisher": description["publisher"],
    }
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">',
            "  <Metadata>",
            f"    <Identity {_attributes(identity)}/>",
            f"    <DisplayName>{escape(str(description['displayName']))}</DisplayName>",
            f'    <Description xml:space="preserve">{escape(str(description["description"]))}</Description>',
            f"    <Tags>{escape(','.join(description['keywords']))}</Tags>",  # type: ignore[arg-type]
            f"    <Categories>{escape(','.join(description['categories']))}</Categories>",  # type: ignore[arg-type]
            "    <GalleryFlags>Public</GalleryFlags>",
            "    <Properties>",
            *(f"      <Property {_attributes({'Id': name, 'Value': value})}/>" for name, value in properties.items()),
            "    </Properties>",
            f"    <Icon>extension/{description['icon']}</Icon>",
            "  </Metadata>",
            '  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>',
            "  <Dependencies/>",
            "  <Assets>",
            *(
                f"    <Asset {_attributes({'Type': kind, 'Path': f'extension/{path}', 'Addressable': 'true'})}/>"
                for kind, path in assets.items()
            ),
            "  </Assets>",
            "</PackageManifest>",
            "",
        ]
    ).encode()


def _types() -> bytes:
    kinds = "".join(f"<Default {_attributes({'Extension': end, 'ContentType': kind})}/>" for end, kind in TYPES.items())
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{kinds}</Types>\n'
    ).encode()


def _attributes(values: "dict[str, object]") -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in values.items())
