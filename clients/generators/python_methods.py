"""The methods of the Python clients: the same for threads and for asyncio, each with its parameters and their words."""

from dataclasses import replace
from typing import Dict, List, Sequence

from .catalog import NULL, Array, Catalog, Constants, Map, Named, Type, Scalar
from .methods import AS_COMPLETED, IN_NUMBERS, REPORTING, Method, Param
from .protocol import NOTE
from .python_text import annotation, docstring, in_words, listed, literal, module, optional, snake, wrapped
from .python_types import DATACLASSES, decoder, homes

NAMES = {"list": "list_entries"}

SUMMARIES = {
    "rpc.discover": "Returns the OpenRPC document that describes every method of the server.",
    "ping": "Waits for a sign of life.",
    "subscribe": "Asks to be told of events; nothing comes before.",
    "verify": "Reads every image of a cache through, and puts right what is wrong.",
}
"""Descriptions of methods, where that of the protocol is about the messages."""

NOTES = {
    "retrieve": "Raises InvalidURL, ConnectionFailed, TimedOut, InvalidStatusCode, BadData, LimitExceeded (with bytes: over"
    " 16 MiB) and others.",
    "store": "Either `path`, which is faster, or `data` is needed. A file is copied, and may go afterwards. Raises BadData for"
    " bytes that are not an image, StorageFailed when the disk refuses, LimitExceeded for `data` beyond about 48 MiB.",
    "remove": "It is not an error to remove what is not there.",
    "inspect": "Nothing is loaded. Raises NotCached.",
    "list": "Goes through the images on disk, in an order that no use changes, and fetches a page of them when it is needed."
    " `timeout` counts for each page.",
    "configure": "Returns the settings in force; without any change it only tells. Raises InvalidParams, which names the"
    " setting, and then nothing has changed.",
    "verify": "Takes about as long as reading the whole folder; other calls go on meanwhile.",
    "subscribe": "Returns all that are subscribed. Take events with `next_event` or `events`. Raises InvalidParams for an"
    " unknown name.",
    "unsubscribe": "Returns what is still subscribed.",
    "ping": "Raises ServerGone when no answer is to come.",
    "forgetFailures": "Returns how many.",
    "cancelAll": "Returns how many.",
}
"""Additions to the protocol's descriptions of methods."""


def python_name(method: Method) -> str:
    return NAMES.get(method.short, snake(method.short))


def choices_of(type: Type, catalog: Catalog) -> Sequence[object]:
    """The values that a parameter may have, or each in its list; none when that is no short list."""
    if isinstance(type, Array):
        type = type.item
    if isinstance(type, Named):
        found = catalog.definitions[type.name].type
        return found.values if isinstance(found, Constants) else ()
    return type.values if isinstance(type, Constants) else ()


