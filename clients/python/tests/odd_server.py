"""A server that behaves as the real one never should, one way for each argument."""

import json
import os
import signal
import sys
from typing import Any, Iterator, List


def requests() -> Iterator[Any]:
    for line in sys.stdin.buffer:
        yield json.loads(line)


def write(message: Any) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


def answer(request: Any, result: Any) -> None:
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})


behaviour = sys.argv[1]

if behaviour == "dies":
    next(requests())
    os._exit(3)
elif behaviour == "dies-at-once":
    sys.stderr.write("looking around\ncannot go on: no room\n")
    sys.exit(3)
elif behaviour == "answers-one":
    answer(next(requests()), "an answer")
    sys.stderr.write("line 1\nline 2\nthe last words")
    sys.exit(4)
elif behaviour == "dies-by-signal":
    next(requests())
    os.kill(os.getpid(), signal.SIGKILL)
elif behaviour == "answers-then-dies":
    answer(next(requests()), "the last words")
    os._exit(0)
elif behaviour == "writes-garbage":
    next(requests())
    os.write(1, b"Segmentation fault (just kidding)\n")
    for _ in requests():
        pass
elif behaviour == "writes-garbage-beside-a-child":
    next(requests())
    if os.fork() > 0:
        os.write(1, b"Segmentation fault (just kidding)\n")
    for _ in requests():
        pass
elif behaviour == "writes-what-it-is-told":
    for request in requests():
        os.write(1, request["params"]["line"].encode() + b"\n")
elif behaviour == "leaves-a-child-that-does-not-read":
    first = next(requests())
    if os.fork() > 0:
        answer(first, None)
    signal.pause()
elif behaviour == "stops-reading":
    for request in requests():
        if request["method"] == "stop":
            os.close(0)
            break
    signal.pause()
elif behaviour == "cannot-tell-the-id":
    next(requests())
    write({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Not JSON."}})
    for request in requests():
        answer(request, "still here")
elif behaviour == "answers-backwards":
    source = requests()
    batch = [next(source) for _ in range(3)]
    for request in reversed(batch):
        answer(request, request["params"])
    for _ in source:
        pass
elif behaviour == "reports-and-answers-at-once":
    source = requests()
    both = [next(source), next(source)]
    value = {"kind": "begin", "title": "both"}
    lines: List[Any] = [{"method": "$/progress", "params": {"token": both[0]["id"], "value": value}}]
    lines += [{"id": request["id"], "result": request["method"]} for request in both]
    os.write(1, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    for _ in source:
        pass
elif behaviour == "reads-only-the-first-time":
    if len(open(sys.argv[2]).readlines()) > 1:
        signal.pause()
    for request in requests():
        answer(request, None)
elif behaviour == "tells-of-subscriptions":
    for request in requests():
        answer(request, None)
        if request["method"] == "subscribe":
            write({"method": "log", "params": {"pid": os.getpid()}})
elif behaviour == "asks":
    source = requests()
    for request in source:
        if request["method"] == "ask":
            write({"id": "q%d" % request["id"], "method": request["params"]["method"], "params": {}})
            answer(request, next(source))
        else:
            answer(request, None)
elif behaviour == "echoes":
    for request in requests():
        if "id" in request:
            answer(request, request["params"])
elif behaviour == "answers-in-crumbs":
    for request in requests():
        reply = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": "x" * 300}).encode()
        for byte in b"\r\n\n" + reply + b"\r\n":
            os.write(1, bytes([byte]))
elif behaviour == "is-from-the-future":
    for request in requests():
        answer(
            request,
            {"key": "k", "cacheType": "memory", "frameCount": 2, "colourProfile": "P3"},
        )
elif behaviour == "floods-stderr":
    for request in requests():
        for line in range(20_000):
            sys.stderr.write("line %d of the flood, which is longer than a pipe holds\n" % line)
        sys.stderr.flush()
        answer(request, None)
elif behaviour == "remembers-cancels":
    cancelled: List[int] = []
    to_interrupt = 0
    for request in requests():
        params = request["params"]
        if request["method"] == "$/cancelRequest":
            cancelled.append(params["id"])
        elif request["method"] == "cancelled":
            answer(request, cancelled)
        elif request["method"] == "interrupt-me":
            to_interrupt = params["pid"]
        elif request["method"] == "slow":
            if "workDoneToken" in params:
                value = {"kind": "begin", "title": "slow"}
                token = params["workDoneToken"]
                write({"method": "$/progress", "params": {"token": token, "value": value}})
            if to_interrupt:
                os.kill(to_interrupt, signal.SIGINT)
elif behaviour == "remembers-methods":
    methods: List[str] = []
    for request in requests():
        methods.append(request["method"])
        if request["method"] == "methods":
            answer(request, methods)
elif behaviour == "will-not-end":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for request in requests():
        answer(request, None)
    while True:
        signal.pause()
elif behaviour == "knows-new-errors":
    for request in requests():
        error = {"code": 12345, "message": "Something new.", "data": {"name": "brandNew"}}
        write({"jsonrpc": "2.0", "id": request["id"], "error": error})
else:
    sys.exit("no such behaviour: " + behaviour)
