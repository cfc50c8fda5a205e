"""The clients against servers that die, lie, stall or come from the future."""

import asyncio
import concurrent.futures
import logging
import os
import signal
import sys
import tempfile
import threading
import unittest
from typing import Any, List

from halcyon import (
    AsyncClient,
    CallTimedOut,
    Client,
    HalcyonError,
    LimitExceeded,
    ParseError,
    Progress,
    ServerGone,
)

from halcyon.failures import CLOSED

from .support import PATIENCE, Case

_before: Any = None


def setUpModule() -> None:
    """A shell starts what runs in the background with Ctrl-C ignored; these tests are about Ctrl-C."""
    global _before
    _before = signal.signal(signal.SIGINT, signal.default_int_handler)


def tearDownModule() -> None:
    signal.signal(signal.SIGINT, _before)


class SyncClient(Case):
    def client(self, behaviour: str, **more: Any) -> Client:
        client = Client(binary=self.odd_server(behaviour), **more)
        self.addCleanup(client.close, 0.2)
        return client

    def test_a_server_that_dies_fails_every_open_call_with_its_exit_status(self) -> None:
        client = self.client("dies")
        calls = [client.submit("a"), client.submit("b")]
        for call in calls:
            with self.assertRaises(ServerGone) as caught:
                call.result(PATIENCE)
            self.assertIn("exit status 3", str(caught.exception))
            self.assertEqual(caught.exception.exit_status, 3)
        with self.assertRaises(ServerGone):
            client.ping()
        client.close()
        self.assert_gone(client.pid)

    def test_a_server_killed_by_a_signal_is_reported_with_the_name_of_the_signal(self) -> None:
        with self.assertRaises(ServerGone) as caught:
            self.client("dies-by-signal").call("a", timeout=PATIENCE)
        self.assertIn("SIGKILL", str(caught.exception))

    def test_an_answer_written_before_the_server_died_is_still_delivered(self) -> None:
        client = self.client("answers-then-dies")
        # Both at once: a call that is made after the death starts another server.
        calls = [client.submit("a"), client.submit("b")]
        self.assertEqual(calls[0].result(PATIENCE), "the last words")
        with self.assertRaises(ServerGone) as caught:
            calls[1].result(PATIENCE)
        self.assertIn("exit status 0", str(caught.exception))

    def test_output_that_is_not_json_ends_the_connection_and_the_server(self) -> None:
        client = self.client("writes-garbage")
        with self.assertRaises(ServerGone) as caught:
            client.call("a", timeout=PATIENCE)
        self.assertIn("Segmentation fault", str(caught.exception))
        self.assert_gone(client.pid)

    def test_a_line_of_an_odd_shape_ends_the_connection_and_the_server(self) -> None:
        for line in ("[" * 100_000, '{"method":"$/progress","params":[1]}', '{"id":1,"error":"no"}'):
            for timeout in (None, PATIENCE):
                client = self.client("writes-what-it-is-told")
                with self.subTest(line=line[:40]), self.assertRaises(ServerGone) as caught:
                    client.call("a", {"line": line}, timeout=timeout)
                self.assertIn("it wrote a line", str(caught.exception))

    def test_a_call_without_a_timeout_fails_like_one_with(self) -> None:
        with self.assertRaises(ServerGone) as garbage:
            self.client("writes-garbage").ping()
        self.assertIn("Segmentation fault", str(garbage.exception))
        with self.assertRaises(ServerGone) as death:
            self.client("dies").ping()
        self.assertIn("exit status 3", str(death.exception))
        with self.assertRaises(ParseError):
            self.client("cannot-tell-the-id").ping()
        with self.assertRaises(HalcyonError) as error:
            self.client("knows-new-errors").ping()
        self.assertEqual(error.exception.code, 12345)
        self.client("answers-in-crumbs").ping()

    def test_a_call_that_reads_alone_hands_over_the_answers_of_others(self) -> None:
        client = self.client("echoes")
        first = client.submit("echo", ["first"])
        second = client.submit("echo", ["second"])
        client.ping()
        self.assertTrue(first.done() and second.done())
        self.assertEqual((first.result(0), second.result(0)), (["first"], ["second"]))

    def test_ctrl_c_cancels_a_call_that_reads_alone(self) -> None:
        client = self.client("remembers-cancels")
        client.submit("interrupt-me", {"pid": os.getpid()})
        client.notify("slow")  # interrupts whatever is waited for
        with self.assertRaises(KeyboardInterrupt):
            client.is_cached("never answered")
        self.assertEqual(client.call("cancelled", timeout=PATIENCE), [2])

    def test_an_error_without_an_id_fails_the_open_calls_and_spares_the_next(self) -> None:
        client = self.client("cannot-tell-the-id")
        with self.assertRaises(ParseError):
            client.call("a", timeout=PATIENCE)
        self.assertEqual(client.call("b", timeout=PATIENCE), "still here")

    def test_answers_out_of_order_reach_the_calls_they_belong_to(self) -> None:
        client = self.client("answers-backwards")
        calls = [client.submit("echo", [number]) for number in range(3)]
        self.assertEqual([call.result(PATIENCE) for call in calls], [[0], [1], [2]])

    def test_answers_that_arrive_byte_by_byte_are_put_together(self) -> None:
        client = self.client("answers-in-crumbs")
        for _ in range(3):
            self.assertEqual(client.call("a", timeout=PATIENCE), "x" * 300)

    def test_requests_and_answers_larger_than_any_pipe_pass_without_a_deadlock(self) -> None:
        # The server answers each request before it reads the next, and nobody waits yet: a client
        # that only writes would stop here for ever.
        client = self.client("echoes")
        bodies = [[str(number) * 700_000] for number in range(4)]
        calls = [client.submit("echo", body) for body in bodies]
        self.assertEqual([call.result(PATIENCE) for call in calls], bodies)

    def test_many_threads_with_large_messages_do_not_block_one_another(self) -> None:
        client = self.client("echoes")
        wrong: List[int] = []

        def work(number: int) -> None:
            for size in (10, 300_000, 70_000):
                body = ["%d:" % number + "y" * size]
                if client.call("echo", body, timeout=PATIENCE) != body:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive())
        self.assertEqual(wrong, [])

    def test_fields_of_a_newer_server_are_kept_in_extra(self) -> None:
        image = self.client("is-from-the-future").retrieve("http://localhost/a.png")
        self.assertEqual((image.cache_type, image.frame_count), ("memory", 2))
        self.assertEqual(image.extra, {"colourProfile": "P3"})
        self.assertIsNone(image.path)
        with self.assertRaises(ValueError):
            image.read()

    def test_a_code_of_a_newer_server_is_a_halcyon_error_with_its_name(self) -> None:
        with self.assertRaises(HalcyonError) as caught:
            self.client("knows-new-errors").call("a", timeout=PATIENCE)
        self.assertIs(type(caught.exception), HalcyonError)
        self.assertEqual((caught.exception.code, caught.exception.name), (12345, "brandNew"))

    def test_a_log_larger_than_a_pipe_never_stops_the_server(self) -> None:
        lines: List[str] = []
        self.client("floods-stderr", stderr=lines.append).call("a", timeout=PATIENCE)
        self.client("floods-stderr", stderr="discard").call("a", timeout=PATIENCE)
        self.client("floods-stderr", stderr=lambda line: sys.exit(1)).call("a", timeout=PATIENCE)
        with open(self.scratch / "log", "w") as file:
            self.client("floods-stderr", stderr=file).call("a", timeout=PATIENCE)
        self.assertEqual(lines[0], "line 0 of the flood, which is longer than a pipe holds")

    def test_a_client_that_is_closed_after_a_death_says_that_it_is_closed(self) -> None:
        client = self.client("dies")
        for close in (lambda: None, client.close):
            with self.assertRaises(ServerGone) as caught:
                client.ping()
            self.assertTrue(caught.exception.retryable)
            close()
        for call in (client.ping, client.next_event, lambda: client.submit("ping").result(PATIENCE)):
            with self.assertRaises(ServerGone) as caught:
                call()
            self.assertEqual((str(caught.exception), caught.exception.retryable), (CLOSED, False))

    def test_closing_ends_a_server_that_ignores_the_end_of_input_and_sigterm(self) -> None:
        client = self.client("will-not-end")
        client.ping(timeout=PATIENCE)
        client.close(grace=0.05)
        self.assert_gone(client.pid)

    def test_what_the_server_would_not_read_is_refused_before_it_is_sent(self) -> None:
        client = self.client("echoes")
        with self.assertRaises(LimitExceeded):
            client.store("k", data=bytes(50 * 1024 * 1024))
        with self.assertRaises(LimitExceeded):
            client.notify("x/y", {"a": "b" * 67108864})
        for half in ("\ud800", "\udc00", "\\ud83d\ude00\ud83d"):
            with self.subTest(half=half), self.assertRaises(ValueError):
                client.notify("x/y", {"a": half})
            with self.subTest(half=half), self.assertRaises(ValueError):
                client.retrieve(half)
        whole = ["\U0001f600", "\ud83d\ude00", "\\ud800"]
        self.assertEqual(client.call("echo", whole, timeout=PATIENCE), ["\U0001f600"] * 2 + whole[2:])
        self.assertEqual(client.call("echo", [1], timeout=PATIENCE), [1])

    def test_a_pending_call_that_times_out_can_be_waited_for_again(self) -> None:
        client = self.client("answers-backwards")
        first = client.submit("echo", ["first"])
        with self.assertRaises(CallTimedOut):
            first.result(0)
        self.assertFalse(first.done())
        client.submit("echo", ["second"])
        client.submit("echo", ["third"])
        self.assertEqual(first.result(PATIENCE), ["first"])
        self.assertTrue(first.done())

    def test_a_batch_that_is_late_names_the_seconds_that_it_was_given(self) -> None:
        late = self.client("remembers-cancels").retrieve_many(["a", "b"], timeout=0.01, return_exceptions=True)
        self.assertEqual([str(one) for one in late], ["retrieve was not answered within 0.01 seconds."] * 2)

    def test_a_progress_callback_that_ends_its_thread_fails_its_future_alone(self) -> None:
        client = self.client("remembers-cancels")

        def leave(report: Progress) -> None:
            raise SystemExit

        left = client.submit("slow", progress=leave)
        others = [client.submit("cancelled"), client.submit("cancelled")]
        done, _ = concurrent.futures.wait([left, *others], timeout=PATIENCE)
        self.assertEqual(done, {left, *others})
        self.assertIsInstance(left.exception(), SystemExit)

    def test_every_way_of_giving_up_tells_the_server(self) -> None:
        client = self.client("remembers-cancels")
        with self.assertRaises(CallTimedOut):
            client.call("slow", timeout=0.01)
        self.assertEqual(client.call("cancelled", timeout=PATIENCE), [1])
        with self.assertRaises(CallTimedOut):
            client.retrieve_many(["a", "b", "c"], timeout=0.01)
        self.assertEqual(client.call("cancelled", timeout=PATIENCE), [1, 3, 4, 5])

        def complain(report: Progress) -> None:
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            client.call("slow", progress=complain)
        self.assertEqual(client.call("cancelled", timeout=PATIENCE)[4:], [7])

    def test_ctrl_c_cancels_the_call_that_is_waited_for_and_spares_the_client(self) -> None:
        client = self.client("remembers-cancels")
        call = client.submit("interrupt-me", {"pid": os.getpid()})
        with self.assertRaises(KeyboardInterrupt):
            client.call("slow")
        self.assertEqual(client.call("cancelled", timeout=PATIENCE), [2])
        self.assertFalse(call.done())

    def test_a_forked_child_is_told_that_the_client_is_its_parents(self) -> None:
        client = self.client("echoes")
        child = os.fork()
        if child == 0:
            try:
                client.call("echo", [1])
            except ServerGone as error:
                os._exit(7 if "fork" in str(error) else 8)
            finally:
                os._exit(9)
        self.assertEqual(os.WEXITSTATUS(os.waitpid(child, 0)[1]), 7)
        self.assertEqual(client.call("echo", [2], timeout=PATIENCE), [2])

    def test_a_batch_on_a_dead_server_lists_the_error_for_every_item(self) -> None:
        client = self.client("dies")
        results = client.is_cached_many(["k"] * 1_000, return_exceptions=True)
        self.assertEqual([type(result) for result in results], [ServerGone] * 1_000)


