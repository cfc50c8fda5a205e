"""Holds the schemas and errors of protocol/openrpc.json against what a server answers, for every method.

Usage: live.py DOCUMENT.json SERVER PICTURE. Needs the Debian package python3-jsonschema. Exit code 1 and one line per offence.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Tuple

import jsonschema

Json = Dict[str, Any]
GONE = "http://127.0.0.1:1/gone.png"
#: What JSON-RPC defines for every message; the document does not list it.
COMMON = {-32700, -32600, -32601}


def requests(picture: str, folder: str) -> Iterator[Tuple[str, Any, bool]]:
    """The requests: the method, its params, and whether they are good."""
    url, missing = pathlib.Path(picture).as_uri(), pathlib.Path(picture + ".missing").as_uri()
    key, step = {"key": "k"}, {"processors": [{"resize": {"width": 4, "mode": None}}, {"blackWhite": {}}]}
    null = {"cache": None, "options": None}
    yield "store", {**key, "path": picture, "data": None, "metadata": {"a": "b"}, **null}, True
    yield "store", {"key": "d", "data": "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=", "processors": None}, True
    yield from (("store", params, False) for params in (key, {**key, "path": picture, "data": "AA=="}, {"path": picture}))
    yield "store", {**key, "data": "AA=="}, True
    yield "store", {**key, "path": picture + ".missing"}, True
    yield "store", {**key, "path": picture, "cache": ".bad"}, False
    for method in ("retrieve", "download", "probe", "explain"):
        for source in (url, missing, GONE, "no url", "ftp://h/x", "data:,"):
            yield method, {"url": source, "options": {"retry": None, "timeout": 5.0, "headers": {}}}, True
        yield method, {}, False
        yield method, {"url": url, "options": {"retry": 5}}, False
    for form in ("path", "data", "both", "none", "dataUrl", "pixels", None):
        yield "retrieve", {"url": url, "as": form}, True
    yield "retrieve", {"url": url, **step}, True
    yield "retrieve", {"url": url, "processors": [{"format": {"to": "heic"}}]}, True
    yield "retrieve", {"url": url, "as": "bytes"}, False
    yield "retrieve", {"url": GONE, "options": {"onlyFromCache": True, "deadline": 5}}, True
    yield "retrieve", {"url": url, "options": {"forceRefresh": True, "maxBytes": 1, "integrity": None}}, True
    for method in ("isCached", "cachePath", "inspect", "remove"):
        yield method, {**key, **null}, True
        yield method, {"key": "none"}, True
        yield method, {"key": ""}, False
        yield method, {**key, "cache": "a/b"}, False
    yield "prefetch", {"urls": [url, GONE], "maxConcurrent": None}, True
    yield "prefetch", {"urls": url}, False
    yield "stopPrefetch", {"id": 7}, True
    yield "stopPrefetch", {"id": {}}, False
    yield "setPriority", {"id": 7, "priority": "high"}, True
    yield "setPriority", {"id": 7, "priority": 9}, False
    yield "cancelAll", {"url": None, "cache": None, "slot": None}, True
    yield "cancelAll", {"url": 5}, False
    yield "pause", {"what": None}, True
    yield "pause", {"what": "some"}, False
    yield "list", {"limit": 2, "cursor": None, "host": None}, True
    yield "list", {"limit": 2.5}, False
    yield "list", {"limit": 2.0}, True
    yield "forgetFailures", {"url": None}, True
    yield "forgetFailures", {"url": 1}, False
    yield "verify", {"repair": None}, True
    yield "verify", {"repair": 1}, False
    yield "configure", {"memory": {"totalBytesLimit": 1000000.0}, "disk": {}, "downloader": None}, True
    yield "configure", {"memory": False}, True
    yield "configure", {"memory": {"totalBytesLimit": -1}}, False
    yield "addReadOnlyCachePath", {"path": folder}, True
    yield "addReadOnlyCachePath", {"path": "relative"}, False
    yield "subscribe", {"events": ["log"]}, True
    yield "subscribe", {"events": ["nothing"]}, False
    yield "unsubscribe", {"events": ["log"]}, True
    yield "unsubscribe", {"events": 1}, False
    for method in ("calculateSize", "listFailures", "cleanExpired", "clearMemory", "clearDisk", "clear"):
        yield method, {"cache": None}, True
        yield method, {"cache": "a/b"}, False
    for method in ("stats", "checkRemote", "resume", "caches", "rpc.discover"):
        yield method, {}, True
        yield method, {"surplus": 1}, False
    yield "ping", {"anything": 1}, True
    yield "initialize", {"processId": 0}, False
    yield "initialize", {"processId": None, "capabilities": {"delegates": []}, "initializationOptions": {"memory": None}}, True
    yield "shutdown", {}, True


class Checker:
    """The document, and what was found to be untrue of it."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self.methods = {method["name"]: method for method in document["methods"]}
        self.codes = {name: error["code"] for name, error in document["components"]["errors"].items()}
        self.offences: List[str] = []

    def errors(self, schema: Any, value: Any) -> List[str]:
        resolver = jsonschema.RefResolver("", self.document)
        return [error.message[:300] for error in jsonschema.Draft7Validator(schema, resolver=resolver).iter_errors(value)]

    def params(self, method: Json) -> Json:
        """The schema of the params by name, as protocol/pages.py makes it."""
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "protocol"))
        import pages

        return pages.params_schema(method)

    def check(self, name: str, params: Any, is_good: bool, reply: Json) -> None:
        method, at = self.methods[name], "%s %s" % (name, json.dumps(params)[:120])
        refused = self.errors(self.params(method), params)
        if is_good and refused:
            self.offences.append("%s: the schema refuses it: %s" % (at, refused[0]))
        if not is_good and not refused:
            self.offences.append("%s: the schema lets it pass" % at)
        if "error" not in reply:
            if not is_good:
                self.offences.append("%s: it was answered" % at)
            for error in self.errors(method["result"]["schema"], reply["result"]):
                self.offences.append("%s: the result is not as its schema: %s" % (at, error))
            return
        code = reply["error"]["code"]
        listed = {self.codes[error["$ref"].rsplit("/", 1)[1]] for error in method["errors"]}
        if code not in listed | COMMON:
            self.offences.append("%s: its error %d is not listed" % (at, code))
        if is_good == (code == -32602):
            self.offences.append("%s: %s" % (at, reply["error"]["message"]))


def main() -> int:
    document, server, picture = json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2], sys.argv[3]
    checker = Checker(document)
    with tempfile.TemporaryDirectory() as folder:
        cases = list(requests(picture, folder))
        asked = {name for name, _, _ in cases}
        for name, method in checker.methods.items():
            if ("result" in method) != (not method.get("x-notification")):
                checker.offences.append("%s: a request has a result, a notification is marked" % name)
            if "result" in method and name not in asked:
                checker.offences.append("%s: nothing is asked here" % name)
        process = subprocess.Popen(
            [server, "serve", "--cache-dir", folder + "/cache"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin and process.stdout
        for number, (name, params, is_good) in enumerate(cases):
            message = {"jsonrpc": "2.0", "id": number, "method": name, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            reply: Json = {}
            while reply.get("id") != number:
                reply = json.loads(process.stdout.readline())
            checker.check(name, params, is_good, reply)
        process.stdin.close()
        process.wait()
    for offence in checker.offences:
        print(offence)
    return 1 if checker.offences else 0


if __name__ == "__main__":
    sys.exit(main())