class _Signature:
    """The declaration of a method: its arguments, and the value of each in the request."""

    def __init__(self, method: Method, catalog: Catalog) -> None:
        self.method, self.catalog = method, catalog
        self.params = [param for param in method.params if not (method.is_paged and param.name == "cursor")]
        if method.is_about_one_image:
            key = replace(self.params[0], required=False)
            self.params = [key, Param("url", key.type, False, "The URL of the image, in place of its key.", None)] + self.params[1:]

    def name(self, param: Param) -> str:
        return "page_size" if self.method.is_paged and param.name == "limit" else snake(param.name)

    def is_path(self, param: Param) -> bool:
        return param.name == "path" and self.method.name in ("store", "addReadOnlyCachePath")

    def default(self, param: Param) -> str:
        """The default, where the language has the server's; "" where something must be given."""
        if param.required:
            return ""
        if param.name == "limit" or isinstance(param.default, bool) or self._is_choice(param):
            return literal(param.default)
        return "None"

    def _is_choice(self, param: Param) -> bool:
        return isinstance(param.default, str) and (isinstance(param.type, Constants) or param.name == "as")

    def annotation(self, param: Param) -> str:
        text = "StrPath" if self.is_path(param) else annotation(param.type, is_argument=True)
        if isinstance(param.type, Array) and param.required:
            text = text.replace("Sequence", "Iterable", 1)
        return optional(text) if self.default(param) == "None" else text

    def value(self, param: Param) -> str:
        """The expression of the value in the request; None for a default."""
        name, default = self.name(param), self.default(param)
        if default == "True":
            return "None if %s else False" % name
        if default == "False":
            return "True if %s else None" % name
        if default.startswith('"'):
            return "None if %s == %s else %s" % (name, default, name)
        if self.is_path(param):
            return "params_of.absolute(%s)" % name
        if self.method.is_about_one_image and param.name == "key":
            return "params_of.key(key, url)"
        if param.name == "url" and param.required:
            return "str(%s)" % name
        if param.name == "url" and self.method.is_needed:
            return "None if %s is None else str(%s)" % (name, name)
        if isinstance(param.type, Array):
            return 'params_of.listed("%s", %s)' % (name, name)
        if isinstance(param.type, Map):
            return "None if %s is None else dict(%s)" % (name, name)
        return name

    def arguments(self, ellipses: bool = False) -> List[str]:
        """The arguments after `self`, with `timeout` at the end."""
        written = ["..." if ellipses and self.default(param) else self.default(param) for param in self.params]
        texts = [
            "%s: %s%s" % (self.name(param), self.annotation(param), " = " + default if default else "")
            for param, default in zip(self.params, written)
        ]
        if self.method.takes_any_number:
            return ["*%s: Union[%s, str]" % (self.name(self.params[0]), annotation(self.method.items)), _TIMEOUT]
        alone = 1 if self.method.alone else 0
        reports = ["progress: Optional[ProgressCallback] = None"] if self.method.name in REPORTING else []
        return texts[:alone] + ["*"] + texts[alone:] + reports + [_TIMEOUT]

    def docs(self) -> List[str]:
        words = {self.name(param): self.words(param) for param in self.params}
        if self.method.name in REPORTING:
            words["progress"] = "Called with reports of how far it is, at most about 10 a second."
        words["timeout"] = "Seconds to wait for the answer, then CallTimedOut; for ever when left out."
        return [listed(name, text) for name, text in words.items() if text]

    def words(self, param: Param) -> str:
        """The description of a parameter, with its choices."""
        choices = choices_of(param.type, self.catalog)
        said = in_words(param.doc)
        return said + " One of %s." % ", ".join(literal(choice) for choice in choices) if choices else said


_TIMEOUT = "timeout: Optional[float] = None"


def decoder_of(method: Method) -> str:
    """The name of the function that decodes the result of a method."""
    if method.member:
        return "%s_from_wire" % snake(method.short)
    if method.result == NULL:
        return "nothing"
    return decoder(method.result.name) if isinstance(method.result, Named) else "document_from_wire"


def decoders(methods: Sequence[Method]) -> List[str]:
    """The decoders of results that are what came, or one member of it."""
    lines: Dict[str, List[str]] = {}
    for method in methods:
        name = decoder_of(method)
        is_class = isinstance(method.result, Named) and method.result.name in DATACLASSES
        if not (is_class or method.is_paged or method.result == NULL):
            made = 'member("%s")' % method.member if method.member else "as_it_is"
            lines[name] = wrapped("%s: " % name, "Callable[[Any], %s]" % annotation(method.result), " = " + made)
    return [line for one in lines.values() for line in one] + [
        "page_from_wire = page_decoder(%s)" % decoder("EntryDetails")
    ]


def _dictionary(signature: _Signature) -> List[str]:
    """The parameters as an expression, as lines of an argument."""
    params = [param for param in signature.params if not (signature.method.is_about_one_image and param.name == "url")]
    return ['"%s": %s' % (param.name, signature.value(param)) for param in params]


def _wire(signature: _Signature, indent: str) -> List[str]:
    method = signature.method
    if not method.params:
        return []
    if method.name == "store":
        entries = [entry for entry in _dictionary(signature) if not entry.startswith(('"path"', '"data"'))]
        return wrapped("wire = ", "params_of.store(path, data, {%s})" % ", ".join(entries), indent=indent)
    return wrapped("wire = ", "params_of.given({%s})" % ", ".join(_dictionary(signature)), indent=indent)