class AsynchronousClient(Case):
    def run_with(self, behaviour: str, work: Any) -> Any:
        async def run() -> Any:
            async with AsyncClient(binary=self.odd_server(behaviour)) as client:
                return await asyncio.wait_for(work(client), PATIENCE)

        return asyncio.run(run())

    def test_a_server_that_dies_fails_every_open_call_with_its_exit_status(self) -> None:
        async def work(client: AsyncClient) -> List[Any]:
            open_calls = [client.call("a"), client.call("b")]
            errors: List[Any] = await asyncio.gather(*open_calls, return_exceptions=True)
            with self.assertRaises(ServerGone) as later:
                await client.ping()
            return errors + [later.exception]

        for error in self.run_with("dies", work):
            self.assertIsInstance(error, ServerGone)
            self.assertIn("exit status 3", str(error))

    def test_output_that_is_not_json_ends_the_connection_and_the_server(self) -> None:
        async def work(client: AsyncClient) -> None:
            with self.assertRaises(ServerGone) as caught:
                await client.call("a")
            self.assertIn("Segmentation fault", str(caught.exception))
            assert client.pid is not None
            self.assert_gone(client.pid)

        self.run_with("writes-garbage", work)
        # One that the server started holds its output open.
        self.run_with("writes-garbage-beside-a-child", work)

    def test_calls_given_up_beside_a_broken_pipe_are_no_news_to_asyncio(self) -> None:
        async def work(client: AsyncClient) -> None:
            open_calls = [asyncio.ensure_future(client.call("slow")) for _ in range(20)]
            await client.notify("stop")
            pipe = client._servers._transport._input
            assert pipe is not None
            while not pipe.is_closing():
                await asyncio.sleep(0)
            for call in open_calls:
                call.cancel()
            await asyncio.wait(open_calls)
            await client.close(0)

        with self.assertLogs("asyncio") as logs:
            logging.getLogger("asyncio").info("the only one")
            self.run_with("stops-reading", work)
        self.assertEqual([record.getMessage() for record in logs.records], ["the only one"])

    def test_an_error_without_an_id_fails_the_open_calls_and_spares_the_next(self) -> None:
        async def work(client: AsyncClient) -> Any:
            with self.assertRaises(ParseError):
                await client.call("a")
            return await client.call("b")

        self.assertEqual(self.run_with("cannot-tell-the-id", work), "still here")

    def test_lines_beyond_the_64_kib_of_asyncio_readers_are_read(self) -> None:
        body = ["z" * 3_000_000]

        async def work(client: AsyncClient) -> Any:
            return await asyncio.gather(*(client.call("echo", body) for _ in range(4)))

        self.assertEqual(self.run_with("echoes", work), [body] * 4)

    def test_a_batch_that_is_late_names_the_seconds_that_it_was_given(self) -> None:
        async def work(client: AsyncClient) -> None:
            late = client.retrieve_iter(["a", "b"], timeout=0.01, return_exceptions=True)
            named = [str(one) async for _, one in late]
            self.assertEqual(named, ["retrieve was not answered within 0.01 seconds."] * 2)

        self.run_with("remembers-cancels", work)

    def test_a_forked_child_is_told_and_writes_into_none_of_its_own_files(self) -> None:
        async def in_child(client: AsyncClient) -> int:
            try:
                await asyncio.wait_for(client.ping(), PATIENCE)
            except ServerGone as error:
                return 7 if "fork" in str(error) else 8
            return 9

        async def work(client: AsyncClient) -> None:
            await client.call("echo", [1])
            child = os.fork()
            if child == 0:
                status = 10
                try:
                    asyncio.events._set_running_loop(None)
                    # These get the numbers of the descriptors that led to the server.
                    files = [tempfile.TemporaryFile() for _ in range(12)]
                    status = asyncio.run(in_child(client))
                    if any(os.fstat(file.fileno()).st_size for file in files):
                        status = 11
                finally:
                    os._exit(status)
            self.assertEqual(os.WEXITSTATUS(os.waitpid(child, 0)[1]), 7)
            self.assertEqual(await client.call("echo", [2]), [2])

        self.run_with("echoes", work)

    def test_every_way_of_giving_up_tells_the_server(self) -> None:
        async def work(client: AsyncClient) -> None:
            with self.assertRaises(CallTimedOut):
                await client.call("slow", timeout=0.01)
            self.assertEqual(await client.call("cancelled"), [1])
            task = asyncio.ensure_future(client.call("slow"))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(await client.call("cancelled"), [1, 3])
            with self.assertRaises(CallTimedOut):
                await client.retrieve_many(["a", "b", "c"], timeout=0.01)
            self.assertEqual(await client.call("cancelled"), [1, 3, 5, 6, 7])

        self.run_with("remembers-cancels", work)

    def test_closing_ends_a_server_that_ignores_the_end_of_input_and_sigterm(self) -> None:
        async def work() -> int:
            client = await AsyncClient(binary=self.odd_server("will-not-end")).start()
            await client.ping(timeout=PATIENCE)
            await client.close(grace=0.05)
            assert client.pid is not None
            return client.pid

        self.assert_gone(asyncio.run(work()))

    def test_a_batch_on_a_dead_server_lists_the_error_for_every_item(self) -> None:
        async def work(client: AsyncClient) -> Any:
            return await client.is_cached_many(["k"] * 1_000, return_exceptions=True)

        results = self.run_with("dies", work)
        self.assertEqual([type(result) for result in results], [ServerGone] * 1_000)


if __name__ == "__main__":
    unittest.main()
