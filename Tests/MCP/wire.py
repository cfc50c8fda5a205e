"""The Model Context Protocol on the wire: every message is held against the schema of its version."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import jsonschema

STATELESS = "2026-07-28"
SESSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"]
#: The types of each method in the schemas: of its request, and of its result.
METHODS = {
    "initialize": ("InitializeRequest", "InitializeResult"),
    "ping": ("PingRequest", "EmptyResult"),
    "server/discover": ("DiscoverRequest", "DiscoverResult"),
    "tools/list": ("ListToolsRequest", "ListToolsResult"),
    "tools/call": ("CallToolRequest", "CallToolResult"),
    "resources/list": ("ListResourcesRequest", "ListResourcesResult"),
    "resources/templates/list": ("ListResourceTemplatesRequest", "ListResourceTemplatesResult"),
    "resources/read": ("ReadResourceRequest", "ReadResourceResult"),
    "prompts/list": ("ListPromptsRequest", "ListPromptsResult"),
}
#: The types of notifications, by method.
NOTIFICATIONS = {
    "notifications/initialized": "InitializedNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/progress": "ProgressNotification",
}
#: The types of errors by their code, in the versions that have such types.
ERRORS = {
    -32700: "ParseError",
    -32600: "InvalidRequestError",
    -32601: "MethodNotFoundError",
    -32602: "InvalidParamsError",
    -32603: "InternalError",
}
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
#: What a request of the version without sessions says about itself.
META = {VERSION_KEY: STATELESS, "io.modelcontextprotocol/clientCapabilities": {}}


@lru_cache(maxsize=None)
def _types(version: str) -> Tuple[Any, str, Dict[str, Any]]:
    # There is no schema of 2025-03-26 as data; what we send is the same.
    version = "2025-06-18" if version == "2025-03-26" else version
    schema = json.loads((Path(__file__).parent / "schemas" / f"{version}.json").read_text(encoding="utf-8"))
    place = "$defs" if "$defs" in schema else "definitions"
    return jsonschema.validators.validator_for(schema), place, schema[place]


@lru_cache(maxsize=None)
def _validator(version: str, name: str) -> Any:
    kind, place, types = _types(version)
    return kind({"$ref": f"#/{place}/{name}", place: types})


def is_there(version: str, name: str) -> bool:
    """Whether that version has the type ``name``."""
    return name in _types(version)[2]


def check(version: str, name: str, value: Any) -> None:
    """Fails unless ``value`` is a ``name`` of that version of the protocol."""
    assert is_there(version, name), f"{version} has no {name}: {str(value)[:500]}"
    _validator(version, name).validate(value)


class Wire:
    """All messages of one client and its server, each held against its own type in the schema of its era: that which a
    request names, or that of the session."""

    def __init__(self, version: str) -> None:
        self.version = version
        #: ``True`` when anything may have been sent: then there are answers whose request is not known.
        self.is_hostile = False
        self.seen: List[str] = []
        self._open: Dict[Any, Tuple[str, str]] = {}
        self._tokens: Dict[Any, str] = {}

    @property
    def open(self) -> List[str]:
        """The methods of the requests that are not answered yet."""
        return [method for _, method in self._open.values()]

    def sent(self, message: Dict[str, Any]) -> None:
        """Takes a message of the client."""
        method = message["method"]
        meta = message.get("params", {}).get("_meta", {})
        version = meta.get(VERSION_KEY, self.version)
        if "id" not in message:
            self._notification("ClientNotification", version, message)
            return
        # A version that does not exist is answered in the session.
        version = version if version in [STATELESS] + SESSIONS else self.version
        check(version, "JSONRPCRequest", message)
        check(version, "ClientRequest", message)
        check(version, METHODS[method][0], message)
        self.expect(message["id"], version, method, meta.get("progressToken"))

    def expect(self, number: Any, version: str, method: str, token: Any = None) -> None:
        """Takes a request as it is, whose answer will be held against the type of its method all the same."""
        assert number not in self._open, number
        self._open[number] = (version, method)
        if token is not None:
            self._tokens[token] = version

    def received(self, message: Dict[str, Any]) -> None:
        """Takes a message of the server."""
        if "method" in message:
            assert "id" not in message, message
            version = self._tokens[message["params"]["progressToken"]]
            self._notification("ServerNotification", version, message)
            return
        assert message["id"] is not None, message
        assert self.is_hostile or message["id"] in self._open, f"nothing was asked: {str(message)[:500]}"
        version, method = self._open.pop(message["id"], (self.version, ""))
        if "error" in message:
            self._error(version, message)
            return
        envelope = "JSONRPCResultResponse"
        check(version, envelope if is_there(version, envelope) else "JSONRPCResponse", message)
        if method:
            check(version, METHODS[method][1], message["result"])
            self.seen.append(METHODS[method][1])
        if method == "initialize":
            self.version = message["result"]["protocolVersion"]

    def _notification(self, kind: str, version: str, message: Dict[str, Any]) -> None:
        check(version, "JSONRPCNotification", message)
        check(version, kind, message)
        check(version, NOTIFICATIONS[message["method"]], message)
        self.seen.append(NOTIFICATIONS[message["method"]])

    def _error(self, version: str, message: Dict[str, Any]) -> None:
        envelope = "JSONRPCErrorResponse"
        check(version, envelope if is_there(version, envelope) else "JSONRPCError", message)
        code = message["error"]["code"]
        if code == -32022:
            check(STATELESS, "UnsupportedProtocolVersionError", message)
        # The specification keeps these for itself, and defines only some.
        assert code == -32022 or not -32099 <= code <= -32020, message
        if code in ERRORS:
            check(STATELESS, ERRORS[code], message["error"])