def _method(method: Method, catalog: Catalog, is_async: bool) -> List[str]:
    signature = _Signature(method, catalog)
    indent = "        "
    result = annotation(method.result)
    if method.is_paged:
        result = "AsyncIterator[EntryDetails]" if is_async else "Iterator[EntryDetails]"
    arguments = ", ".join(["self"] + signature.arguments())
    lines = wrapped(
        "%sdef %s" % ("async " if is_async else "", python_name(method)), "(%s)" % arguments, " -> %s:" % result, "    "
    )
    lines += docstring(
        [
            SUMMARIES.get(method.name, method.summary),
            NOTES.get(method.name, ""),
            "Args:\n" + "\n".join(signature.docs()),
        ],
        indent,
    )
    call = "await self._call" if is_async else "self._call"
    if method.is_paged:
        lines += wrapped("params = ", "{%s}" % ", ".join(_dictionary(signature)), indent=indent)
        lines += [
            indent + "cursor: Optional[str] = None",
            indent + "while True:",
            indent + '    wire = params_of.given({**params, "cursor": cursor})',
            indent + '    entries, cursor = %s("%s", wire, page_from_wire, timeout)' % (call, method.name),
            indent + "    for entry in entries:",
            indent + "        yield entry",
            indent + "    if cursor is None:",
            indent + "        return",
        ]
        return lines
    wire = _wire(signature, indent)
    reports = ", progress" if method.name in REPORTING else ""
    sent = '("%s", %s, %s, timeout%s)' % (method.name, "wire" if wire else '"{}"', decoder_of(method), reports)
    return lines + wire + wrapped("return %s" % call, sent, indent=indent)


def _many(method: Method, catalog: Catalog, is_async: bool, as_completed: bool = False) -> List[str]:
    """The form for many images of a method: a list, or an iterator of each with its URL, as soon as it is there."""
    signature = _Signature(method, catalog)
    one = signature.params[0]
    signature.params = [one] + [param for param in signature.params[1:] if param.name not in ("key", "url")]
    plural = one.name + "s"
    name = "%s_%s" % (python_name(method), "iter" if as_completed else "many")
    word = "async def" if is_async and not as_completed else "def"
    shape = "List[%s]: ..."
    if as_completed:
        shape = "%sIterator[Tuple[str, %%s]]: ..." % ("Async" if is_async else "")

    def declared(ellipses: bool, last: str, result: str) -> List[str]:
        arguments = [text for text in signature.arguments(ellipses) if not text.startswith("progress")]
        arguments[0] = "%s: Iterable[str]" % plural
        if as_completed:
            arguments.append("on_progress: Optional[Callable[[str, Progress], object]] = None")
        if ellipses:
            arguments = [text.replace(" = None", " = ...") for text in arguments]
        text = "(%s)" % ", ".join(["self"] + arguments + [last])
        return wrapped("%s %s" % (word, name), text, " -> %s" % result, "    ")

    result = annotation(method.result)
    lines = ["    @overload"] + declared(True, "return_exceptions: Literal[False] = ...", shape % result)
    both = shape % ("Union[%s, HalcyonError]" % result)
    lines += ["", "    @overload"] + declared(True, "return_exceptions: bool", both)
    lines += [""] + declared(False, "return_exceptions: bool = False", "Any:")
    words = [
        "`%s` for each of `%s`, all sent in one write; the results are in their order." % (python_name(method), plural)
    ]
    if as_completed:
        words = [
            "Goes through `%s`, each with what `%s` returns for it, as they come." % (plural, python_name(method)),
            "Nothing is sent before the first is asked for; leaving the loop cancels what is open. `on_progress` is called"
            " with the %s and each report about it. `timeout` is for all, and `return_exceptions` as in `%s_many`."
            % (one.name, python_name(method)),
        ]
    lines += docstring(words, "        ")
    given = plural
    if as_completed:
        lines.append("        items = [str(item) for item in params_of.listed(\"%s\", %s)]" % (plural, plural))
        given = "items"
    lines += wrapped("rest = ", "{%s}" % ", ".join(_dictionary(signature)[1:]), indent="        ")
    lines.append('        wires = params_of.each("%s", %s, rest)' % (one.name, given))
    if as_completed:
        sent = '("%s", items, wires, %s, timeout, return_exceptions, on_progress)' % (method.name, decoder_of(method))
        return lines + wrapped("return self._as_completed", sent, indent="        ")
    call = "await self._many" if is_async else "self._many"
    return lines + [
        '        return %s("%s", wires, %s, timeout, return_exceptions)' % (call, method.name, decoder_of(method))
    ]


