"""The types of the Node client, in declaration files."""

import json
import re
import textwrap
from typing import Dict, List, Sequence, Set

from .catalog import Array, Catalog, Constants, Definition, Either, Map, Member, Named, Naming, Scalar, Type
from .protocol import NOTE, Protocol, first_upper, type_name
from .words import SUMMARIES

NAMING = Naming(
    names={
        "RetrieveParams.as": "As",
        "RetrieveParams.processors": "Processors",
        "ImageOptions.memoryCacheAccessExtendingExpiration": "ExpirationExtending",
        "ImageOptions.authorization": "Authorization",
        "ImageOptions.authorization|basic": "BasicAuthorization",
        "ImageOptions.authorization|basic.basic": "BasicCredentials",
        "ImageOptions.authorization|bearer": "BearerAuthorization",
        "ImageOptions.cacheSerializer": "CacheSerializer",
        "ImageOptions.delegates[]": "QuestionName",
        "ImageOptions.retry": "Retry",
        "ImageOptions.retry.interval|exponential": "ExponentialInterval",
        "Expiration|seconds": "ForSeconds",
        "Expiration|days": "ForDays",
        "Expiration|date": "UntilDate",
        "Processor|crop.crop.anchor|x": "CropAnchor",
        "Processor|resize.resize.focus": "FocalPoint",
        "Processor|roundCorner.roundCorner.radius|fraction": "RadiusFraction",
        "DiskSettings.keyRules[]": "KeyRule",
        "DownloaderSettings.hostRules[]": "HostRule",
        "DownloaderSettings.urlRewrites[]": "URLRewrite",
        "RetrieveParams": "RetrieveRequest",
        "StoreParams": "StoreRequest",
        "RemoveParams": "RemoveRequest",
        "IsCachedParams": "KeyRequest",
        "CalculateSizeParams": "CacheRequest",
        "DownloadParams": "DownloadRequest",
        "ProbeParams": "ProbeRequest",
        "PrefetchParams": "PrefetchRequest",
        "CancelAllParams": "CancelRequest",
        "ForgetFailuresParams": "ForgetRequest",
        "ListParams": "ListRequest",
        "ExplainParams": "ExplainRequest",
        "VerifyParams": "VerifyRequest",
        "ConfigureParams": "ConfigureRequest",
        "AddReadOnlyCachePathParams": "ReadOnlyPathRequest",
        "ConfigureResult": "ConfiguredSettings",
        "CachesResult.caches[]": "KnownCache",
        "ImageResult.cacheType": "CacheType",
        "ImageResult.format": "PictureFormat",
        "ImageResult.pixels": "Pixels",
        "StoreResult.stored": "StoredTiers",
        "ImageResult.stored": "NotStoredReason",
        "PrefetchResult.notStored[]": "UnstoredImage",
        "SizeResult": "CacheSize",
        "SizeResult.disk": "DiskSize",
        "SizeResult.memory": "MemorySize",
        "IsCachedResult": "CacheState",
        "CachePathResult": "CachePath",
        "ClearResult": "Cleared",
        "ExplainResult": "Explanation",
        "PauseResult": "PauseState",
        "StatsResult": "Stats",
        "FailuresResult.failures[]": "RememberedFailure",
        "PrefetchResult.failed[]": "PrefetchFailure",
        **dict.fromkeys(
            ("FailuresResult.failures[].error", "PrefetchResult.failed[].error", "ExplainResult.error|"), "ErrorAnswer"
        ),
        "CacheDidCleanEvent": "CacheCleaned",
        "ImageDidChangeEvent": "ImageChanged",
        "ActivityDidChangeEvent": "ActivityChanged",
        **dict.fromkeys(("DownloadDidFinishEvent", "ImageResult.downloadReport"), "DownloadFinished"),
        "ImageResult.downloadReport.timings": "DownloadTimings",
        "LogEvent": "LogLine",
        "DownloaderModifyRequestParams": "DownloadDraft",
        "DownloaderModifyRequestResult": "DownloadAnswer",
        "DownloaderModifyRequestResult|url": "DownloadChange",
        "DownloaderRedirectParams": "Redirect",
        "DownloaderValidateStatusParams": "AnswerHead",
        "DownloaderValidateStatusResult": "StatusAnswer",
        "DownloaderValidateStatusResult|accept": "Acceptance",
        "DownloaderChallengeParams": "Challenge",
        "DownloaderChallengeResult": "ChallengeAnswer",
        "DownloaderChallengeResult|use": "ChallengeCredentials",
    },
    modules={
        "options": ["Expiration", "ImageOptions", "Processor", "RetrieveParams.processors", "RetrieveParams.as"],
        "settings": ["MemorySettings", "DiskSettings", "DownloaderSettings", "CacheSettings", "ConfigureResult"],
        "results": ["ImageResult", "StoreResult"],
        "requests": ["CalculateSizeParams", "IsCachedParams"],
        "events": [],
        "questions": [],
    },
    bases={"StoreResult": "ImageResult", "ConfigureResult": "CacheSettings"},
    scalars={
        **dict.fromkeys(("ImageResult.data", "DownloadResult.data"), "buffer"),
        "StoreParams.data": "bytes",
        **dict.fromkeys(("StoreParams.path", "AddReadOnlyCachePathParams.path", "PrefetchParams.urls[]"), "url"),
        **{
            "%sParams.url" % name: "url"
            for name in ("Retrieve", "Download", "Probe", "Explain", "CancelAll", "ForgetFailures")
        },
    },
)

