"""What a case of ``decisions.py`` needs around it: its pictures, the script of its origin, the requests that make its entry."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import os
import time
import zlib
from typing import Any, Iterator, Mapping, NamedTuple

from .decision_case import PROCESSORS, Case
from .origin import Answer, Seen
from .pictures import _SIGNATURE, _chunk

Json = Any
#: The widths of the pictures, which say where one came from.
FIRST, NEW, ELSEWHERE, OTHER = 16, 24, 32, 40
#: The version of the picture that each value of `integrity` in a case allows.
ALLOWED: Mapping[str, int] = {"right": FIRST, "new": NEW, "wrong": 0}
TAGS = {FIRST: '"first"', NEW: '"new"'}
DATES = {FIRST: "Wed, 01 Jan 2020 00:00:00 GMT", NEW: "Thu, 02 Jan 2020 00:00:00 GMT"}


def drawn(width: int, damaged: bool = False) -> bytes:
    """A gray PNG whose width is its version, with a text of its own; damage shows only to who decodes it."""
    rows = b"".join(b"\0" + os.urandom(width) for _ in range(8))
    head = width.to_bytes(4, "big") + b"\0\0\0\x08\x08\0\0\0\0"
    body = os.urandom(64) if damaged else zlib.compress(rows)
    text = b"campaign\0" + os.urandom(8).hex().encode()
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"tEXt", text) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def digest(data: bytes) -> str:
    """The digest of a picture as the option ``integrity`` takes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


class Step(NamedTuple):
    """One request that makes an entry."""

    method: str
    params: Json
    #: `True` when the request may fail, because that is what the state is about.
    may_fail: bool = False
    #: `True` when the origin answers 404 to it.
    fails: bool = False


