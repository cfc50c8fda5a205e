"""The methods of the Node client: what runs, and how it is declared."""

from typing import Dict, List

from .catalog import NULL, Array, Catalog, Scalar
from .methods import IN_NUMBERS, Method
from .node_types import comment, homes, module, text
from .protocol import NOTE, Protocol, type_name

NAMES = {"list": "listEntries"}

BY_HAND = {"subscribe", "unsubscribe"}
"""Methods that are more than a call: they keep listeners."""

WITH_BYTES = {"retrieve", "store", "download"}
"""Methods whose answers may hold bytes."""

WITH_PATHS = {"store": "stored", "addReadOnlyCachePath": "located"}
"""Methods whose requests are made ready first, and by what."""

SUMMARIES = {
    "rpc.discover": "Returns the server's OpenRPC document, which describes every method it has.",
    "ping": "Resolves when the server has answered; a probe of life and latency.",
    "list": "Goes through the images on disk in an order that no use changes, fetching a page of them when it is needed.",
    "verify": "Reads every image of a cache through, and puts right what is wrong.",
}

NOTES = {
    "retrieve": "Calls for one URL that overlap cause one download. Rejects with the codes of `ErrorCode` from `badData` on.",
    "store": "Either `path`, which is faster, or `data` is needed; a relative path counts from the working directory of this"
    " process. Rejects with `badData` when the bytes are no image, with `storageFailed` when they cannot be kept, and with"
    " `MessageTooLargeError` when `data` is over about 48 MiB.",
    "configure": "Returns the settings in force; without a request it only tells. Rejects with `invalidParams`, which names"
    " the setting, and then nothing has changed.",
    "addReadOnlyCachePath": "A relative path counts from the working directory of this process.",
    "inspect": "Rejects with `notCached`.",
    "forgetFailures": "Returns how many there were.",
    "cancelAll": "Returns how many there were.",
    "verify": "Other calls go on meanwhile.",
}


def js_name(method: Method) -> str:
    return NAMES.get(method.name, method.short)


def offered(methods: List[Method]) -> List[Method]:
    return [method for method in methods if method.name not in BY_HAND]


def _is_single(method: Method) -> bool:
    """True when its only parameter is passed without an object around it."""
    return method.alone is not None and len(method.params) == 1


def request_paths(methods: List[Method]) -> List[str]:
    """The paths of the parameters that have a type of their own."""
    return [_path(method) for method in offered(methods) if method.params and not _is_single(method)]


def _path(method: Method) -> str:
    return type_name(method.name) + "Params"


def _alone(method: Method) -> str:
    """The type of the parameter that may replace a whole request; "" when there is none."""
    if method.alone is None or method.name == "store":
        return ""
    type = method.params[0].type
    return "" if isinstance(type, Array) else " | " + text(type)


def _request(method: Method, catalog: Catalog) -> str:
    if _is_single(method):
        return text(method.params[0].type)
    return text(catalog.at(_path(method))) + _alone(method)


def _result(method: Method) -> str:
    return text(method.result)


def declarations(methods: List[Method], catalog: Catalog) -> str:
    """The class of all methods, as it is declared."""
    body = ["/** The methods of the protocol; each is one of `Client`. */", "export abstract class Methods {"]
    for method in offered(methods):
        words = SUMMARIES.get(method.name, method.summary)
        if _alone(method) and not _is_single(method):
            alone = [part for part in _alone(method)[3:].split(" | ")]
            words += " %s stands for `{%s}`." % (" or a ".join(["A " + alone[0]] + alone[1:]), method.alone)
        if method.name in NOTES:
            words += "\n\n" + NOTES[method.name]
        body += ([""] if len(body) > 2 else []) + comment(words, "  ")
        body += ["  " + line for line in _signatures(method, catalog)]
    for method in methods:
        if method.name in IN_NUMBERS:
            body += _many_signatures(method, catalog)
    known = homes(catalog)
    known.update(dict.fromkeys(("CallOptions", "DataImageResult", "SettledOptions", "UnsettledOptions"), "calls"))
    return module(body + ["}"], known, "methods")


