"""Ctrl-C at every point of a call at which Python may raise it; the client is as good as before."""

import concurrent.futures
import os
import subprocess
import sys
import threading
import unittest
import warnings
from types import FrameType
from typing import Any, Callable, List, Tuple
from unittest import mock

import halcyon
from halcyon import Client
from halcyon.calls import Call, PendingCall
from halcyon.incoming import Incoming
from halcyon.receiver import Receiver

from .support import PATIENCE, Case

_PACKAGE = os.path.dirname(os.path.abspath(halcyon.__file__))


class Interrupt:
    """Raises KeyboardInterrupt at one point of what runs in this package.

    The points are those at which Python looks for signals: the beginning of each function, and
    the end of each call into C. (It does so where a loop goes back too, which is left out here.)
    """

    def __init__(self, number: int, files: Tuple[str, ...] = (_PACKAGE,)) -> None:
        self.left = number
        self._files = files
        """The points that are left to the interrupt; more than 0 at the end if it did not come."""

    def run(self, work: Callable[[], object]) -> None:
        """Does the work, with the interrupt if it has that many points."""
        sys.setprofile(self._note)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_name == "_abandon":  # a finalizer, of which Python drops what it raises
            return
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(self._files):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


class InterruptTests(Case):
    def assert_survives(self, work: Callable[[Client], object], least: int = 40) -> None:
        """Interrupts the work at each of its points; it has more than `least`."""
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        work(client)
        number = 0
        while True:
            number += 1
            interrupt = Interrupt(number)
            interrupt.run(lambda: work(client))
            self.assertFalse(client.is_cached("none", timeout=PATIENCE), "after point %d" % number)
            if interrupt.left > 0 and number > least:
                return

    def test_a_call_may_be_interrupted_anywhere(self) -> None:
        self.assert_survives(lambda client: client.is_cached("none"))

    def test_a_call_with_a_time_out_may_be_interrupted_anywhere(self) -> None:
        self.assert_survives(lambda client: client.is_cached("none", timeout=PATIENCE))

    def test_many_calls_may_be_interrupted_anywhere(self) -> None:
        keys: List[str] = ["none %d" % number for number in range(3)]
        self.assert_survives(lambda client: client.is_cached_many(keys), 80)

    def test_a_submitted_call_may_be_interrupted_anywhere(self) -> None:
        self.assert_survives(
            lambda client: client.submit("isCached", {"key": "none"}).result(PATIENCE), 80
        )

    def test_a_call_that_was_interrupted_while_it_was_submitted_leaves_no_thread(self) -> None:
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        number = 0
        while True:
            number += 1
            interrupt = Interrupt(number)
            interrupt.run(lambda: client.submit("isCached", {"key": "none"}))
            self.assertFalse(client.is_cached("none", timeout=PATIENCE))
            for thread in threading.enumerate():
                if thread.name == "halcyon answers":
                    thread.join(PATIENCE)
                    self.assertFalse(thread.is_alive(), "after point %d" % number)
            if interrupt.left > 0:
                break
        self.assertGreater(number, 30)

    def test_a_future_may_be_interrupted_anywhere_and_the_others_are_completed(self) -> None:
        # Those of Python's futures too.
        files = (_PACKAGE, concurrent.futures._base.__file__, threading.__file__)
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        number = 0
        while True:
            number += 1
            call = client.submit("isCached", {"key": "none"})
            interrupt = Interrupt(number, files)
            interrupt.run(lambda: (call.result(), call.exception(), call.done()))
            self.assertFalse(call.result(PATIENCE))
            following = client.submit("isCached", {"key": "none"})
            done = concurrent.futures.wait([following], PATIENCE).done
            self.assertEqual(len(done), 1, "after point %d" % number)
            if interrupt.left > 0:
                break
        self.assertGreater(number, 15)

    def test_ctrl_c_while_a_future_is_completed_comes_out_and_spares_the_future(self) -> None:
        interrupts = [KeyboardInterrupt()]

        def decode(value: Any) -> Any:
            if interrupts:
                raise interrupts.pop()
            return value

        call = Call(1, "a", mock.Mock(), decode, None)
        future = PendingCall(call, mock.Mock())
        call._finish("the answer", None)
        with self.assertRaises(KeyboardInterrupt):
            future.result(0)
        self.assertEqual(future.result(0), "the answer")

    def test_a_message_of_many_pieces_may_be_interrupted_anywhere(self) -> None:
        # Larger than a pipe, both ways: the error shows the key.
        self.assert_survives(lambda client: client.call("isCached", {"key": "k" * 300_000}), 80)

    def test_closing_may_be_interrupted_anywhere_and_done_again(self) -> None:
        number = 0
        while True:
            number += 1
            client = Client(cache_dir=self.cache)
            client.ping()
            interrupt = Interrupt(number)
            interrupt.run(client.close)
            client.close()
            self.assert_gone(client.pid)
            if interrupt.left > 0:
                break
        self.assertGreater(number, 40)

    def test_starting_the_next_server_may_be_interrupted_anywhere_and_leaves_none_behind(self) -> None:
        children: "List[subprocess.Popen[bytes]]" = []

        def start(*arguments: Any, **more: Any) -> "subprocess.Popen[bytes]":
            children.append(popen(*arguments, **more))
            return children[-1]

        popen = subprocess.Popen
        number = 0
        # What is interrupted just before it is given away is closed as it is forgotten.
        catching = warnings.catch_warnings()
        catching.__enter__()
        self.addCleanup(catching.__exit__, None, None, None)
        warnings.simplefilter("ignore", ResourceWarning)
        with mock.patch("halcyon.lives.FREE_DEATHS", 1 << 40), mock.patch("subprocess.Popen", start):
            while True:
                number += 1
                client = Client(cache_dir=self.cache, delegates={"downloader/redirect": lambda _: {}})
                self.kill(client.pid)
                interrupt = Interrupt(number)
                interrupt.run(client.ping)
                client.close()
                while children:
                    self.assertIsNotNone(children.pop().poll(), "after point %d" % number)
                if interrupt.left > 0:
                    break
        self.assertGreater(number, 100)

    def test_each_notification_is_delivered_once_whatever_is_interrupted(self) -> None:
        lines = [b'{"method":"a","params":{}}\n{"me', b'thod":"b"}\n\n', b'{"id":7,"result":1}\n{"method":"c"}\n']
        number = 0
        while True:
            number += 1
            reading, writing = os.pipe()
            os.write(writing, b"".join(lines))
            os.close(writing)
            incoming = Incoming(reading)
            receiver = Receiver(mock.Mock())
            interrupt = Interrupt(number)

            def work() -> None:
                incoming.read()
                receiver.deal(incoming)

            interrupt.run(work)
            while incoming.next_line() != b"":
                work()
            os.close(reading)
            methods = [receiver.events.take() for _ in range(4)]
            self.assertEqual([event and event["method"] for event in methods], ["a", "b", "c", None])
            if interrupt.left > 0:
                break
        self.assertGreater(number, 20)


if __name__ == "__main__":
    unittest.main()
