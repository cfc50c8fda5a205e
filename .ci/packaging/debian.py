"""The package for Debian: `dpkg -i`, then `apt-get -f install`."""

from __future__ import annotations

import hashlib
from typing import List

from archives import Entry, ar, gzipped, tar, xzipped
from build import LICENCE, PROGRAMS, ROOT, Build

#: The package of each library that the loader must find. Debian 13 provides the names of Debian 12.
PACKAGES = {
    "libjansson.so.4": "libjansson4",
    "libsqlite3.so.0": "libsqlite3-0",
    "libgobject-2.0.so.0": "libglib2.0-0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libvips.so.42": "libvips42 (>= 8.14)",
    "libjpeg.so.62": "libjpeg62-turbo",
    "libpng16.so.16": "libpng16-16",
    "liblcms2.so.2": "liblcms2-2",
    "libstdc++.so.6": "libstdc++6",
    "libgcc_s.so.1": "libgcc-s1",
    "libz.so.1": "zlib1g",
}
#: What is loaded when it is needed first: the downloader, the codings of responses.
LOADED_LATER = ["libcurl4", "zlib1g", "libbrotli1", "libzstd1"]
#: The codecs of HEIC and AVIF, which are packages of their own from libheif 1.17 on.
CODECS = [
    "libheif-plugin-libde265 | libheif1 (<< 1.17)",
    "libheif-plugin-dav1d | libheif-plugin-aomdec | libheif1 (<< 1.17)",
    "libheif-plugin-aomenc | libheif1 (<< 1.17)",
    "libheif-plugin-x265 | libheif1 (<< 1.17)",
]
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
#: Parts of the C library.
LIBC = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")


def depends(build: Build) -> List[str]:
    """The packages that both programs need."""
    found = {"libc6 (>= %s)" % ".".join(map(str, build.libc)), *LOADED_LATER, *CODECS}
    for name in PROGRAMS:
        for library in build.needed(name):
            if library in LIBC:
                continue
            if library not in PACKAGES:
                raise SystemExit(f"{name} needs {library}: name its package in {__file__}.")
            found.add(PACKAGES[library])
    return sorted(found)


def package(build: Build) -> "dict[str, bytes]":
    """The package by its name."""
    document = "usr/share/doc/halcyon/"
    entries = [Entry("usr/" + one.path, one.data, one.is_executable) for one in build.installed("vendor-completions")]
    entries += [
        Entry("usr/share/man/man1/halcyon.1.gz", gzipped(build.printed("manual").encode(), build.level)),
        Entry(document + "copyright", LICENCE.encode()),
        Entry(document + "changelog.gz", gzipped((ROOT / "protocol/CHANGELOG.md").read_bytes(), build.level)),
        *(Entry(document + "third-party/" + one.path, one.data) for one in build.notices),
    ]
    entries.sort(key=lambda one: one.path)
    machine = MACHINES[build.machine]
    control = "".join(
        f"{name}: {value}\n"
        for name, value in {
            "Package": "halcyon",
            "Version": build.version,
            "Architecture": machine,
            "Maintainer": "The maintainers of halcyon <maintainers@halcyon.invalid>",
            "Installed-Size": sum(len(one.data) + 1023 for one in entries) // 1024,
            "Depends": ", ".join(depends(build)),
            "Recommends": "ca-certificates",
            "Suggests": "fonts-dejavu-core",
            "Section": "graphics",
            "Priority": "optional",
            "Description": "image engine that any program can start\n"
            " Downloads, caches and resizes images for editors and scripts: one executable\n"
            " that speaks JSON-RPC 2.0 over standard input and output.\n"
            " .\n"
            " Pictures are decoded in a process of their own, halcyon-codec.",
        }.items()
    )
    sums = "".join(f"{hashlib.md5(one.data).hexdigest()}  {one.path}\n" for one in entries)
    about = [Entry("control", control.encode()), Entry("md5sums", sums.encode())]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xzipped(tar(about, build.epoch, "./"), build.level)),
        ("data.tar.xz", xzipped(tar(entries, build.epoch, "./"), build.level)),
    ]
    return {f"halcyon_{build.version}_{machine}.deb": ar(members, build.epoch)}
