#!/usr/bin/env python3
"""Cuts the power under a server: what its disk had at a random moment is judged by another server, after a start of the machine.

The disk is an ext4 in a file in memory. While a server stores and removes, it is stopped, the file is copied, and the copy is
mounted: its journal is replayed as after a real cut. What holds: no wrong byte is served, by path or as data; five seconds later
counts are right; and with durability "disk" nothing that was acknowledged is lost or comes back.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from campaign.folder import unique_bytes
from campaign.pictures import NotWhole, picture, stamp
from campaign.report import Report
from campaign.server import Dead, Server, cached, inline, store

#: Shows a server another start of the machine.
_REBOOTED = ("unshare", "-m", "sh", "-c", 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"')


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


class Disk:
    """An ext4 in a file in memory."""

    def __init__(self, home: str) -> None:
        self.file, self.place = os.path.join(home, "disk.img"), os.path.join(home, "disk")
        self.copy, self.copied = os.path.join(home, "copy.img"), os.path.join(home, "copy")
        for place in (self.place, self.copied):
            os.mkdir(place)
        with open(self.file, "wb") as file:
            file.truncate(96 << 20)
        run("mkfs.ext4", "-q", "-F", self.file)
        run("mount", "-o", "loop,commit=1", self.file, self.place)

    def cut(self) -> None:
        """Mounts what the disk has at this moment."""
        run("cp", "--sparse=always", self.file, self.copy)
        run("mount", "-o", "loop", self.copy, self.copied)

    def end(self) -> None:
        for place in (self.copied, self.place):
            subprocess.run(["umount", place], capture_output=True)
            subprocess.run(["umount", "-l", place], capture_output=True)
        for file in (self.copy, self.file):
            if os.path.exists(file):
                os.unlink(file)
        for place in (self.copied, self.place):
            os.rmdir(place)


def fill(server: Server, source: random.Random, seconds: float) -> tuple[dict[str, set[int]], dict[str, int]]:
    """Stores and removes for so long; all versions that each key ever had, and the last that was acknowledged (0: removed)."""
    ever: dict[str, set[int]] = {}
    last: dict[str, int] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        key = f"key-{source.randrange(60)}"
        if source.random() < 0.15 and last.get(key):
            if "result" in server.ask("remove", {"key": key}):
                last[key] = 0
            continue
        version = max(ever.get(key, {0})) + 1
        ever.setdefault(key, set()).add(version)
        data = picture(key, version, source.choice((500, 5000, 50_000, 300_000)))
        if "result" in server.ask("store", store(key, data, options={"lease": 0})):
            last[key] = version
    return ever, last


def judge(report: Report, place: str, folder: str, boot: str, ever: dict[str, set[int]], last: dict[str, int] | None) -> None:
    """Asks a server after the start for everything, first by path."""
    with Server(folder, "--log-level", "critical", prefix=[*_REBOOTED, boot]) as server:
        for key, versions in ever.items():
            for answer in ("path", "data"):
                reply = server.ask("retrieve", cached(key, answer))
                found = 0
                if "result" in reply:
                    try:
                        if answer == "path":
                            with open(reply["result"]["path"], "rb") as file:
                                found = stamp(file.read()).version
                        else:
                            found = stamp(inline(reply["result"])).version
                    except (NotWhole, OSError) as error:
                        report.breach("wrong bytes", f"{place}: {key} as {answer}: {error}")
                        continue
                    report.count("images found")
                    if found not in versions:
                        report.breach("wrong bytes", f"{place}: {key} as {answer} is version {found}")
                if last is not None and key in last and found != last[key]:
                    kind = "removals undone" if last[key] == 0 else "lost"
                    report.breach(kind, f"{place}: {key} is {found or 'not there'}, was {last[key] or 'removed'}")
        began = time.monotonic()
        while True:
            disk = server.result("calculateSize")["disk"]
            said, walked = disk["byteCount"] + disk["leasedBytes"], unique_bytes(os.path.join(folder, "default"))
            if said == walked or time.monotonic() - began > 5:
                break
            time.sleep(0.2)
        if said != walked:
            report.breach("sizes", f"{place}: {said} bytes by the index, {walked} by a walk over the files")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="4 cuts instead of 120")
    parser.add_argument("--cuts", type=int, default=120)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    tools = ("mkfs.ext4", "mount", "unshare", "losetup")
    if os.geteuid() or not all(shutil.which(tool) for tool in tools):
        print("power: skipped, it needs root and " + ", ".join(tools))
        return 0
    cuts = 4 if options.short else options.cuts
    report = Report(f"{sys.argv[0]} --seed {options.seed} --cuts {cuts}")
    source = random.Random(options.seed)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    for number in range(cuts):
        durability = ("process", "disk")[number % 2]
        home = tempfile.mkdtemp(prefix="halcyon-power-", dir=memory)
        try:
            disk = Disk(home)
        except subprocess.CalledProcessError as error:
            print(f"power: skipped, no ext4 can be mounted here: {error.stderr.decode().strip()}")
            shutil.rmtree(home)
            return 0
        try:
            boot = os.path.join(home, "boot_id")
            with open(boot, "w") as file:
                file.write(f"{source.getrandbits(64):016x}-0000-0000-000000000000"[:8] + "-1111-2222-3333-444444444444\n")
            server = Server(os.path.join(disk.place, "c"), "--log-level", "critical", "--durability", durability)
            ever, last = fill(server, source, source.choice((0.3, 1.0, 2.5)))
            server.process.send_signal(signal.SIGSTOP)
            disk.cut()
            server.kill()
            server.close()
            place = f"cut {number}, durability {durability}"
            known = last if durability == "disk" else None
            judge(report, place, os.path.join(disk.copied, "c"), boot, ever, known)
            report.count("cuts")
            report.count("acknowledged stores", sum(len(versions) for versions in ever.values()))
        except Dead as error:
            report.breach("crashes", repr(error))
        finally:
            disk.end()
            shutil.rmtree(home)
    return report.close(f"power, seed {options.seed}")


if __name__ == "__main__":
    sys.exit(main())
