"""The types of the Python client: what is sent and told as TypedDicts, most results as dataclasses, errors as classes."""

import re
from typing import Dict, List, Sequence

from .catalog import (
    Array,
    Catalog,
    Constants,
    Definition,
    Map,
    Member,
    Named,
    Naming,
    Scalar,
    Type,
    is_nullable,
    without_null,
)
from .protocol import NOTE, Protocol, first_upper, type_name
from .python_text import annotation, docstring, in_words, literal, module, optional, snake, wrapped

NAMING = Naming(
    names={
        "RetrieveParams.as": "As",
        "RetrieveParams.processors": "Processors",
        "ImageOptions.memoryCacheAccessExtendingExpiration": "ExtendingExpiration",
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
        "DiskSettings.keyRules[]": "KeyRule",
        "DownloaderSettings.hostRules[]": "HostRule",
        "DownloaderSettings.urlRewrites[]": "URLRewrite",
        "ConfigureResult": "ConfiguredSettings",
        "CachesResult.caches[]": "KnownCache",
        "ImageResult.cacheType": "CacheType",
        "ImageResult.format": "PictureFormat",
        "ImageResult.pixels": "Pixels",
        "StoreResult.stored": "StoredTiers",
        "ImageResult.stored": "NotStoredReason",
        "PrefetchResult.notStored[]": "UnstoredImage",
        "SizeResult.disk": "DiskSize",
        "SizeResult.memory": "MemorySize",
        "IsCachedResult": "CachedResult",
        "ExplainResult": "Explanation",
        "PauseResult": "PauseState",
        "StatsResult": "Stats",
        "FailuresResult.failures[]": "RememberedFailure",
        "PrefetchResult.failed[]": "PrefetchFailure",
        "CacheDidCleanEvent": "CacheCleaned",
        "ImageDidChangeEvent": "ImageChanged",
        "ActivityDidChangeEvent": "ActivityChanged",
        "DownloadDidFinishEvent": "DownloadFinished",
        "DownloadDidFinishEvent.timings": "DownloadTimings",
        "LogEvent": "LogLine",
        "Processor|crop.crop.anchor|x": "CropAnchor",
        "Processor|resize.resize.focus": "FocalPoint",
        "Processor|roundCorner.roundCorner.radius|fraction": "RadiusFraction",
        "DownloaderModifyRequestParams": "DownloadDraft",
        "DownloaderModifyRequestResult": "DownloadAnswer",
        "DownloaderValidateStatusResult": "StatusAnswer",
        "DownloaderModifyRequestResult|url": "DownloadChange",
        "DownloaderRedirectParams": "Redirect",
        "DownloaderValidateStatusParams": "AnswerHead",
        "DownloaderValidateStatusResult|accept": "Acceptance",
        "DownloaderChallengeParams": "Challenge",
        "DownloaderChallengeResult": "ChallengeAnswer",
        "DownloaderChallengeResult|use": "ChallengeCredentials",
    },
    modules={
        "options": ["Expiration", "ImageOptions", "Processor", "RetrieveParams.processors", "RetrieveParams.as"],
        "settings": ["MemorySettings", "DiskSettings", "DownloaderSettings", "CacheSettings", "ConfigureResult"],
        "events": [],
        "questions": [],
        "results": ["ImageResult", "StoreResult"],
    },
    bases={"StoreResult": "ImageResult", "ConfigureResult": "CacheSettings"},
    scalars={
        "SubscriptionResult.events[]": "string",
        "ImageResult.data": "bytes",
        "DownloadResult.data": "bytes",
        "StoreParams.data": "bytes",
    },
)

DATACLASSES = {
    *("ImageResult", "StoreResult", "DownloadResult", "ProbeResult", "PrefetchResult", "RemoveResult", "CachedResult"),
    *("CachePathResult", "DiskSize", "MemorySize", "SizeResult", "ClearResult", "CleanResult", "VerifyResult"),
    *("EntryDetails",),
}
"""The results that are objects with attributes; the others are the dictionaries that JSON gave."""

BASES = {
    "ImageResult": "ImageFile",
    "StoreResult": "ImageResult",
    "CachePathResult": "LocalFile",
}
"""The additional base classes of results."""

OWN_WORDS = {
    "CleanResult": "What `clean_expired` removed; `keys` has None where a key is not known.",
    "CachePathResult": "Where an image is or would be; can be given to `open()`. `exists` says which.",
    "DiskSize": "Images on disk. Sizes are in bytes; `allocated_bytes` counts whole blocks; a limit of 0 is none.",
    "ImageOptions": (
        "Options of one call; what is left out has the server's default. An option the server does not know "
        "is answered with InvalidParams and the nearest name, never ignored."
    ),
    "RemoveResult": "What `remove` took away; true when anything was.",
    "CachedResult": "Whether and where an image is cached; true when it is.",
    "VerifyResult": "What `verify` found, in entries and files; true when nothing was wrong.",
}
"""Descriptions of types that need more words than in other languages."""

