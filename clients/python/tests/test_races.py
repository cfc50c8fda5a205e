"""What two threads, or a thread and its signal handler, do at the worst moment."""

import os
import signal
import threading
import unittest
from typing import Any, Callable, List, Optional
from unittest import mock

from halcyon import CallCancelled, CallTimedOut, Client, ServerGone
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


class EndTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.client = Client(binary=self.odd_server("echoes"))
        self.addCleanup(self.client.close, 0.2)
        self.transport = self.client._servers._transport

    def test_what_came_just_before_the_end_is_taken_before_the_end_is_told(self) -> None:
        class LateInbox(Inbox):
            """Looked into just before the last one comes, and the end."""

            def take(self) -> Any:
                found = super().take()
                if found is None and not self._finished:
                    self._report("the last one")
                    self._end()
                return found

        self.assertEqual(self.transport._next(LateInbox(), None), "the last one")

    def test_an_answer_that_came_just_before_the_end_stays_the_answer(self) -> None:
        call = Call(99, "a", self.transport, as_it_is, None)

        class Receiver:
            """Looked at just after the answer came, and the end."""

            @property
            def is_over(self) -> bool:
                call._finish("the answer", None)
                return True

        with mock.patch.object(self.transport, "_receiver", Receiver()):
            with mock.patch.object(self.transport, "why_gone", RuntimeError):
                self.transport.wait(call, None)
        self.assertEqual(call.result(0), "the answer")

    def test_a_signal_handler_may_fork_while_an_answer_is_waited_for(self) -> None:
        poller = self.transport._reader._poller

        class Poller:
            poll = staticmethod(self.forking_once(poller.poll))

        with mock.patch.object(self.transport._reader, "_poller", Poller()):
            self.assert_told_after_fork(["a"])

    def test_a_signal_handler_may_fork_while_a_pipe_is_full(self) -> None:
        make_room = self.forking_once(self.transport._writer._make_room)
        with mock.patch.object(self.transport._writer, "_make_room", make_room):
            self.assert_told_after_fork(["a" * 300_000])

    def forking_once(self, wait: Callable[..., Any]) -> Callable[..., Any]:
        """The wait, with a fork at the first time."""
        self.child: Optional[int] = None

        def fork_and_wait(*arguments: Any) -> Any:
            if self.child is None:
                self.child = os.fork()
            return wait(*arguments)

        return fork_and_wait

    def assert_told_after_fork(self, params: List[str]) -> None:
        """The call that forks is answered, and the child is told that the client is not its own."""
        status = 9
        try:
            answer = self.client.call("echo", params, timeout=PATIENCE)
        except ServerGone as error:
            status = 7 if "fork" in str(error) else 8
        finally:
            if self.child == 0:
                os._exit(status)
        assert self.child is not None
        self.assertEqual(answer, params)
        self.assertEqual(os.WEXITSTATUS(os.waitpid(self.child, 0)[1]), 7)


class SilentServerTests(Case):
    def test_a_request_that_is_not_begun_in_its_time_is_not_sent_later(self) -> None:
        client = Client(binary=self.odd_server("remembers-methods"))
        self.addCleanup(client.close, 0.2)
        client.call("methods")
        os.kill(client.pid, signal.SIGSTOP)
        for method in ("begun", "late", "late"):
            with self.assertRaises(CallTimedOut):
                client.call(method, ["a" * 1_000_000], timeout=0.01)
        writer = client._servers._transport._writer
        self.assertLess(sum(len(frame._bytes) for frame in writer._frames), 1_001_000)
        self.assertFalse(client._servers._transport._receiver.pending)
        os.kill(client.pid, signal.SIGCONT)
        seen = client.call("methods", timeout=PATIENCE)
        self.assertEqual([method for method in seen if method != "$/cancelRequest"], ["methods", "begun", "methods"])

    def test_a_call_that_a_thread_reads_for_can_be_cancelled_by_another(self) -> None:
        client = Client(binary=self.odd_server("remembers-methods"))
        self.addCleanup(client.close, 0.2)
        reader = client._servers._transport._reader
        reading = threading.Event()
        is_readable = reader._is_readable

        def tell_and_read(deadline: Optional[float]) -> bool:
            reading.set()
            return is_readable(deadline)

        with mock.patch("halcyon.settling.Settler.add"):  # or its thread would be the one that reads
            future = client.submit("a")
        errors: List[Exception] = []

        def wait() -> None:
            try:
                future.result()
            except CallCancelled as error:
                errors.append(error)

        patched = mock.patch.object(reader, "_is_readable", tell_and_read)
        with patched, mock.patch("halcyon.reading._LONGEST_TURN", 0.01):
            thread = threading.Thread(target=wait, daemon=True)
            thread.start()
            self.assertTrue(reading.wait(PATIENCE))
            self.assertTrue(future.cancel())
            thread.join(PATIENCE)
        self.assertEqual(len(errors), 1)


class ClosingTests(Case):
    def setUp(self) -> None:
        super().setUp()
        patch = mock.patch("halcyon.transport._LAST_WAIT", 0.05)
        patch.start()
        self.addCleanup(patch.stop)
        self.gone: Optional[ServerGone] = None

    def call_that_fills_the_pipe(self, client: Client, when_full: Callable[[], object]) -> threading.Thread:
        """A thread with a call that is larger than the pipe; it does `when_full` before it waits."""
        writer = client._servers._transport._writer
        make_room = writer._make_room

        def tell_and_make_room(descriptor: int, deadline: Optional[float]) -> bool:
            writer._make_room = make_room
            when_full()
            return make_room(descriptor, deadline)

        def call() -> None:
            try:
                client.call("a", ["a" * 1_000_000])
            except ServerGone as error:
                self.gone = error

        writer._make_room = tell_and_make_room
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        return thread

    def assert_ends(self, thread: threading.Thread) -> None:
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())

    def test_a_signal_handler_may_close_the_client_while_its_thread_writes(self) -> None:
        client = Client(binary=self.odd_server("stops-reading"))
        client.notify("stop")
        self.assert_ends(self.call_that_fills_the_pipe(client, lambda: client.close(0)))
        self.assertIsNotNone(self.gone)
        self.assert_gone(client.pid)

    def test_closing_frees_a_thread_that_writes_to_what_the_server_left_behind(self) -> None:
        client = Client(binary=self.odd_server("leaves-a-child-that-does-not-read"))
        self.addCleanup(os.killpg, client.pid, signal.SIGKILL)
        client.ping()
        is_full = threading.Event()
        writing = self.call_that_fills_the_pipe(client, is_full.set)
        self.assertTrue(is_full.wait(PATIENCE))
        closing = threading.Thread(target=client.close, args=(0,), daemon=True)
        closing.start()
        self.assert_ends(closing)
        self.assert_ends(writing)
        self.assertIsNotNone(self.gone)
        self.assert_gone(client.pid)


if __name__ == "__main__":
    unittest.main()