class Subject:
    """A case at a URL of its own."""

    def __init__(self, case: Case, name: str, base: str, folder: str) -> None:
        self.case, self.name, self.base = case, name, base
        self.phase = "first"
        self.pictures = {
            FIRST: drawn(FIRST, case.damaged), NEW: drawn(NEW), ELSEWHERE: drawn(ELSEWHERE), OTHER: drawn(OTHER)
        }  # fmt: skip
        self.url = self.key = f"{base}/{name}"
        if case.entry.startswith("file"):
            path = os.path.join(folder, f"{name}.png")
            with open(path, "wb") as file:
                file.write(self.pictures[FIRST])
            self.url = self.key = f"file://{path}"
        elif case.entry == "data named":
            self.url = "data:,"
        elif case.entry.startswith("data"):
            self.url = self.key = "data:image/png;base64," + base64.b64encode(self.pictures[FIRST]).decode()

    # -- the origin

    def script(self, seen: Seen) -> Answer:
        """What the origin answers at this URL and below it."""
        case = self.case
        place = seen.path.partition(self.name)[2]
        if place == "/other":
            return self._image(OTHER, seen)
        if place == "/moved":
            return self._image(NEW, seen)
        if self.phase == "fails":
            return Answer(404)
        now = "same" if self.phase == "first" else case.now
        if case.redirect and not place:
            fields = {"Location": f"{self.base}/{self.name}/target"}
            if case.redirect_control:
                fields["Cache-Control"] = case.redirect_control
            return Answer(case.redirect, fields)
        if now == "redirect":
            return Answer(302, {"Location": f"{self.base}/{self.name}/moved"})
        if now == "breaks":
            return Answer(200, {"Content-Type": "image/png"}, self.pictures[NEW][:20], breaks=True)
        if now == "text":
            return Answer(200, {"Content-Type": "text/html"}, b"<html>Nothing to see</html>")
        if now in ("same", "changed"):
            return self._image(FIRST if now == "same" else NEW, seen)
        return Answer(int(now))

    def _image(self, version: int, seen: Seen) -> Answer:
        case = self.case
        wall = time.time()
        fields = {"Content-Type": "image/png", "Date": email.utils.formatdate(wall, usegmt=True)}
        if case.control:
            fields["Cache-Control"] = case.control
        if case.vary:
            fields["Vary"] = case.vary
        if case.expires:
            moment = wall + (-1000 if case.expires == "past" else 10_000)
            fields["Expires"] = "0" if case.expires == "0" else email.utils.formatdate(moment, usegmt=True)
        if case.age and self.phase == "first":
            fields["Age"] = str(case.age)
        if version in TAGS:
            if case.validators in ("tag", "weak", "both"):
                fields["ETag"] = ("W/" if case.validators == "weak" else "") + TAGS[version]
            if case.validators in ("date", "both"):
                fields["Last-Modified"] = DATES[version]
        tag = seen.headers.get("if-none-match")
        since = seen.headers.get("if-modified-since")
        if version in TAGS and (tag == fields.get("ETag") if tag else since == DATES[version]):
            return Answer(304, fields)
        return Answer(200, fields, self.pictures[version])

    # -- the entry

    def steps(self) -> Iterator[Step]:
        """The requests that make the entry, each of which waits for the one before it."""
        case = self.case
        options = self._keeping()
        if case.entry in ("loaded", "data named"):
            wants = "path" if case.tier == "disk" else "data"
            yield Step("retrieve", {"url": self.key, "as": wants, "options": {**options, **self._sent_first()}})
        elif case.is_made:
            if case.entry == "made alone":
                options["cacheOriginalImage"] = False
            processors = case.processors or PROCESSORS[0]
            options.update(self._sent_first())
            yield Step("retrieve", {"url": self.key, "processors": processors, "as": "data", "options": options})
        elif case.entry == "failed":
            given = {name: value for name, value in self._options().items() if name in FAILING}
            options = {**given, "negativeCache": 1000}
            yield Step("retrieve", {"url": self.key, "as": "data", "options": options}, may_fail=True, fails=True)
        elif case.entry.endswith("stored"):
            data = base64.b64encode(self.pictures[FIRST]).decode()
            yield Step("store", {"key": self.key, "data": data, "options": options})
        if case.tried and not self.key.startswith(("data", "file")):
            options = {**options, **self._sent_first(), "verifyDecode": True, "offline": True}
            yield Step("retrieve", {"url": self.key, "as": "data", "options": options}, may_fail=True)
        if case.elsewhere:
            data = base64.b64encode(self.pictures[ELSEWHERE]).decode()
            yield Step("store", {"key": self.key, "cache": "other", "data": data})

    def _keeping(self) -> dict[str, Json]:
        case = self.case
        options: dict[str, Json] = {}
        if case.expired:
            options["diskCacheExpiration"] = "expired"
        if case.tier == "disk":
            options["memory"] = False
        elif case.tier == "memory":
            options["cacheMemoryOnly"] = True
        return options

    def _sent_first(self) -> dict[str, Json]:
        case = self.case
        options: dict[str, Json] = {}
        if case.token:
            options["authorization"] = {"bearer": case.token}
        if case.scope:
            options["scope"] = case.scope
        headers = {"X-Api-Key": case.secret, "Accept-Language": case.language}
        if any(headers.values()):
            options["headers"] = {name: value for name, value in headers.items() if value}
        return options

    # -- the question

    def _options(self) -> dict[str, Json]:
        case = self.case
        options = dict(case.options)
        if name := options.get("integrity"):
            options["integrity"] = digest(self.pictures.get(ALLOWED[name], b""))
        if "alternativeSources" in options:
            options["alternativeSources"] = [f"{self.base}/{self.name}/other"]
        if case.headers:
            options["headers"] = dict(case.headers)
        if case.authorization:
            options["authorization"] = {"bearer": case.authorization}
        return options

    def question(self, method: str) -> Json:
        """The params of the request that is judged, for one of the methods."""
        case = self.case
        params: dict[str, Json] = {"url": self.url, "options": self._options()}
        if method == "prefetch":
            params = {"urls": [params.pop("url")], **params}
        elif self.key != self.url:
            params["key"] = self.key
        if method != "probe" and case.processors:
            params["processors"] = case.processors
        if method == "retrieve":
            params["as"] = case.answer
        return params


#: Options that decide whether a failure that is remembered is that of a request.
FAILING = ("headers", "authorization", "method", "integrity", "verifyDecode")


def asks(seen: Seen) -> bool:
    """``True`` when a request asks whether what is stored has changed, by what the origin said of it."""
    return (
        seen.headers.get("if-none-match", "").removeprefix("W/") in TAGS.values()
        or seen.headers.get("if-modified-since") in DATES.values()
    )
