"""The numbers that the structure is held to."""

from typing import Dict

#: The targets that make the engine.
ENGINE = ("Platform", "HTTPSemantics", "ImageErrors", "ImageFormats", "Downloading", "Caching", "ImageEngine")
#: The most lines that these have together, comments included.
ENGINE_LINES = 31262
#: The most files that one type, with its extensions, is spread over.
SPREAD = 6
#: The types that are spread over more, with the most files that each may have until it is mended.
WIDER: Dict[str, int] = {}
#: The most files of one target that name each other's types in a circle.
CYCLE = 23
#: What no source contains. A closure that is alone in a lock grows at each access: an EventHook does not.
BANNED = (r"@unchecked\s+Sendable", r"nonisolated\(unsafe\)", r"\btry!", r"\bfatalError\b", r"Mutex<[^>]*->")
#: Ids of a design that the readers of the repository do not have; where one stood for a reason, the reason stands there.
IDS = r"\b(?:[A-E]\d?-\d{1,3}|E\d \d{1,3}|[Rr]eliability [A-F]\d{1,2})\b|/// [A-F]\d{1,2}[:.]|\([A-F]\d{1,2}\)[.\"]"
#: The most functions on each way.
WAYS = {"The way of a hit": 15, "The way of a miss": 40, "The way of a store": 25}