ALIASES = {"Processors": "Union[str, Sequence[Processor]]"}
"""Other names that are wider than the protocol says."""

TRUTH = {"RemoveResult": "removed", "CachedResult": "cached", "VerifyResult": "clean"}
"""Results that are true or false by themselves."""

DEFAULTS = {("ImageResult", "placeholder"): "False"}
"""The defaults of members missing from an answer, other than None."""

SINCE_EXTRA = ("dataUrl", "thumbHash", "dominantColor", "pixels")
"""Members that are in `extra` as well, by their names on the wire."""


def catalog(protocol: Protocol) -> Catalog:
    """The types of the Python client."""
    naming = Naming({**NAMING.names}, {**NAMING.modules}, NAMING.bases, NAMING.scalars, "results")
    prefix = "Processor|"
    for inner in protocol.schemas["Processor"]["oneOf"]:
        name = inner["required"][0]
        naming.names[prefix + name] = first_upper(name) + "Processor"
        naming.names["%s%s.%s" % (prefix, name, name)] = first_upper(name) + "Parameters"
    naming.modules["events"] = ["EventName"] + [type_name(event["name"]) + "Event" for event in protocol.events]
    naming.modules["questions"] = [
        type_name(question["name"]) + end for question in protocol.questions for end in ("Params", "Result")
    ]
    return Catalog(protocol, naming)


def homes(catalog: Catalog) -> Dict[str, str]:
    """In which module each type is."""
    return {definition.name: definition.module for definition in catalog.definitions.values()}


def _summary(definition: Definition) -> str:
    return OWN_WORDS.get(definition.name) or in_words(definition.doc)


def typed_dict(definition: Definition) -> List[str]:
    """A TypedDict, or another name for a type."""
    name, summary = definition.name, _summary(definition)
    if definition.type is not None:
        return wrapped("%s = " % name, ALIASES.get(name) or annotation(definition.type)) + (
            docstring([summary]) if summary else []
        )
    if not all(member.name.isidentifier() and snake(member.name)[-1] != "_" for member in definition.members):
        members = ", ".join('"%s": %s' % (member.name, annotation(member.type)) for member in definition.members)
        text = wrapped("%s = " % name, 'TypedDict("%s", {%s})' % (name, members))
        return text + (docstring([summary]) if summary else [])
    needed = [member for member in definition.members if member.required]
    free = [member for member in definition.members if not member.required]
    lines: List[str] = []
    base = definition.base or "TypedDict"
    if needed and free:
        lines += ["class _%s(%s):" % (name, base)] + _members(needed) + ["", ""]
        base, needed = "_" + name, []
    total = ", total=False" if free else ""
    lines += ["class %s(%s%s):" % (name, base, total)] + (docstring([summary], "    ") if summary else [])
    body = _members(needed + free)
    if summary and body:
        lines.append("")
    return lines + (body if body or summary else ["    pass"])


def _members(members: Sequence[Member]) -> List[str]:
    lines: List[str] = []
    for member in members:
        lines += wrapped(member.name + ": ", annotation(member.type), indent="    ")
        if member.doc:
            lines += docstring([in_words(member.doc)], "    ")
    return lines


_EMPTY = {"string": '""', "integer": "0", "number": "0.0", "boolean": "False"}


def _default(type: Type, definition: Definition, member: Member) -> str:
    """The default of a field that an older server omits: None if allowed, otherwise an empty value."""
    if (definition.name, member.name) in DEFAULTS:
        return DEFAULTS[definition.name, member.name]
    if not member.required or is_nullable(type):
        return "None"
    if isinstance(type, Scalar):
        return _EMPTY[type.kind]
    return "()" if isinstance(type, Array) else "{}"


