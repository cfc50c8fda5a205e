"""Holds what ``explain`` said against what was seen from outside."""

from __future__ import annotations

import re
from typing import Any, Iterator, NamedTuple, Optional

from .decision_entry import ALLOWED, asks
from .decision_round import Outcome

Json = Any


class Breach(NamedTuple):
    """A promise that was broken."""

    #: What it is about; breaches of one kind at a case are the same.
    kind: str
    text: str


def done(outcome: Outcome) -> str:
    """What a request did, in the words of the verdicts of ``explain``."""
    result = outcome.reply.get("result")
    if not outcome.seen:
        if result is None:
            # What comes over no network may fail because it is loaded, and no image.
            return "load" if outcome.case.is_local and name_of(outcome.reply) == "badData" else "fail"
        # What is named by an empty data URL is only stored, and something may be made of it.
        if outcome.case.is_local and result["cacheType"] == "none" and outcome.case.entry != "data named":
            return "load"
        return "answerStale" if result.get("stale") else "answer"
    if result is not None and result.get("stale") and not result.get("revalidated"):
        waited = outcome.place.was_stuck
        if outcome.place.gate is not None and not waited:
            return "answerAndRefresh"
        # Where the origin had an image, only an answer that did not wait for it is stale.
        if outcome.case.now in ("same", "changed", "redirect") and not waited:
            return "answerAndRefresh"
    return "revalidate" if any(map(asks, outcome.seen)) else "load"


def name_of(reply: Json) -> Optional[str]:
    """The name of an error."""
    return reply.get("error", {}).get("data", {}).get("name")


def summary(outcome: Outcome) -> tuple[Json, ...]:
    """What can be compared of two requests that are to do the same."""
    result = outcome.reply.get("result", {})
    members = ("cacheType", "stale", "revalidated", "width", "skipped", "completed")
    told = [bool(result[name]) if isinstance(result.get(name), list) else result.get(name) for name in members]
    return (len(outcome.seen), [asks(seen) for seen in outcome.seen], name_of(outcome.reply), *told)


def judge(outcome: Outcome) -> Iterator[Breach]:
    """What was promised of the case and is not so."""
    yield from _integrity(outcome)
    yield from _bounds(outcome)
    if outcome.explained:
        yield from _explaining(outcome)
        if outcome.case.method == "retrieve":
            yield from _agreement(outcome)


def _explaining(outcome: Outcome) -> Iterator[Breach]:
    first, second = (_timeless(reply) for reply in outcome.explained)
    if first != second:
        yield Breach("explain differs", f"the second time: {second}")
    if outcome.seen_explaining:
        yield Breach("explain asks", "the origin was asked by explain")


def _timeless(reply: Json) -> Json:
    result = {name: value for name, value in reply.items() if name != "id"}
    if "result" in result:
        reasons = [re.sub(r"\d+ s", "_ s", reason) for reason in result["result"]["reasons"]]
        result["result"] = {**result["result"], "reasons": reasons}
    return result


def _agreement(outcome: Outcome) -> Iterator[Breach]:
    explained, reply = outcome.explained[0], outcome.reply
    if "error" in explained:
        if explained["error"].get("code") != reply.get("error", {}).get("code"):
            yield Breach("error", f"explain failed with {name_of(explained)}, the request: {name_of(reply)}")
        return
    told = explained["result"]
    verdict, did = told["verdict"], done(outcome)
    if _hangs_on_decoding(outcome):
        # It is stored, and nobody has found out yet that it is damaged: explain says that this is tried first.
        if not any("verifyDecode" in reason for reason in told["reasons"]):
            yield Breach("reasons", "explain does not say that all of it is decoded first")
        # The other cache may have a sound one.
        if did not in ("load", "fail") and not (case_has_other(outcome) and did == "answer"):
            yield Breach("damage", "an image that cannot be decoded is answered to verifyDecode")
        return
    if verdict != did:
        yield Breach(f"{verdict} but {did}", f"explain says {verdict}, and the request did: {did}")
        return
    yield from _network(outcome, told)
    yield from _details(outcome, told, verdict)


def _hangs_on_decoding(outcome: Outcome) -> bool:
    case = outcome.case
    verdict = outcome.explained[0]["result"]["verdict"]
    return (
        case.damaged and not case.tried and "verifyDecode" in case.options and verdict.startswith("answer")
        and not any("originalCache" in reason for reason in outcome.explained[0]["result"]["reasons"])
    )  # fmt: skip