def _signatures(method: Method, catalog: Catalog) -> List[str]:
    name, options = js_name(method), "options?: CallOptions"
    if method.is_paged:
        return [
            "%s(request?: %s, %s): AsyncGenerator<EntryDetails, void, void>;"
            % (name, _request(method, catalog), options)
        ]
    if not method.params:
        return ["%s(%s): Promise<%s>;" % (name, options, _result(method))]
    argument = method.params[0].name if _is_single(method) else "request"
    mark = "" if method.is_needed else "?"
    lines = []
    if method.name == "retrieve":
        kind = 'RetrieveRequest & { as: "data" | "both" }'
        lines.append("retrieve(request: %s, %s): Promise<DataImageResult>;" % (kind, options))
    arguments = "%s%s: %s, %s" % (argument, mark, _request(method, catalog), options)
    return lines + ["%s(%s): Promise<%s>;" % (name, arguments, _result(method))]


def _many_signatures(method: Method, catalog: Catalog) -> List[str]:
    name, result = js_name(method) + "Many", _result(method)
    # A text is one too, of which each character would be a request.
    requests = "requests: Iterable<%s> & object" % _request(method, catalog)
    words = (
        "Does `%s` for each request, all sent in one write; the results are in the order of the requests."
        % js_name(method)
    )
    return (
        [""]
        + comment(words, "  ")
        + ["  %s(" % name, "    %s," % requests, "    options: SettledOptions,"]
        + ["  ): Promise<PromiseSettledResult<%s>[]>;" % result]
        + ["  %s(%s, options?: UnsettledOptions): Promise<%s[]>;" % (name, requests, result)]
    )


_HEAD = """// %s
import { listOf, located, named, stored, withBytes } from "./requests.mjs";

/** How many requests are sent in one write: `client[sendMany](method, requests, options, convert)`. */
export const sendMany = Symbol("sendMany");

/** The methods of the protocol, over `call` and `sendMany`. Their types and words are in `types/methods.d.ts`. */
export class Methods {"""


def code(methods: List[Method]) -> str:
    """The class of all methods, as it runs."""
    lines = (_HEAD % NOTE).split("\n")
    for method in offered(methods):
        lines += ([""] if lines[-1] != "export class Methods {" else []) + ["  " + line for line in _body(method)]
    for method in methods:
        if method.name in IN_NUMBERS:
            convert = ", withBytes" if method.name in WITH_BYTES else ""
            lines += ["", "  async %sMany(requests, options) {" % js_name(method)]
            sent = 'this[sendMany]("%s", listOf("%s", requests), options%s)' % (method.name, method.alone, convert)
            lines += ["    return %s;" % sent, "  }"]
    return "\n".join(lines + ["}"]) + "\n"


def _body(method: Method) -> List[str]:
    name = js_name(method)
    if method.is_paged:
        return [
            "async *%s(request = {}, options) {" % name,
            "  const { pageSize, ...filters } = request;",
            "  let cursor;",
            "  do {",
            '    const page = await this.call("%s", { ...filters, limit: pageSize, cursor }, options);' % method.name,
            "    yield* page.entries;",
            "    cursor = page.cursor;",
            "  } while (cursor !== null && cursor !== undefined);",
            "}",
        ]
    if not method.params:
        arguments, sent = "options", "undefined"
    elif _is_single(method):
        arguments, sent = "%s, options" % method.alone, "{ %s }" % method.alone
    elif method.name in WITH_PATHS:
        arguments, sent = "request, options", "%s(request)" % WITH_PATHS[method.name]
    else:
        arguments, sent = "request, options", 'named("%s", request)' % method.alone if _alone(method) else "request"
    call = 'this.call("%s", %s, options)' % (method.name, sent)
    if method.member:
        call = "(await %s).%s" % (call, method.member)
    elif method.name in WITH_BYTES:
        call = "withBytes(await %s)" % call
    return ["async %s(%s) {" % (name, arguments), "  return %s;" % call, "}"]


def codes(protocol: Protocol) -> str:
    """The table of error codes, as it runs."""
    lines = ["// " + NOTE, "", "/** The stable codes the server answers with, by name. */"]
    lines.append("export const ErrorCode = Object.freeze({")
    lines += ["  %s: %d," % (name, error["code"]) for name, error in protocol.all_errors().items()]
    lines += ["});", "", "/** How many bytes the server reads as one message. */"]
    return "\n".join(lines + ["export const maxMessageBytes = %d;" % protocol.limits["messageBytes"]]) + "\n"
