#!/usr/bin/env python3
"""Names that lead inside, by a name server of our own in a network of our own.

What holds: the address that is dialled is the one that was judged, whatever a name led to before, whatever redirects
there and however many addresses it has; what is refused is never connected to; names that do not exist, have a
thousand addresses or a dead one end in time. Needs a network namespace; says so and succeeds where there is none.
"""

from __future__ import annotations

import argparse
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Sequence

from campaign.pictures import picture
from campaign.report import Report
from campaign.resolver import SERVER_FAILURE, Name, Resolver
from campaign.server import Server, drop, fresh

PUBLIC, OTHER_PUBLIC, PUBLIC_6 = "93.184.216.34", "93.184.216.35", "2606:2800:220:1::1"
DEAD, FULL_6 = "93.184.216.99", "2606:2800:220:1::2"
INSIDE = ("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "fc00::1")
LINK_LOCAL = ("169.254.169.254", "169.254.0.1")
#: Addresses that lead inside without looking like it, or that nobody should dial.
ODD = (
    "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2002:7f00:1::", "2002:a00:1::1",
    "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2001:0:7f00:1::", "2001:0:5db8:d822:0:0:f5ff:fffe",
    "2606:2800:220:1:0:5efe:7f00:1", "fec0::1", "fe80::1", "192.0.2.1", "198.18.0.1", "203.0.113.1", "240.0.0.1",
    "255.255.255.255", "224.0.0.1", "ff02::1", "169.254.170.2", "100.100.100.200", "fd00:ec2::254", "168.63.129.16",
)  # fmt: skip
FORBIDDEN, CONNECTION_FAILED, TIMED_OUT = "forbiddenAddress", "connectionFailed", "timedOut"


class Web:
    """Serves pictures and redirects on every address of the machine, and knows where each connection came in."""

    def __init__(self, port: int, address: str = "::") -> None:
        self.reached: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                self.address = self.connection.getsockname()[0].removeprefix("::ffff:")
                with web._lock:
                    web.reached.append((self.address, ""))

            def do_GET(self) -> None:
                with web._lock:
                    web.reached.append((self.address, self.path))
                target = self.path.partition("?to=")[2]
                body = b"" if target else picture(self.path, 1, 500)
                self.send_response(302 if target else 200)
                if target:
                    self.send_header("Location", target)
                if "close" in self.path:
                    self.send_header("Connection", "close")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        class Both(http.server.ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
            daemon_threads = True

            def server_bind(self) -> None:
                if self.address_family == socket.AF_INET6:
                    self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                super().server_bind()

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        threading.Thread(target=Both((address, port), Handler).serve_forever, daemon=True).start()

    def since(self, mark: int) -> list[str]:
        """The addresses that were connected to since there were so many entries."""
        with self._lock:
            return [address for address, _ in self.reached[mark:]]

    @property
    def mark(self) -> int:
        with self._lock:
            return len(self.reached)


class Campaign:
    """The names, the servers behind them, and what each request came to."""

    def __init__(self, report: Report, home: str) -> None:
        self.report, self.home = report, home
        self.resolver = Resolver()
        self.ports = {80: Web(80), 8080: Web(8080), 82: Web(82, PUBLIC)}
        self.number = 0

    def serve(self, policy: str) -> Server:
        self.number += 1
        folder = os.path.join(self.home, str(self.number), "cache")
        os.makedirs(folder)
        return Server(folder, "--network-policy", policy, "--proxy", "none", patience=40)

    def name(self, *rounds: Sequence[str], code: int = 0) -> str:
        """A name that has not been used."""
        self.number += 1
        name = f"n{self.number}.test"
        self.resolver.names[name] = Name(*rounds, code=code)
        return name

    def load(
        self, server: Server, url: str, error: str | None, reaches: Sequence[str] = (), **options: Any
    ) -> None:
        """Loads a URL, which must end in an error or in a picture, and connect to these addresses only."""
        marks = {port: web.mark for port, web in self.ports.items()}
        reply = server.ask("download", {"url": url, "as": "none", "options": {"timeout": 10, **options}})
        found = reply.get("error", {}).get("data", {}).get("name")
        reached = {address for port, web in self.ports.items() for address in web.since(marks[port])}
        self.report.count("requests")
        if found != error:
            self.report.breach("answers", f"{url}: {found}, not {error}: {reply}")
        if not reached <= set(reaches):
            self.report.breach("connects", f"{url}: {sorted(reached)}, not only {sorted(reaches)}")

    # -- what is tried

    def public_only(self) -> None:
        """Every address that is not public is refused, whatever its name."""
        with self.serve("public") as server:
            for address in (PUBLIC, PUBLIC_6):
                self.load(server, f"http://{self.name([address])}/a", None, [address])
            for address in (*INSIDE, *LINK_LOCAL, *ODD):
                self.load(server, f"http://{self.name([address])}/a", FORBIDDEN)
                literal = f"[{address}]" if ":" in address else address
                self.load(server, f"http://{literal}/a", FORBIDDEN)
                outer = self.name([PUBLIC])
                self.load(server, f"http://{outer}/r?to=http://{self.name([address])}/a", FORBIDDEN, [PUBLIC])

    def crossover(self) -> None:
        """What is asked for may be inside; what a public server redirects to may not."""
        with self.serve("noCrossover") as server:
            for address in INSIDE:
                self.load(server, f"http://{self.name([address])}/a", None, [address])
            for address in LINK_LOCAL:
                self.load(server, f"http://{self.name([address])}/a", FORBIDDEN)
            for address in (*INSIDE, *LINK_LOCAL, *ODD):
                outer, inner = self.name([PUBLIC]), self.name([address])
                self.load(server, f"http://{outer}/r?to=http://{inner}/a", FORBIDDEN, [PUBLIC])
            middle = self.name([OTHER_PUBLIC])
            chain = f"http://{self.name([PUBLIC])}/r?to=http://{middle}/r?to=http://{self.name(['127.0.0.1'])}/a"
            self.load(server, chain, FORBIDDEN, [PUBLIC, OTHER_PUBLIC])
            out = f"http://{self.name(['10.0.0.1'])}/r?to=http://{self.name([PUBLIC])}/a"
            self.load(server, out, None, ["10.0.0.1", PUBLIC])
            deeper = f"http://{self.name(['10.0.0.1'])}/r?to=http://{self.name(['127.0.0.1'])}/a"
            self.load(server, deeper, FORBIDDEN, ["10.0.0.1"])

    def rebinding(self, most: int) -> None:
        """A name that led outside is not believed when it leads inside, by whichever question that comes out."""
        for policy in ("noCrossover", "public"):
            with self.serve(policy) as server:
                for address in (*INSIDE, *LINK_LOCAL)[:most]:
                    # Another port is asked for anew, as is a name after its time.
                    name = self.name([PUBLIC], [address])
                    self.load(server, f"http://{name}/close", None, [PUBLIC])
                    self.load(server, f"http://{name}:8080/close", FORBIDDEN)
                    # On the second hop of one download.
                    name = self.name([PUBLIC], [address])
                    self.load(server, f"http://{name}/close?to=http://{name}:8080/a", FORBIDDEN, [PUBLIC])
        with self.serve("noCrossover") as server:
            name = self.name(["10.0.0.1"], [PUBLIC], ["10.0.0.1"])
            self.load(server, f"http://{name}/close", None, ["10.0.0.1"])
            self.load(server, f"http://{name}:8080/close", None, [PUBLIC])

    def many_addresses(self) -> None:
        """Of several addresses of a name none is dialled that may not be, and a dead one ends nothing."""
        with self.serve("public") as server:
            for addresses in (["127.0.0.1", PUBLIC], ["::1", PUBLIC], ["10.0.0.1", "::ffff:127.0.0.1", PUBLIC]):
                self.load(server, f"http://{self.name(addresses)}/a", None, [PUBLIC])
            self.load(server, f"http://{self.name(['::1', '127.0.0.1', '10.0.0.1'])}/a", FORBIDDEN)
        with self.serve("noCrossover") as server:
            self.load(server, f"http://{self.name([DEAD, PUBLIC])}/a", None, [PUBLIC])

    def resolving(self) -> None:
        """Names that do not exist, fail, have no address, a thousand, or one that swallows everything."""
        with self.serve("noCrossover") as server:
            self.load(server, "http://nobody.test/a", CONNECTION_FAILED)
            self.load(server, f"http://{self.name(code=SERVER_FAILURE)}/a", CONNECTION_FAILED)
            self.load(server, f"http://{self.name([])}/a", CONNECTION_FAILED)
            thousand = [f"20.{number // 250}.7.{1 + number % 250}" for number in range(999)]
            started = time.monotonic()
            for addresses in ([*thousand, PUBLIC], [PUBLIC, *thousand]):
                reply = server.ask(
                    "download", {"url": f"http://{self.name(addresses)}/a", "as": "none", "options": {"timeout": 5}})
                self.report.count("requests")
                found = reply.get("error", {}).get("data", {}).get("name")
                if found not in (None, CONNECTION_FAILED, TIMED_OUT):
                    self.report.breach("answers", f"a thousand addresses: {reply}")
            self.within(started, 25, "a thousand addresses")
            with Full(FULL_6, 82):
                started = time.monotonic()
                self.load(server, f"http://{self.name([FULL_6, PUBLIC])}:82/a", None, [PUBLIC])
                self.within(started, 5, "an address of version 6 that swallows everything")

    def within(self, started: float, most: float, what: str) -> None:
        if (taken := time.monotonic() - started) > most:
            self.report.breach("time", f"{what} took {taken:.1f} s")


class Full:
    """An address and a port whose queue is full: who connects hears nothing."""

    def __init__(self, address: str, port: int) -> None:
        self._listener = socket.create_server((address, port), family=socket.AF_INET6, backlog=0)
        self._queue = [socket.socket(socket.AF_INET6) for _ in range(4)]
        for client in self._queue:
            client.setblocking(False)
            client.connect_ex((address, port))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        for end in (*self._queue, self._listener):
            end.close()


def prepare(home: str) -> str | None:
    """Makes this network namespace ours: addresses, and a name server. Returns why it cannot be."""
    resolv = os.path.join(home, "resolv.conf")
    with open(resolv, "w") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:1 attempts:2\n")
    commands = [["ip", "link", "set", "lo", "up"], ["mount", "--bind", resolv, "/etc/resolv.conf"]]
    for address in (PUBLIC, OTHER_PUBLIC, PUBLIC_6, FULL_6, *INSIDE[1:], *LINK_LOCAL):
        commands.append(["ip", "address", "add", address + ("/128" if ":" in address else "/32"), "dev", "lo"])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{' '.join(command)}: {done.stderr.strip()}"
    with open("/etc/nsswitch.conf") as file:
        if not any(line.split()[:1] == ["hosts:"] and "dns" in line.split() for line in file):
            return "names are not resolved by DNS here"
    return None


def inside(options: argparse.Namespace) -> int:
    """The campaign itself, in a namespace."""
    home = fresh("names")
    report = Report(f"{sys.argv[0]}{' --short' if options.short else ''}")
    try:
        if why := prepare(home):
            print(f"names: skipped, {why}")
            return 0
        campaign = Campaign(report, home)
        campaign.public_only()
        campaign.crossover()
        campaign.rebinding(2 if options.short else 99)
        campaign.many_addresses()
        if not options.short:
            campaign.resolving()
        return report.close("names")
    finally:
        drop(home)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a part of it, in some seconds")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options)
    for tool in ("unshare", "ip", "mount"):
        if not shutil.which(tool):
            print(f"names: skipped, there is no {tool}")
            return 0
    own = ["unshare", "--net", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
        print("names: skipped, no namespace can be made here")
        return 0
    return subprocess.run([*own, sys.executable, *sys.argv, "--inside"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
