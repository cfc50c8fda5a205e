"""One question of ``decisions.py``: the state of an entry, the origin by now, and a request; by chance, or made smaller."""

from __future__ import annotations

import dataclasses
import random
from typing import Any, Iterator, Mapping, Sequence

Json = Any
Choices = Sequence[str]

#: Ways an image can lie in the cache, or be at hand without it.
ENTRIES: Choices = (
    "missing", "loaded", "loaded", "loaded", "loaded", "loaded", "stored", "made", "made alone", "failed", "file", "data",
    "file stored", "data stored", "data named",
)  # fmt: skip
CONTROLS: Choices = (
    "", "max-age=10000", "max-age=0", "no-cache", "no-store", "max-age=10000, immutable", "immutable",
    "max-age=100, must-revalidate", "max-age=100, stale-while-revalidate=1000000", "max-age=100, stale-if-error=1000000",
    "max-age=100, stale-while-revalidate=10", "max-age=100", "max-age=10000, must-revalidate", "private, max-age=10000",
    "public, max-age=10000", "public",
    "no-cache, stale-while-revalidate=1000000", "must-revalidate, stale-while-revalidate=1000000, max-age=0",
)  # fmt: skip
#: No span in these is near to an age: no case hangs on how long it takes to ask.
REQUEST_CONTROLS: Choices = (
    "max-age=500", "max-age=50000", "max-age=1000000", "no-cache", "min-fresh=50", "min-fresh=1000000", "max-stale",
    "max-stale=500", "max-stale=1000000", "only-if-cached", "only-if-cached, max-stale", "no-store", "stale-if-error=1000000",
    "max-age=1000000, max-stale", "no-cache, only-if-cached",
)  # fmt: skip
OPTIONS: Mapping[str, Sequence[Json]] = {
    "forceRefresh": (True,),
    "fromMemoryCacheOrRefresh": (True,),
    "onlyFromCache": (True,),
    "cacheMemoryOnly": (True,),
    "offline": (True,),
    "staleIfError": (1_000, 10_000_000),
    "integrity": ("right", "new", "wrong"),
    "verifyDecode": (True,),
    "memory": (False,),
    "originalCache": ("other",),
    "negativeCache": (1000,),
    "cacheOriginalImage": (False,),
    "queryDataWhenInMemory": (True,),
    "method": ("POST",),
    "alternativeSources": (["other source"],),
    "diskCacheExpiration": ("expired",),
    "scope": ("ann", "bob"),
    "credentialScope": ("shared",),
}
"""Options with the values that they are given. Those of ``integrity`` and ``alternativeSources`` are names."""
MODES: Choices = ("never", "ifExpired", "always", "http", "http", "http")
HEADERS: Mapping[str, Choices] = {
    "Cache-Control": REQUEST_CONTROLS, "Accept-Language": ("de", "fr"), "X-Api-Key": ("one", "two"), "Pragma": ("no-cache",),
    "If-None-Match": ('"another"',),
}  # fmt: skip
USUAL: Mapping[str, Json] = {
    "now": "404", "redirect": 302, "token": "one", "secret": "one", "authorization": "one", "revalidate": "always",
    "integrity": "wrong", "staleIfError": 10_000_000,
}  # fmt: skip
"""The values that a smaller case has where it cannot do without one."""
PROCESSORS: Sequence[Json] = ([{"blackWhite": {}}], [{"blackWhite": {}}, {"rotate": {"degrees": 180}}])