def case_has_other(outcome: Outcome) -> bool:
    """Whether another cache, which the request names, has the image too."""
    return outcome.case.elsewhere and "originalCache" in outcome.case.options


def _network(outcome: Outcome, told: Json) -> Iterator[Breach]:
    if told["network"] != bool(outcome.seen):
        yield Breach("network", f"network is {told['network']}, and the origin saw {len(outcome.seen)} requests")
    asked = outcome.subject.base + outcome.seen[0].path if outcome.seen else None
    if told["url"] != asked:
        yield Breach("url", f"url is {told['url']}, and asked was {asked}")


def _details(outcome: Outcome, told: Json, verdict: str) -> Iterator[Breach]:
    case, reply = outcome.case, outcome.reply
    if verdict == "fail":
        expected = told["error"] or {}
        found = reply["error"]
        if (expected.get("code"), expected.get("data", {}).get("cached")) != (
            found["code"], found["data"].get("cached")
        ):  # fmt: skip
            yield Breach("error", f"explain says {expected}, and the request failed with {found}")
        return
    if "result" not in reply:
        return
    result = reply["result"]
    answers = verdict.startswith("answer")
    copied = case.elsewhere and "originalCache" in case.options
    if answers and not copied and told["stale"] is not None and told["stale"] != bool(result.get("stale")):
        yield Breach("stale", f"stale is {told['stale']}, and the answer says {bool(result.get('stale'))}")
    if answers and result.get("revalidated"):
        yield Breach("revalidated", "the answer says that its server was asked")
    tier = told["cacheType"]
    if (answers or result.get("revalidated")) and tier != "none" and result["cacheType"] != tier:
        if not case.processors and not copied:
            yield Breach("cacheType", f"cacheType is {tier}, and the answer came from {result['cacheType']}")
    if result["key"] != told["key"]:
        yield Breach("key", f"key is {told['key']}, and the answer says {result['key']}")
    path = result.get("path")
    # What stands in for an image that could not be loaded may be the entry that users share.
    stands_in = not answers and result.get("stale")
    if path is not None and not stands_in:
        # The extension is not known before an image is loaded.
        expected = told["path"] if answers else told["path"].rpartition("/")[2].partition(".")[0]
        # Beside a file that is lent, another one gets a number.
        if expected not in path and expected not in re.sub(r"\.\d+(?=\.[a-z]+$)", "", path):
            yield Breach("path", f"path is {told['path']}, and the answer is in {path}")


def _bounds(outcome: Outcome) -> Iterator[Breach]:
    """What holds whatever explain says."""
    case, options = outcome.case, outcome.case.options
    result = outcome.reply.get("result", {})
    for name in ("offline", "onlyFromCache"):
        if options.get(name) and outcome.seen:
            yield Breach(f"{name} asks", f"the origin was asked in spite of {name}")
    if case.entry in ("loaded", "made", "made alone") and not outcome.seen and result.get("width") == 16:
        owner = case.scope or (case.token, case.secret)
        user = options.get("scope") or (case.authorization, case.headers.get("X-Api-Key", ""))
        nobody = ("", "")
        if owner != nobody and (owner != user or options.get("credentialScope")):
            yield Breach("credentials", "an image that was fetched with other credentials is answered")
        is_public = case.control.startswith("public") and not case.vary and not case.redirect
        if owner == nobody != user and not is_public and not options.get("credentialScope"):
            yield Breach("no credentials", "an image that was fetched without credentials is answered to a user")


def _integrity(outcome: Outcome) -> Iterator[Breach]:
    """Whatever a method hands out or takes for cached has the bytes that integrity names."""
    name = outcome.case.options.get("integrity")
    if name is None or "result" not in outcome.reply:
        return
    result = outcome.reply["result"]
    if outcome.case.method == "prefetch":
        if not result["skipped"] and not result["completed"] or "result" not in outcome.inspected:
            return
        # `inspect` tells of the entry on disk, beside which memory may hold another image.
        if outcome.case.options.get("cacheMemoryOnly"):
            return
        width = outcome.inspected["result"]["width"]
        how = "takes for cached" if result["skipped"] else "says to have loaded"
    else:
        width, how = result["width"], "answers"
    if width != ALLOWED[name]:
        yield Breach(f"integrity of {outcome.case.method}", f"{outcome.case.method} {how} bytes that integrity forbids")