_SYNC_HEAD = '''class Methods:
    """The methods of `Client`, and what they are made with."""

    def _call(
        self,
        method: str,
        wire: str,
        decode: Callable[[Any], T],
        timeout: Optional[float],
        progress: Optional[ProgressCallback] = None,
    ) -> T:
        raise NotImplementedError

    def _many(
        self,
        method: str,
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
    ) -> List[Union[T, HalcyonError]]:
        raise NotImplementedError

    def _as_completed(
        self,
        method: str,
        items: List[str],
        wires: List[str],
        decode: Callable[[Any], T],
        timeout: Optional[float],
        return_exceptions: bool,
        on_progress: Optional[Callable[[str, Progress], object]],
    ) -> Iterator[Tuple[str, Union[T, HalcyonError]]]:
        raise NotImplementedError'''


def methods_module(methods: Sequence[Method], catalog: Catalog, is_async: bool) -> str:
    """All methods of a client."""
    head = _SYNC_HEAD
    if is_async:
        head = (
            head.replace("    def ", "    async def ")
            .replace("async def _as_completed", "def _as_completed")
            .replace("Iterator[", "AsyncIterator[")
            .replace("class Methods", "class AsyncMethods")
            .replace("`Client`", "`AsyncClient`")
        )
    body: List[str] = ['T = TypeVar("T")', ""]
    body += ["", *head.split("\n")]
    for method in methods:
        body += [""] + _method(method, catalog, is_async)
    for method in methods:
        if method.name in IN_NUMBERS:
            body += [""] + _many(method, catalog, is_async)
        if method.name in AS_COMPLETED:
            body += [""] + _many(method, catalog, is_async, as_completed=True)
    known = homes(catalog)
    known.update({decoder_of(method): "results" for method in methods})
    known.update({"page_from_wire": "results", "nothing": "decoding"})
    known.update({"ProgressCallback": "calls", "HalcyonError": "failures", "Bytes": "requests", "StrPath": "requests"})
    known["Progress"] = "notices"
    own = "async_methods" if is_async else "methods"
    text = module(
        ["The methods of the %s client." % ("asynchronous" if is_async else "synchronous"), NOTE], body, known, own
    )
    return text.replace("\nfrom .", "\nfrom . import requests as params_of\nfrom .", 1)


_SUBMIT_HEAD = '''class Submitting:
    """`Client.submit`, and what it is made with."""

    def _submit(
        self,
        method: str,
        params: Params,
        decode: Callable[[Any], T],
        progress: Optional[ProgressCallback],
    ) -> PendingCall[T]:
        raise NotImplementedError'''

_SUBMIT_WORDS = [
    "Sends a call and returns at once, with a future: `.result()` waits, `.cancel()` gives it up.",
    "`params` are those of the protocol, by name, or by position (not with `progress`). The result is the one that the"
    " method of that name returns here; for a method that has none, the one that JSON gave.",
]


def submitting_module(methods: Sequence[Method], catalog: Catalog) -> str:
    """`submit`, which knows the result of each method by its name."""
    offered = [method for method in methods if not method.is_paged]
    body: List[str] = ['T = TypeVar("T")', "", "", *_SUBMIT_HEAD.split("\n")]
    for name, result in [('Literal["%s"]' % one.name, annotation(one.result)) for one in offered] + [("str", "Any")]:
        arguments = "(self, method: %s, params: Params = ..., *, progress: Optional[ProgressCallback] = ...)" % name
        body += ["", "    @overload"] + wrapped("def submit", arguments, " -> PendingCall[%s]: ..." % result, "    ")
    arguments = "(self, method: str, params: Params = None, *, progress: Optional[ProgressCallback] = None)"
    body += [""] + wrapped("def submit", arguments, " -> PendingCall[Any]:", "    ")
    body += docstring(_SUBMIT_WORDS, "        ")
    body += ["        return self._submit(method, params, DECODERS.get(method, as_it_is), progress)"]
    body += ["", "", "DECODERS: Dict[str, Callable[[Any], Any]] = {"]
    body += ['    "%s": %s,' % (method.name, decoder_of(method)) for method in offered] + ["}"]
    body += ['"""What makes the result of a method of what JSON gave."""']
    known = homes(catalog)
    known.update({decoder_of(method): "results" for method in offered})
    known.update({"nothing": "decoding", "as_it_is": "decoding", "Params": "requests"})
    known.update({"ProgressCallback": "calls", "PendingCall": "calls"})
    return module(["Calls that go on at once, with typed results.", NOTE], body, known, "submitting")