@dataclasses.dataclass(frozen=True)
class Case:
    """A question. Each field has the value that makes the least of it as its default."""

    # -- the entry

    entry: str = "loaded"
    #: Where the entry is: ``"disk"``, ``"both"`` tiers, or ``"memory"`` alone.
    tier: str = "disk"
    #: `True` when its time in the disk tier is over.
    expired: bool = False
    #: The Cache-Control, Age, Expires and Vary with which it came.
    control: str = ""
    age: int = 0
    expires: str = ""
    vary: str = ""
    #: By what the origin can be asked about it: ``"none"``, ``"tag"``, ``"weak"``, ``"date"`` or ``"both"``.
    validators: str = "tag"
    #: The status of the redirect that led to it; 0 for none.
    redirect: int = 0
    #: The Cache-Control of that redirect.
    redirect_control: str = ""
    #: What it was fetched with: a bearer token, the name of a user, a secret header field, and a language.
    token: str = ""
    scope: str = ""
    secret: str = ""
    language: str = ""
    #: `True` when it cannot be decoded whole.
    damaged: bool = False
    #: `True` when that was tried before (verifyDecode).
    tried: bool = False
    #: `True` when another cache has another version of it.
    elsewhere: bool = False

    # -- the origin by now

    #: What it answers now: the ``"same"`` image, a ``"changed"`` one, a status, a ``"redirect"``, ``"text"``, or it
    #: ``"breaks"`` the connection.
    now: str = "same"

    # -- the request

    method: str = "retrieve"
    answer: str = "data"
    authorization: str = ""
    options: Mapping[str, Json] = dataclasses.field(default_factory=dict)
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    processors: Sequence[Json] = ()
    #: `True` when the server is started anew between the making of the entry and the question.
    restarted: bool = False

    @property
    def is_local(self) -> bool:
        """``True`` when no network is needed for the image."""
        return self.entry.startswith(("file", "data"))

    @property
    def is_made(self) -> bool:
        """``True`` when something made of the image is in the cache."""
        return self.entry.startswith("made")

    def smaller(self) -> Iterator["Case"]:
        """Cases with one thing less, those that leave most out first."""
        plain = Case()
        for entry in ("loaded", "missing", "stored"):
            if self.entry == entry:
                break
            yield dataclasses.replace(self, entry=entry, processors=() if self.is_made else self.processors)
        for name in ("options", "headers"):
            given: Mapping[str, Json] = getattr(self, name)
            for member in given:
                rest = {other: value for other, value in given.items() if other != member}
                yield dataclasses.replace(self, **{name: rest})
        for field in dataclasses.fields(self):
            if field.name not in ("entry", "options", "headers", "method"):
                simple = getattr(plain, field.name)
                if getattr(self, field.name) != simple:
                    yield dataclasses.replace(self, **{field.name: simple})
        if len(self.processors) > 1:
            yield dataclasses.replace(self, processors=self.processors[:1])
        for field in ("now", "redirect", "token", "secret", "authorization"):
            value, usual = getattr(self, field), USUAL[field]
            if value not in (getattr(plain, field), usual):
                yield dataclasses.replace(self, **{field: usual})
        for option in ("revalidate", "integrity", "staleIfError"):
            if self.options.get(option, USUAL[option]) != USUAL[option]:
                yield dataclasses.replace(self, options={**self.options, option: USUAL[option]})

    def contains(self, other: "Case") -> bool:
        """``True`` when the case is another one and more."""
        plain = Case()
        for field in dataclasses.fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if field.name in ("options", "headers"):
                if not its.items() <= mine.items():
                    return False
            elif field.name == "processors":
                if bool(mine) < bool(its):
                    return False
            elif mine != its and (its != getattr(plain, field.name) or field.name in ("entry", "method")):
                return False
        return True

    def words(self) -> str:
        """What sets it apart from the simplest case."""
        plain = Case()
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != getattr(plain, field.name) or field.name == "entry":
                parts.append(f"{field.name}={value}")
        return ", ".join(parts)


def by_chance(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)

    def one_in(count: int) -> bool:
        return chance.randrange(count) == 0

    def maybe(count: int, values: Sequence[str], otherwise: str = "") -> str:
        return chance.choice(values) if one_in(count) else otherwise

    entry = chance.choice(ENTRIES)
    tier = chance.choice(("disk", "disk", "both", "memory"))
    options = {name: chance.choice(values) for name, values in OPTIONS.items() if one_in(9)}
    if not one_in(4):
        options["revalidate"] = chance.choice(MODES)
    if "cacheMemoryOnly" in options:
        # Both together keep an image nowhere, and whether that is a failure depends on what is wanted of it.
        options.pop("memory", None)
    if "scope" in options:
        # Both together are refused.
        options.pop("credentialScope", None)
    headers = {name: chance.choice(values) for name, values in HEADERS.items() if one_in(9)}
    if options.get("revalidate") == "http" and one_in(3):
        headers["Cache-Control"] = chance.choice(REQUEST_CONTROLS)
    is_local = entry.startswith(("file", "data"))
    if is_local:
        # These can be asked after the image that is at hand has been refused.
        options.pop("alternativeSources", None)
    if entry == "failed" and not one_in(5):
        options["negativeCache"] = 1000
    processors: Sequence[Json] = ()
    if entry.startswith("made") and not one_in(5) or one_in(10):
        processors = chance.choice(PROCESSORS)
    method = "retrieve"
    if one_in(6):
        method = chance.choice(("prefetch", "probe"))
        processors = () if method == "probe" else processors
        options.setdefault("integrity", chance.choice(OPTIONS["integrity"]))
    return Case(
        entry=entry,
        tier=tier,
        # What memory has goes with its file, and one whose time is over may go at any moment.
        expired=tier != "both" and one_in(3),
        control=chance.choice(CONTROLS),
        age=chance.choice((0, 0, 1_000, 100_000)),
        expires=maybe(5, ("past", "future", "0")),
        vary=maybe(5, ("Accept-Language", "*", "Accept-Language, Accept", "X-Api-Key")),
        validators=chance.choice(("tag", "tag", "weak", "date", "both", "none")),
        redirect=int(maybe(8, ("301", "302", "307"), "0")),
        redirect_control=maybe(3, ("max-age=1000", "no-cache", "no-store")),
        token=maybe(8, ("one", "two")),
        scope=maybe(10, ("ann", "bob")),
        secret=maybe(10, ("one", "two")),
        language=maybe(4, ("de", "fr")),
        damaged=(
            (entry == "data named" or not is_local)
            and not entry.startswith("made")
            and not processors
            and one_in(3 if "verifyDecode" in options else 10)
        ),
        tried=one_in(3),
        elsewhere=one_in(8) or "originalCache" in options and not one_in(3),
        now=chance.choice(("same", "same", "same", "changed", "changed", "404", "503", "500", "redirect", "text", "breaks")),
        method=method,
        answer=chance.choice(("data", "data", "path", "none", "both")),
        authorization=maybe(6, ("one", "two")),
        options=options,
        headers=headers,
        processors=processors,
        restarted=one_in(4),
    )
