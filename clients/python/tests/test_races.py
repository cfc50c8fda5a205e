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


if __name__ == "__main__":
    unittest.main()