def data_class(definition: Definition, catalog: Catalog) -> List[str]:
    """A frozen dataclass with the members in the spelling of Python, and its decoder."""
    name = definition.name
    trait, summary = BASES.get(name, ""), _summary(definition)
    lines = ["@dataclass(frozen=True)", "class %s%s:" % (name, "(%s)" % trait if trait else "")]
    lines += docstring([summary], "    ") + [""]
    converters = []
    for place, member in enumerate(definition.members):
        type = member.type
        text = annotation(type, is_frozen=True)
        default = _default(type, definition, member)
        inner = without_null(type)
        if isinstance(inner, Named) and inner.name in DATACLASSES:
            converters.append("%s=%s" % (snake(member.name), decoder(inner.name)))
            default = ""
        elif isinstance(inner, Named):
            target = catalog.definitions[inner.name].type
            if isinstance(target, Constants) and default != "None":
                default = '"none"' if "none" in target.values else "None"
            elif member.required and (place > 0 or definition.base) and catalog.definitions[inner.name].members:
                default = "field(default_factory=lambda: %s, hash=False)" % _nothing(catalog.definitions[inner.name])
        if place == 0 and member.required and not (definition.base or trait == "LocalFile"):
            default = ""
        if default == "None":
            text = optional(text)
        is_container = isinstance(inner, (Array, Map)) or isinstance(inner, Named) and _is_container(inner, catalog)
        if is_container and default in ("None", "()"):
            default = "field(default=%s, hash=False)" % default
        if inner == Scalar("bytes"):
            converters.append("%s=bytes_from_wire" % snake(member.name))
            default = "field(default=None, repr=False)"
        ending = " = " + default if default else ""
        if member.name in definition.replaced:
            ending += "  # type: ignore[assignment]"
        lines += wrapped(snake(member.name) + ": ", text, ending, "    ")
        if member.doc:
            doc = re.sub(r"(?<=^Former name of )\w+", lambda now: snake(now.group()), member.doc)
            lines += docstring([in_words(doc)], "    ")
    if not definition.base:
        lines += ["    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)"]
        lines += ['    """What a newer server told besides, by its names on the wire."""']
    if name in TRUTH:
        lines += ["", "    def __bool__(self) -> bool:", "        return self.%s" % TRUTH[name]]
    lines += ["", ""]
    if name == "ImageResult":
        usual = ", ".join('"%s"' % member for member in SINCE_EXTRA)
        return lines + wrapped("%s = " % decoder(name), "image_decoder(%s, also_extra=(%s))" % (name, usual))
    if definition.base == "ImageResult":
        return lines + ["%s = image_decoder(%s)" % (decoder(name), name)]
    return lines + wrapped("%s = " % decoder(name), "plain_decoder(%s)" % ", ".join([name] + converters))


def _nothing(definition: Definition) -> str:
    """A TypedDict with what is empty in it."""
    return "%s(%s)" % (
        definition.name,
        ", ".join("%s=%s" % (m.name, _default(m.type, definition, m)) for m in definition.members if m.required),
    )


def _is_container(type: Named, catalog: Catalog) -> bool:
    definition = catalog.definitions[type.name]
    return definition.type is None and type.name not in DATACLASSES or isinstance(definition.type, (Array, Map))


def decoder(name: str) -> str:
    """The name of the function that decodes a type."""
    return snake(name[0].lower() + name[1:]) + "_from_wire"


def types_module(summary: str, own: str, catalog: Catalog) -> str:
    """A module of TypedDicts."""
    body: List[str] = []
    definitions = catalog.of_module(own)
    for definition in definitions:
        body += ([""] if definition.type is not None else ["", ""]) + typed_dict(definition)
        if definition.type is None:
            body += [""]
    text = module([summary, NOTE], body, homes(catalog), own, [definition.name for definition in definitions])
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text


ERROR_BASES = {
    "invalidStatusCode": "StatusFailure",
    "limitExceeded": "LimitFailure",
    "timedOut": "HalcyonError, TimeoutError",
}
"""The base classes of errors that are not only a HalcyonError."""


def class_name(error: str) -> str:
    """`tlsFailed` → `TLSFailed`."""
    return "TLSFailed" if error == "tlsFailed" else first_upper(error)


def errors_module(protocol: Protocol) -> str:
    """A class for each code."""
    body: List[str] = []
    for name, error in protocol.all_errors().items():
        body += ["", "", "class %s(%s):" % (class_name(name), ERROR_BASES.get(name, "HalcyonError"))]
        body += docstring(["%s (%d)." % (error["message"].rstrip("."), error["code"])], "    ")
    body += ["", "", "BY_CODE: Dict[int, Tuple[str, Type[HalcyonError]]] = {"]
    body += [
        '    %d: ("%s", %s),' % (error["code"], name, class_name(name)) for name, error in protocol.all_errors().items()
    ]
    body += ["}", '"""The name and the class of each code."""']
    body += ["", "MESSAGE_LIMIT = %d" % protocol.limits["messageBytes"]]
    body += ['"""The most bytes of one message that the server reads; no message leaves this client beyond it."""']
    known = {name: "failures" for name in ("HalcyonError", "StatusFailure", "LimitFailure")}
    exported = [class_name(name) for name in protocol.all_errors()]
    return module(
        ["What the server can answer instead of a result, one exception class per code.", NOTE],
        body,
        known,
        "codes",
        exported,
    )
