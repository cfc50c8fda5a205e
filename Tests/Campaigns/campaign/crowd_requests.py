"""The requests of a crowd: each is noted in the ledger before it is sent, and its answer is judged."""

from __future__ import annotations

import os
import random
from typing import Any, Callable, Tuple

from .crowd import Crowd, split
from .crowd_judge import Judge
from .ledger import Operation
from .pictures import picture
from .server import Dead, Server, cached, inline, store

NOT_CACHED = 10003
Handler = Callable[[Any], None]
Sent = Tuple[int, Handler, Callable[[], None]]
"""A request that was sent: its id, what its answer means, and what is to be noted if none comes."""


class Requests:
    """What one worker asks of its process, ``server``, which is another after each kill."""

    def __init__(self, crowd: Crowd, number: int, server: Server, judge: Judge, chance: random.Random) -> None:
        self._crowd, self._number, self._judge, self._random = crowd, number, judge, chance
        self.server = server

    def simple(self, method: str, params: Any) -> Sent:
        """What changes no image; `calculateSize` where the server has no such method."""
        if method not in self._crowd.known:
            method = "calculateSize"

        def handle(reply: Any) -> None:
            self._crowd.report.count(method)
            if "result" not in reply:
                self._crowd.report.breach("refusals", f"{method} {params}: {reply['error']}")
            elif method == "verify" and reply["result"]["damaged"]:
                self._crowd.report.count("damaged by verify", reply["result"]["damaged"])

        return self.server.send(method, params), handle, lambda: None

    def storing(self, name: str) -> Sent:
        """A store of a new version, by its bytes or from a file."""
        cache, key = split(name)
        operation = self._crowd.ledger.begin_store(name, self._crowd.keeps(name))
        read = self._crowd.ledger.begin_read(name)
        size = self._random.choice((400, 3000, 20_000, 80_000))
        data = picture(name, operation.version, size)
        options: dict[str, Any] = {"diskCacheExpiration": {"seconds": 1}} if key.startswith("brief") else {}
        if self._crowd.has_leases and self._random.random() < 0.5:
            options["lease"] = 60
        params = store(key, data, cache=cache, options=options)
        source = ""
        if self._random.random() < 0.4:
            source = os.path.join(self._crowd.home, f"source-{self._number}-{self._random.getrandbits(40)}.png")
            with open(source, "wb") as file:
                file.write(data)
            params["path"] = source
            del params["data"]
        done: list[bool] = []

        def end(acknowledged: bool) -> None:
            if not done:
                done.append(True)
                self._crowd.ledger.end_store(operation, acknowledged)
                if source:
                    os.unlink(source)

        def handle(reply: Any) -> None:
            end("result" in reply)
            if "result" in reply:
                self._crowd.report.count("acked stores")
                is_lent = "lease" in options and reply["result"].get("leased", True)
                self._judge.hold(reply["result"]["path"], read, "store" if is_lent else "unleased store")
            else:
                self._crowd.report.breach("refusals", f"store of {name}: {reply['error']}")

        return self._sent("store", params, end), handle, lambda: end(False)

    def _sent(self, method: str, params: Any, end: Callable[[bool], None]) -> int:
        try:
            return self.server.send(method, params)
        except Dead:
            # Noted as failed only when the process is dead for certain, which it now is: `Dead` waited for it.
            end(False)
            raise

    def removal(self, method: str, params: Any, names: list[str]) -> Sent:
        """What removes the images of these names."""
        operation: Operation = self._crowd.ledger.begin_remove(names)
        done: list[bool] = []

        def end(acknowledged: bool) -> None:
            if not done:
                done.append(True)
                self._crowd.ledger.end_remove(operation, acknowledged)

        def handle(reply: Any) -> None:
            end("result" in reply)
            self._crowd.report.count(method)
            if "result" not in reply:
                self._crowd.report.breach("refusals", f"{method} {params}: {reply['error']}")

        return self._sent(method, params, end), handle, lambda: end(False)

    def download(self, name: str) -> Sent:
        """An image that is fetched when it is not there."""
        cache, url = split(name)

        def handle(reply: Any) -> None:
            self._crowd.report.count("url reads")
            if "result" not in reply:
                self._crowd.report.breach("refusals", f"retrieve of {name}: {reply['error']}")
                return
            if "data" not in reply["result"]:
                self._crowd.report.breach("without data", f"both of {name}: {reply}")
                return
            self._judge.check(inline(reply["result"]), name, None)

        return self.server.send("retrieve", {"url": url, "cache": cache, "as": "both"}), handle, lambda: None

    def reading(self, name: str) -> Sent:
        """A look at an image, in one of the ways there are; none of them fetches it."""
        cache, key = split(name)
        read = self._crowd.ledger.begin_read(name)
        way = self._random.choice(("data", "path", "both", "isCached", "cachePath"))

        def handle(reply: Any) -> None:
            self._crowd.report.count("reads")
            if "result" not in reply:
                if reply["error"]["code"] == NOT_CACHED:
                    self._judge.missing(read, way)
                else:
                    self._crowd.report.breach("refusals", f"{way} of {name}: {reply['error']}")
                return
            result = reply["result"]
            if way == "isCached":
                if not result["cached"]:
                    self._judge.missing(read, way)
                return
            if way == "cachePath" and not result["exists"]:
                self._judge.missing(read, way)
                return
            if way in ("data", "both") and "data" not in result:
                self._crowd.report.breach("without data", f"{way} of {name}: {reply}")
            if result.get("data"):
                data = inline(result)
                self._judge.check(data, name, read)
                if len(data) != result["byteCount"]:
                    self._crowd.report.breach("wrong", f"{name}: {len(data)} bytes, said to be {result['byteCount']}")
            if result.get("path"):
                lent = way if result.get("leased", True) else f"unleased {way}"
                self._judge.look(result["path"], read, lent)
                self._judge.hold(result["path"], read, lent)

        if way in ("isCached", "cachePath"):
            return self.server.send(way, {"key": key, "cache": cache}), handle, lambda: None
        return self.server.send("retrieve", cached(key, way, cache=cache)), handle, lambda: None
