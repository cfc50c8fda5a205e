"""Asks the cases of ``decisions.py`` of one server, many at a time, and keeps all that is seen from outside."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from typing import Any, Sequence

from .decision_case import Case
from .decision_entry import Step, Subject
from .origin import Origin, Place, Seen
from .server import Server, drop

Json = Any
#: The longest wait for a request behind an answer, in seconds.
PATIENCE = 5.0
ARGUMENTS = ("--clean-interval", "0", "--proxy", "none", "--network-policy", "any", "--max-downloads-per-host", "32")


@dataclasses.dataclass
class Outcome:
    """What came of a case."""

    case: Case
    subject: Subject
    place: Place
    #: The requests that made the entry, with what the origin saw of each.
    steps: list[tuple[Step, list[Seen]]] = dataclasses.field(default_factory=list)
    #: The answers to ``explain``, none when it was not asked.
    explained: list[Json] = dataclasses.field(default_factory=list)
    #: What the origin saw of ``explain``.
    seen_explaining: list[Seen] = dataclasses.field(default_factory=list)
    #: The answer to the request itself.
    reply: Json = None
    #: What the origin saw of it.
    seen: list[Seen] = dataclasses.field(default_factory=list)
    #: The entry after a ``prefetch``.
    inspected: Json = None

    def lines(self) -> str:
        """All of it as JSON lines, to be sent again."""
        lines = []
        for step, seen in self.steps:
            lines += [told(step.method, step.params), origin_saw(seen)]
        if self.case.restarted:
            lines.append("# the server is started anew")
        lines.append(f"# the origin answers from now on: {self.case.now}")
        if self.explained:
            lines += [told("explain", self.subject.question("explain")), *map(answered, self.explained[:1])]
        lines.append(told(self.case.method, self.subject.question(self.case.method)))
        lines += [answered(self.reply), origin_saw(self.seen)]
        if self.inspected is not None:
            lines.append(f"# inspect: {shortened(self.inspected)}")
        return "\n    ".join(lines)


def told(method: str, params: Json) -> str:
    """A request as a JSON line."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def answered(reply: Json) -> str:
    """An answer as a comment below its request."""
    return f"# answer: {shortened(reply)}"


def shortened(reply: Json) -> str:
    """An answer without what says nothing here."""
    result = reply.get("result") or reply.get("error")
    dull = ("data", "mimeType", "frameCount", "cache", "hash", "uri", "storedAt", "expiresAt", "format", "byteCount")
    kept = {name: value for name, value in result.items() if name not in dull or name == "data" and "code" in result}
    return json.dumps(kept)


def origin_saw(seen: Sequence[Seen]) -> str:
    """The requests of the origin as a comment."""
    names = ("if-none-match", "if-modified-since", "authorization", "x-api-key", "accept-language", "cache-control")
    parts = []
    for request in seen:
        fields = {name: request.headers[name] for name in names if name in request.headers}
        parts.append(f"{request.path} {json.dumps(fields)}")
    return f"# the origin saw: {'; '.join(parts) or 'nothing'}"


