"""What two threads, or a thread and its signal handler, do at the worst moment."""

import threading
import unittest
from typing import Any, List
from unittest import mock

from halcyon import Client
from halcyon.calls import Awaited, Call, Inbox
from halcyon.decoding import as_it_is
from halcyon.turns import ReadingTurn

from .support import PATIENCE, Case


class TurnTests(unittest.TestCase):
    def test_a_signal_handler_may_pass_the_turn_on_while_its_thread_does(self) -> None:
        turn = ReadingTurn()
        handled: List[bool] = []

        class Waker:
            """Opened as the signal comes, whose handler uses the client too."""

            def release(self) -> None:
                if not handled:
                    handled.append(True)
                    turn.pass_on()

        turn._sleepers[Waker()] = None
        thread = threading.Thread(target=turn.pass_on, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())

    def test_a_turn_that_comes_to_a_sleeper_whose_answer_is_here_goes_to_the_next(self) -> None:
        turn, call, waker = ReadingTurn(), Awaited(None), threading.Lock()
        waker.acquire()

        class State:
            """Taken to begin the sleep, and to end it: by then the answer has come."""

            taken = 0

            def __enter__(self) -> None:
                self.taken += 1
                if self.taken == 2:
                    turn._sleepers[waker] = None
                    call._end()

            def __exit__(self, *error: Any) -> None:
                pass

        with mock.patch.object(turn, "_state", State()):
            self.assertTrue(turn.sleep(call, None))
        self.assertFalse(waker.locked())


if __name__ == "__main__":
    unittest.main()
