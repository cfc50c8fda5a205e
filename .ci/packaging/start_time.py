"""How long an installed server takes from its start to its first answer, beside the build that it was made of."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Callable, Dict, List

#: How often each program is started.
ROUNDS = 21


def report(packages: Dict[str, Path], build: Path) -> List[str]:
    """A line for each package with a server, of those by their kinds.

    Every package is installed below a folder of its own. The programs start in turns, because times of different minutes cannot
    be compared.
    """
    with tempfile.TemporaryDirectory(prefix="halcyon-start-") as place:
        programs = {"build": (build / "halcyon").resolve()}
        for kind, package in packages.items():
            if kind in INSTALLERS and (kind != "deb" or shutil.which("dpkg-deb")):
                root = Path(place, kind)
                root.mkdir()
                programs[kind] = INSTALLERS[kind](package, root)
        if len(programs) == 1:
            return []
        times: Dict[str, List[float]] = {kind: [] for kind in programs}
        for _ in range(ROUNDS):
            for kind, program in programs.items():
                times[kind].append(_first_answer(program, Path(place)))
        medians = {kind: statistics.median(found) * 1000 for kind, found in times.items()}
        usual = medians.pop("build")
        return [
            f"start to first answer, {kind}: {value:.1f} ms, {value / usual:.2f} of the build's {usual:.1f} ms"
            for kind, value in medians.items()
        ]


def _first_answer(program: Path, place: Path) -> float:
    """The seconds from the start of a server to its answer to a ping."""
    environment = {"HOME": str(place), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    begin = time.perf_counter()
    with subprocess.Popen(
        [str(program)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=str(place)
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        server.stdin.flush()
        answer = server.stdout.readline()
        took = time.perf_counter() - begin
        server.stdin.close()
    if b'"result"' not in answer:
        raise SystemExit(f"{program} did not answer a ping but {answer!r}.")
    return took


def _install_deb(package: Path, root: Path) -> Path:
    subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    return root / "usr/bin/halcyon"


def _install_tarball(package: Path, root: Path) -> Path:
    with tarfile.open(package) as archive:
        archive.extractall(root)
    (unpacked,) = root.iterdir()
    prefix = root / "prefix"
    subprocess.run([str(unpacked / "install.sh"), "--prefix", str(prefix)], check=True, capture_output=True)
    return prefix / "bin/halcyon"


def _install_wheel(package: Path, root: Path) -> Path:
    with zipfile.ZipFile(package) as archive:
        archive.extractall(root)
    program = root / "halcyon/bin/halcyon"
    program.chmod(0o755)
    (program.parent / "halcyon-codec").chmod(0o755)
    return program


#: What installs each kind of package with a server below a root, and gives the path of the server.
INSTALLERS: Dict[str, Callable[[Path, Path], Path]] = {
    "deb": _install_deb,
    "tarball": _install_tarball,
    "wheel": _install_wheel,
}
