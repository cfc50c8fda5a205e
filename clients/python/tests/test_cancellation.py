"""Giving up calls, from threads and from tasks; the origin holds its answer at a gate."""

import asyncio
import threading
import unittest

from halcyon import AsyncClient, CallTimedOut, Client, HalcyonError, ImageResult, RequestCancelled, TimedOut

from .support import PATIENCE, Case, Page, png

PICTURE = png(20, 20, filler=50_000)


class CancellationTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.gate = threading.Event()
        self.page = Page(PICTURE, gate=self.gate)
        self.http = self.serve({"/held.png": self.page, "/free.png": Page(PICTURE)})
        self.held = self.http.base + "/held.png"

    def start(self) -> Client:
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        return client

    def test_a_cancelled_call_raises_and_the_next_one_is_answered(self) -> None:
        client = self.start()
        call = client.submit("retrieve", {"url": self.held})
        self.assertTrue(self.page.reached.wait(PATIENCE))
        self.assertFalse(call.done())
        self.assertTrue(call.cancel())
        with self.assertRaises(RequestCancelled):
            call.result(PATIENCE)
        self.assertTrue(call.cancelled() and call.cancel())
        self.assertEqual(client.retrieve(self.http.base + "/free.png").read(), PICTURE)
        self.assertFalse(client.is_cached(self.held))

    def test_another_thread_can_cancel_the_call_a_thread_waits_for(self) -> None:
        client = self.start()
        call = client.submit("retrieve", {"url": self.held})
        self.assertTrue(self.page.reached.wait(PATIENCE))
        timer = threading.Thread(target=call.cancel)
        timer.start()
        with self.assertRaises(RequestCancelled):
            call.result(PATIENCE)
        timer.join(PATIENCE)

    def test_cancelling_one_of_two_callers_leaves_the_other_its_image(self) -> None:
        client = self.start()
        first = client.submit("retrieve", {"url": self.held})
        second = client.submit("retrieve", {"url": self.held})
        self.assertTrue(self.page.reached.wait(PATIENCE))
        first.cancel()
        with self.assertRaises(RequestCancelled):
            first.result(PATIENCE)
        self.gate.set()
        self.assertEqual(second.result(PATIENCE).byte_count, len(PICTURE))
        self.assertEqual(self.http.counts["/held.png"], 1)

    def test_a_timeout_of_the_call_cancels_it_and_raises(self) -> None:
        client = self.start()
        with self.assertRaises(CallTimedOut) as caught:
            client.retrieve(self.held, timeout=0.05)
        self.assertIsInstance(caught.exception, TimedOut)
        self.assertIsInstance(caught.exception, TimeoutError)
        client.ping(timeout=PATIENCE)
        self.assertFalse(client.is_cached(self.held))

    def test_a_failing_batch_cancels_what_is_still_open(self) -> None:
        client = self.start()
        with self.assertRaises(CallTimedOut):
            client.retrieve_many([self.http.base + "/free.png", self.held], timeout=0.3)
        client.ping(timeout=PATIENCE)

    def test_closing_in_the_middle_of_a_download_ends_the_server(self) -> None:
        client = self.start()
        call = client.submit("retrieve", {"url": self.held})
        self.assertTrue(self.page.reached.wait(PATIENCE))
        client.close(grace=0.05)
        self.assert_gone(client.pid)
        with self.assertRaises(HalcyonError):
            call.result(PATIENCE)

    def test_a_cancelled_task_cancels_its_request(self) -> None:
        async def work() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                task = asyncio.ensure_future(client.retrieve(self.held))
                other = asyncio.ensure_future(client.retrieve(self.held))
                await asyncio.get_running_loop().run_in_executor(
                    None, self.page.reached.wait, PATIENCE
                )
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.gate.set()
                self.assertEqual((await other).read(), PICTURE)

        asyncio.run(work())
        self.assertEqual(self.http.counts["/held.png"], 1)

    def test_the_last_task_to_be_cancelled_stops_the_download(self) -> None:
        async def work() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                task = asyncio.ensure_future(client.retrieve(self.held))
                await asyncio.get_running_loop().run_in_executor(
                    None, self.page.reached.wait, PATIENCE
                )
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                # The wish went out before this request: it is read before this is answered.
                await client.ping()
                self.gate.set()
                # A second request is a new download: the first one was given up.
                image: ImageResult = await client.retrieve(self.held)
                self.assertEqual(image.cache_type, "none")

        asyncio.run(work())
        self.assertEqual(self.http.counts["/held.png"], 2)

    def test_a_timeout_of_an_asynchronous_call_cancels_it_and_raises(self) -> None:
        async def work() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                with self.assertRaises(CallTimedOut):
                    await client.retrieve(self.held, timeout=0.05)
                await client.ping(timeout=PATIENCE)
                with self.assertRaises(CallTimedOut):
                    await client.retrieve_many([self.held] * 3, timeout=0.05)
                await client.ping(timeout=PATIENCE)

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
