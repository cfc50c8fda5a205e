"""The asynchronous client and the event loop it shares with the rest of a program."""

import asyncio
import concurrent.futures
import threading
import unittest
from typing import Any

from halcyon import AsyncClient, LimitExceeded, Progress, ServerGone

from halcyon.failures import CLOSED

from .support import PATIENCE, Case


class EventLoopTests(Case):
    def run_with(self, behaviour: str, work: Any) -> Any:
        async def run() -> Any:
            async with AsyncClient(binary=self.odd_server(behaviour)) as client:
                return await asyncio.wait_for(work(client), PATIENCE)

        return asyncio.run(run())

    def test_calls_learn_of_the_end_of_the_server_while_every_thread_of_the_loop_waits_for_them(self) -> None:
        async def work(client: AsyncClient) -> None:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
            gate = threading.Event()
            busy = loop.run_in_executor(None, gate.wait, PATIENCE)
            try:
                with self.assertRaises(ServerGone) as caught:
                    await asyncio.wait_for(client.call("a"), PATIENCE / 2)
                self.assertEqual(caught.exception.exit_status, 3)
            finally:
                gate.set()
                await busy

        self.run_with("dies", work)

    def test_what_a_progress_callback_raises_ends_its_own_call_alone(self) -> None:
        class Odd(BaseException):
            pass

        for kind in (asyncio.CancelledError, Odd, KeyError):

            async def work(client: AsyncClient) -> None:
                def leave(report: Progress) -> None:
                    raise kind

                left, other = client.call("a", progress=leave), client.call("b")
                found = await asyncio.gather(left, other, return_exceptions=True)
                self.assertEqual((type(found[0]), found[1]), (kind, "b"))

            with self.subTest(kind=kind):
                self.run_with("reports-and-answers-at-once", work)

    def test_a_loop_that_a_progress_callback_ended_goes_on_with_what_came_beside_the_report(self) -> None:
        def leave(report: Progress) -> None:
            raise SystemExit

        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        client = loop.run_until_complete(AsyncClient(binary=self.odd_server("reports-and-answers-at-once")).start())
        left = loop.create_task(client.call("a", progress=leave))
        other = loop.create_task(client.call("b"))
        with self.assertRaises(SystemExit):
            loop.run_until_complete(asyncio.wait_for(other, PATIENCE))
        both = asyncio.gather(left, other)
        self.assertEqual(loop.run_until_complete(asyncio.wait_for(both, PATIENCE)), ["a", "b"])
        loop.run_until_complete(client.close(0.2))

    def test_a_line_of_an_odd_shape_ends_the_connection_and_the_server(self) -> None:
        async def work(client: AsyncClient) -> None:
            with self.assertRaises(ServerGone) as caught:
                await client.call("a", {"line": line})
            self.assertIn("it wrote a line", str(caught.exception))

        for line in ("[" * 100_000, '{"method":"$/progress","params":[1]}', '{"id":1,"error":"no"}'):
            with self.subTest(line=line[:40]):
                self.run_with("writes-what-it-is-told", work)

    def test_what_the_server_would_not_read_is_refused_before_it_is_sent(self) -> None:
        async def work(client: AsyncClient) -> None:
            with self.assertRaises(ValueError):
                await client.notify("x/y", {"a": "\ud800"})
            with self.assertRaises(LimitExceeded):
                await client.notify("x/y", {"a": "b" * 67108864})
            self.assertEqual(await client.call("echo", [1]), [1])

        self.run_with("echoes", work)

    def test_a_client_that_is_closed_after_a_death_says_that_it_is_closed(self) -> None:
        async def work(client: AsyncClient) -> None:
            with self.assertRaises(ServerGone):
                await client.ping()
            await client.close()
            for call in (client.ping(), client.next_event()):
                with self.assertRaises(ServerGone) as caught:
                    await call
                self.assertEqual((str(caught.exception), caught.exception.retryable), (CLOSED, False))

        self.run_with("dies", work)

    def test_a_start_that_failed_is_tried_again_by_the_next(self) -> None:
        async def run() -> None:
            client = AsyncClient(binary=self.odd_server("dies"), delegates={"downloader/redirect": lambda request: {}})
            for _ in range(2):
                with self.assertRaises(ServerGone):
                    await client.start()
            self.assertIsNone(client.pid)

        asyncio.run(run())
        self.assertEqual(self.starts(), 2)


if __name__ == "__main__":
    unittest.main()
