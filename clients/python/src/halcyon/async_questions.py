"""What the server asks the asynchronous client, each question in a task of its own."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Callable, Dict, Optional

from .delegates import AsyncDelegates, failure_frame, params_of, result_frame


class AsyncQuestions:
    """The questions of one server that are open. `write` takes an answer, unless the server is gone."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, delegates: AsyncDelegates, write: Callable[[bytes], None]
    ) -> None:
        self._loop = loop
        self._delegates = delegates
        self._write = write
        self._open: Dict[Any, Optional["asyncio.Task[None]"]] = {}

    def ask(self, question: Dict[str, Any]) -> None:
        """Has a question of the server answered."""
        identifier = question["id"]
        self._open[identifier] = None  # before the task is there, which may begin within `create_task`
        task = self._loop.create_task(self._answer(question))
        self._open[identifier] = task
        task.add_done_callback(lambda _: self._open.pop(identifier, None))

    def withdraw(self, identifier: Any) -> None:
        """Lets go of the question with that id: the server no longer wants the answer."""
        task = self._open.pop(identifier, None)
        if task is not None:
            task.cancel()

    def withdraw_all(self) -> None:
        """Lets go of all questions: the server has ended."""
        for identifier in tuple(self._open):
            self.withdraw(identifier)

    async def _answer(self, question: Dict[str, Any]) -> None:
        identifier, method = question["id"], question["method"]
        delegate = self._delegates.get(method)
        try:
            if delegate is None:
                frame = failure_frame(identifier, method, None)
            else:
                result = delegate(params_of(question))
                frame = result_frame(identifier, await result if inspect.isawaitable(result) else result)
        except BaseException as error:  # CancelledError too, of what the delegate waited for
            if identifier not in self._open:
                raise
            frame = failure_frame(identifier, method, error)
            if isinstance(error, (SystemExit, KeyboardInterrupt)):  # these end the loop
                self._write(frame)
                raise
        self._write(frame)
