#!/usr/bin/env python3
"""Tries to leave the confinement of the codec worker, and looks whether the worker itself is confined.

What holds: hostile code in a worker opens, makes, changes or removes no file, starts no process, makes no socket and no ring,
signals nobody, and reads and writes nothing of another process; what decoders need still works. Each attempt of
``escape.c``, which is linked with the real confinement, is made once without it too, so that an attempt that could never
succeed is told apart. Then a real worker and a real server are looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from campaign.report import Report
from campaign.server import ROOT, Server, binary

sys.path.append(str(ROOT / "Tests" / "Support"))

from codec_worker.worker import CodecWorker  # noqa: E402

SOURCES = ROOT / "Sources" / "CVips"
REFUSED, SUCCEEDED = 0, 1


def build(folder: Path) -> Path:
    """Compiles the attempts with the confinement of the worker."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        sys.exit("There is no C compiler: install gcc or clang.")
    program = folder / "escape"
    files = [Path(__file__).with_name("escape.c"), SOURCES / "Confine.c", SOURCES / "OpenedFiles.c"]
    includes = [f"-I{SOURCES}", f"-I{SOURCES / 'include'}"]
    subprocess.run([compiler, "-O1", "-pthread", *includes, "-o", str(program), *map(str, files)], check=True)
    return program


class Victim:
    """A process of the same user that is attacked."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([str(program), "victim"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.words = [str(self._process.pid), self._process.stdout.readline().strip()]

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.communicate()


def attempt(program: Path, home: Path, mode: str, name: str) -> int:
    """What became of an attempt: ``REFUSED``, ``SUCCEEDED``, or minus the signal that ended it."""
    with tempfile.TemporaryDirectory(dir=home) as folder:
        for file in ("victim", "source", "output", "font"):
            Path(folder, file).write_bytes(b"content")
            os.chmod(Path(folder, file), 0o666)
        os.chmod(folder, 0o777)
        victim = Victim(program)
        try:
            words = [str(program), mode, name, *victim.words]
            return subprocess.run(
                words, cwd=folder, timeout=20, start_new_session=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
        except subprocess.TimeoutExpired:
            return SUCCEEDED
        finally:
            victim.close()


def attempts(program: Path, home: Path, report: Report) -> None:
    """Every attempt, confined and not."""
    os.chmod(home, 0o755)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    for name in subprocess.run([str(program), "list"], capture_output=True, text=True, check=True).stdout.split():
        found = attempt(program, home, "confined", name)
        if name.startswith("may_"):
            if name == "may_abort":
                found = REFUSED if found in (signal.SIGABRT, -signal.SIGABRT) else found
            report.count("needs met", found == REFUSED)
            if found != REFUSED:
                report.breach("need", f"{name}: {found}")
        elif found in (REFUSED, -signal.SIGSYS):
            report.count("attempts refused")
            if attempt(program, home, "unconfined", name) in (REFUSED, -signal.SIGSYS):
                report.count("of them ones that this system refuses by itself")
                print(f"{name} does not succeed here without the confinement either", flush=True)
        else:
            report.breach("escape", f"{name} was not refused: {found}")


def status(process: int) -> dict[str, str]:
    """The fields of /proc/PID/status."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def real(report: Report) -> None:
    """The worker and the server as they run."""
    codec = Path(os.environ.get("HALCYON_CODEC", Path(binary()).resolve().parent / "halcyon-codec"))
    with CodecWorker(codec, is_quiet=True) as worker:
        for thread in os.listdir(f"/proc/{worker.process.pid}/task"):
            fields = status(int(thread))
            wanted = {"Seccomp": "2", "NoNewPrivs": "1"}
            wanted.update(dict.fromkeys(("CapEff", "CapPrm", "CapInh", "CapAmb"), "0" * 16))
            for name, value in wanted.items():
                if fields[name] != value:
                    report.breach("worker", f"{name} is {fields[name]}, not {value}")
            for name in ("Uid", "Gid"):
                if os.geteuid() == 0 and set(fields[name].split()) != {"65534"}:
                    report.breach("worker", f"{name} is {fields[name]}, although the server is root")
            if os.geteuid() == 0 and fields["Groups"].strip():
                report.breach("worker", f"its groups are {fields['Groups']}")
            report.count("threads of a worker confined")
    # Of a process whose memory others of its user may not read, the files in /proc belong to root.
    prefix = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    if prefix and not shutil.which("setpriv"):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        with Server(os.path.join(folder, "cache"), prefix=prefix) as server:
            server.result("ping")
            if os.stat(f"/proc/{server.process.pid}/environ").st_uid != 0:
                report.breach("server", "the memory of the server can be read by other processes of its user")
            report.count("servers hidden")


def main() -> int:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    report = Report(sys.argv[0])
    home = Path(tempfile.mkdtemp(prefix="escape-"))
    try:
        attempts(build(home), home, report)
        real(report)
    finally:
        shutil.rmtree(home)
    return report.close("escape")


if __name__ == "__main__":
    sys.exit(main())