WHOLE = {
    ("CacheSettings", "memory"): "false | Required<MemorySettings>",
    ("CacheSettings", "disk"): "Required<DiskSettings>",
    ("ConfiguredSettings", "downloader"): "Required<DownloaderSettings>",
}
"""Members that tell every setting, which the protocol does not say."""

ALIASES = {
    "Processors": "string | readonly Processor[]",
    "ErrorAnswer": "{ code: number; message: string; data?: Record<string, unknown> }",
}
"""Other names that are wider than the protocol says, so that what a program puts together at run time fits, or narrower."""

EXTENSIBLE = {"ImageOptions"}
"""Objects that may have members of others, with names that tell so."""

WIDTH = 120
_SCALARS = {
    **{
        "string": "string",
        "number": "number",
        "integer": "number",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
    },
    **{"bytes": "Uint8Array", "buffer": "Buffer", "url": "string | URL"},
}


def catalog(protocol: Protocol, requests: Sequence[str]) -> Catalog:
    """The types of the Node client; `requests` are the paths of the parameters of its methods."""
    naming = Naming(dict(NAMING.names), dict(NAMING.modules), NAMING.bases, NAMING.scalars, "results")
    for inner in protocol.schemas["Processor"]["oneOf"]:
        name = inner["required"][0]
        naming.names["Processor|" + name] = first_upper(name) + "Processor"
        naming.names["Processor|%s.%s" % (name, name)] = first_upper(name) + "Parameters"
    naming.modules["requests"] = list(dict.fromkeys([*NAMING.modules["requests"], *requests]))
    naming.modules["events"] = ["EventName"] + [type_name(event["name"]) + "Event" for event in protocol.events]
    naming.modules["questions"] = [
        type_name(question["name"]) + end for question in protocol.questions for end in ("Params", "Result")
    ]
    found = Catalog(protocol, naming)
    for definition in found.of_module("requests"):
        if definition.path not in SUMMARIES:
            definition.doc = "What `%s` is asked for." % (definition.path[0].lower() + definition.path[1:-6])
    pages = found.definitions["ListRequest"]
    pages.members = [_page_size(member) for member in pages.members if member.name != "cursor"]
    return found


def _page_size(member: Member) -> Member:
    if member.name != "limit":
        return member
    return Member("pageSize", member.type, False, member.doc + " Default: 100.")


def text(type: Type) -> str:
    """The text of a type."""
    if isinstance(type, Scalar):
        return _SCALARS[type.kind]
    if isinstance(type, Constants):
        return " | ".join(json.dumps(value) for value in type.values)
    if isinstance(type, Named):
        return type.name
    if isinstance(type, Array):
        item = text(type.item)
        return "(%s)[]" % item if "|" in item else item + "[]"
    if isinstance(type, Map):
        return "Record<string, %s>" % text(type.value)
    return " | ".join(text(part) for part in type.parts)


def comment(words: str, indent: str = "") -> List[str]:
    """A comment for tools that show documentation; paragraphs are divided by empty lines."""
    words = words.replace("*/", "*\u2215")
    if not words:
        return []
    if "\n" not in words and len(indent) + len(words) + 7 <= WIDTH:
        return ["%s/** %s */" % (indent, words)]
    lines: List[str] = []
    for paragraph in words.split("\n\n"):
        lines += ([" *"] if lines else []) + [
            " * " + line for line in textwrap.wrap(paragraph, WIDTH - len(indent) - 3, break_on_hyphens=False)
        ]
    return [indent + line for line in ["/**", *lines, " */"]]