class Round:
    """One folder, one server (two when it is started anew), and the cases that are asked of it together."""

    def __init__(self, origin: Origin, home: str, number: int) -> None:
        self._origin, self._number = origin, number
        self._home = os.path.join(home, str(number))
        self._folder = os.path.join(self._home, "cache")
        os.makedirs(self._folder)

    def run(self, cases: Sequence[tuple[Case, bool]], restarts: bool) -> list[Outcome]:
        """What comes of the cases; of each it is said whether ``explain`` is asked too."""
        outcomes = [self._outcome(case, number) for number, (case, _) in enumerate(cases)]
        explains = [outcome for outcome, (_, explain) in zip(outcomes, cases) if explain]
        mark = self._outcome(Case(control="max-age=0, stale-while-revalidate=1000000"), len(cases))
        server = Server(self._folder, *ARGUMENTS)
        try:
            self._make([*outcomes, mark], server)
            if restarts:
                server.close()
                server = Server(self._folder, *ARGUMENTS)
            for outcome in outcomes:
                outcome.subject.phase = "now"
            for _ in range(2):
                self._explain(explains, server)
            self._ask(outcomes, server)
            self._settle(outcomes, mark, server)
            self._inspect(outcomes, server)
        finally:
            server.close()
            drop(self._home)
        for outcome in [*outcomes, mark]:
            self._origin.drop(outcome.subject.name)
        return outcomes

    def _outcome(self, case: Case, number: int) -> Outcome:
        subject = Subject(case, f"{self._number}-{number}", self._origin.base, self._home)
        return Outcome(case, subject, self._origin.place(subject.name, subject.script))

    def _make(self, outcomes: Sequence[Outcome], server: Server) -> None:
        plans = [(outcome, list(outcome.subject.steps())) for outcome in outcomes]
        for turn in range(max(len(steps) for _, steps in plans)):
            sent: dict[int, tuple[Outcome, Step, int]] = {}
            for outcome, steps in plans:
                if turn < len(steps):
                    step = steps[turn]
                    outcome.subject.phase = "fails" if step.fails else "first"
                    sent[server.send(step.method, step.params)] = (outcome, step, len(outcome.place.seen))
            replies = server.replies(list(sent))
            for number, (outcome, step, before) in sent.items():
                if "error" in replies[number] and not step.may_fail:
                    raise AssertionError(f"{told(step.method, step.params)}: {replies[number]['error']}")
                outcome.steps.append((step, outcome.place.seen[before:]))

    def _explain(self, outcomes: Sequence[Outcome], server: Server) -> None:
        sent = []
        for outcome in outcomes:
            before = len(outcome.place.seen)
            sent.append((outcome, before, server.send("explain", outcome.subject.question("explain"))))
        replies = server.replies([number for _, _, number in sent])
        for outcome, before, number in sent:
            outcome.explained.append(replies[number])
            outcome.seen_explaining += outcome.place.seen[before:]

    def _ask(self, outcomes: Sequence[Outcome], server: Server) -> None:
        """Sends the requests. One that is to be answered before its origin is asked meets a gate until it is answered."""
        sent = {}
        held = []
        for outcome in outcomes:
            outcome.place.seen = []
            explained = outcome.explained[0].get("result", {}) if outcome.explained else {}
            if explained.get("verdict") == "answerAndRefresh":
                held.append(outcome)
            else:
                method = outcome.case.method
                sent[server.send(method, outcome.subject.question(method))] = outcome
        for number, reply in server.replies(list(sent)).items():
            sent[number].reply = reply
        for outcome in held:
            outcome.place.gate = threading.Event()
            outcome.reply = server.ask(outcome.case.method, outcome.subject.question(outcome.case.method))
            outcome.place.gate.set()

    def _settle(self, outcomes: Sequence[Outcome], mark: Outcome, server: Server) -> None:
        """Waits for what is loaded behind answers: what is promised, and then for one that was begun after all others."""
        for outcome in outcomes:
            if outcome.place.gate is not None:
                self._origin.awaits(lambda place=outcome.place: bool(place.seen), PATIENCE)  # type: ignore[misc]
        mark.place.seen = []
        server.result("retrieve", {"url": mark.subject.url, "as": "data", "options": {"revalidate": "http"}})
        if not self._origin.awaits(lambda: bool(mark.place.seen), PATIENCE):
            raise AssertionError("The image that marks the end of a round was not loaded anew behind its answer.")
        for outcome in outcomes:
            outcome.seen = list(outcome.place.seen)

    def _inspect(self, outcomes: Sequence[Outcome], server: Server) -> None:
        for outcome in outcomes:
            if outcome.case.method == "prefetch" and "result" in outcome.reply:
                options = outcome.subject.question("prefetch")["options"]
                users = ("authorization", "headers", "scope", "credentialScope")
                given = {name: value for name, value in options.items() if name in users}
                params: dict[str, Json] = {"key": outcome.subject.key, "options": given}
                if outcome.case.processors:
                    params["processors"] = outcome.case.processors
                outcome.inspected = server.ask("inspect", params)