def declared(before: str, type: str, after: str, indent: str = "") -> List[str]:
    """`before type after` on one line if it fits, else with each alternative on a line of its own."""
    line = indent + before + type + after
    if len(line) <= WIDTH or " | " not in type or "(" in type:
        return [line]
    return (
        [(indent + before).rstrip()]
        + ["%s  | %s" % (indent, one) for one in type.split(" | ")[:-1]]
        + ["%s  | %s%s" % (indent, type.split(" | ")[-1], after)]
    )


def definition_lines(definition: Definition) -> List[str]:
    """An interface, or another name for a type."""
    lines = comment(definition.doc)
    if definition.type is not None:
        return lines + declared(
            "export type %s = " % definition.name, ALIASES.get(definition.name) or text(definition.type), ";"
        )
    base = " extends %s" % definition.base if definition.base else ""
    if definition.replaced:
        names = " | ".join('"%s"' % name for name in definition.replaced)
        base = " extends Omit<%s, %s>" % (definition.base, names)
    lines.append("export interface %s%s {" % (definition.name, base))
    for member in definition.members:
        lines += comment(("@deprecated " if member.is_former else "") + member.doc, "  ")
        mark = "" if member.required else "?"
        written = WHOLE.get((definition.name, member.name)) or text(member.type)
        lines += declared("%s%s: " % (member.name, mark), written, ";", "  ")
    if definition.name in EXTENSIBLE:
        lines += [
            "  /** What is meant for others; the server lets it pass. */",
            "  [extension: `_${string}` | `x-${string}`]: unknown;",
        ]
    return lines + ["}"]


def module(body: Sequence[str], homes: Dict[str, str], own: str) -> str:
    """A whole declaration file."""
    code = re.sub(r"/\*\*.*?\*/|\"[^\"\n]*\"", "", "\n".join(body), flags=re.S)
    words: Set[str] = set(re.findall(r"[A-Za-z]\w*", code))
    found: Dict[str, List[str]] = {}
    for name, home in homes.items():
        if name in words and home != own:
            found.setdefault(home, []).append(name)
    lines = ["// " + NOTE]
    for home in sorted(found):
        names = sorted(found[home], key=str.lower)
        line = 'import type { %s } from "./%s.js";' % (", ".join(names), home)
        if len(line) > WIDTH:
            line = 'import type {\n  %s,\n} from "./%s.js";' % (",\n  ".join(names), home)
        lines.append(line)
    return "\n".join(lines + [""] + list(body)).rstrip("\n") + "\n"


def homes(catalog: Catalog) -> Dict[str, str]:
    """In which file each type is."""
    return {definition.name: definition.module for definition in catalog.definitions.values()}


def types_module(catalog: Catalog, own: str, more: Sequence[str] = ()) -> str:
    """A file of types."""
    body: List[str] = []
    for definition in catalog.of_module(own):
        body += definition_lines(definition) + [""]
    return module(body + list(more), homes(catalog), own)


def events(protocol: Protocol, catalog: Catalog) -> List[str]:
    """The table of what comes with each event."""
    lines = ["/** The events there are, by name, with what each brings. */", "export interface CacheEvents {"]
    for event in protocol.events:
        kind = text(catalog.at(type_name(event["name"]) + "Event"))
        lines += comment(event["summary"], "  ") + ["  %s: %s;" % (json.dumps(event["name"]), kind)]
    return lines + ["}"]


def questions(protocol: Protocol, catalog: Catalog) -> List[str]:
    """The table of what is asked and answered."""
    lines = ["/** The questions there are, by name, with what is asked and what may be answered. */"]
    lines.append("export interface Questions {")
    for question in protocol.questions:
        asked, answer = (text(catalog.at(type_name(question["name"]) + end)) for end in ("Params", "Result"))
        lines += comment(question["summary"], "  ")
        lines.append("  %s: { question: %s; answer: %s };" % (json.dumps(question["name"]), asked, answer))
    return lines + ["}"]


def codes(protocol: Protocol) -> str:
    """The table of error codes."""
    lines = ["// " + NOTE, "", "/** The stable codes the server answers with, by name. */"]
    lines.append("export const ErrorCode: Readonly<{")
    for name, error in protocol.all_errors().items():
        lines += comment(error["message"], "  ") + ["  %s: %d;" % (name, error["code"])]
    return "\n".join(lines + ["}>;"]) + "\n"
