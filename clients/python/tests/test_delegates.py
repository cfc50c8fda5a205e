"""Deciding about downloads while they run."""

import asyncio
import sys
import threading
import unittest
from typing import Any, Dict, List

from halcyon import AsyncClient, Client, DownloadCancelledBeforeStarting, ServerGone

from .support import PATIENCE, Case, Page, png

MODIFY = "downloader/modifyRequest"
PICTURE = png(4, 4)


class DelegateTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.http = self.serve({"/a.png": Page(PICTURE)})
        self.url = self.http.base + "/a.png"

    def start(self, **arguments: Any) -> Client:
        client = Client(cache_dir=self.cache, **arguments)
        self.addCleanup(client.close)
        return client

    def test_a_request_is_sent_as_its_delegate_says(self) -> None:
        client = self.start(
            delegates={MODIFY: lambda request: {"headers": {**request["headers"], "X-Signed": "yes"}}}
        )
        result = client.retrieve(self.url, options={"headers": {"X-A": "1"}})
        self.assertEqual(result.width, 4)
        seen = self.http.headers["/a.png"]
        self.assertEqual((seen["x-a"], seen["x-signed"]), ("1", "yes"))
        # The request decides before the client.
        client.retrieve(self.url, options={"forceRefresh": True, "delegates": []})
        self.assertNotIn("x-signed", self.http.headers["/a.png"])

    def test_none_sends_nothing(self) -> None:
        client = self.start(delegates={MODIFY: lambda request: None})
        with self.assertRaises(DownloadCancelledBeforeStarting):
            client.retrieve(self.url)
        self.assertEqual(self.http.counts["/a.png"], 0)

    def test_a_delegate_that_fails_leaves_the_matter_to_the_server(self) -> None:
        def fail(request: Dict[str, Any]) -> Any:
            raise RuntimeError("no idea")

        for delegate in (fail, lambda request: object(), lambda request: sys.exit(1)):
            with self.subTest(delegate=delegate), self.assertLogs("halcyon", "WARNING"):
                client = self.start(delegates={MODIFY: delegate}, args=["--log-level", "error"])
                self.assertEqual(client.retrieve(self.url, options={"forceRefresh": True}, timeout=PATIENCE).width, 4)

    def test_the_server_learns_at_once_of_a_failure_that_cannot_be_told_as_it_is(self) -> None:
        class Wordless(Exception):
            def __str__(self) -> str:
                raise KeyError

        def fail(error: BaseException) -> Any:
            raise error

        client = Client(binary=self.odd_server("asks"), delegates={MODIFY: lambda request: fail(failures.pop())})
        self.addCleanup(client.close, 0.2)
        for failure in (ValueError("\ud800"), Wordless(), ValueError("x" * 67108864)):
            failures = [failure]
            with self.subTest(failure=type(failure)), self.assertLogs("halcyon", "WARNING"):
                self.assertEqual(client.call("ask", {"method": MODIFY}, timeout=PATIENCE)["error"]["code"], -32603)

    def test_the_server_learns_at_once_of_an_answer_that_cannot_be_sent(self) -> None:
        answers = [{"a": "\ud800"}, {"a": "b" * 67108864}]
        client = Client(binary=self.odd_server("asks"), delegates={MODIFY: lambda request: answers.pop()})
        self.addCleanup(client.close, 0.2)
        while answers:
            with self.assertLogs("halcyon", "WARNING"):
                self.assertEqual(client.call("ask", {"method": MODIFY}, timeout=PATIENCE)["error"]["code"], -32603)

    def test_the_server_learns_at_once_of_a_coroutine_whose_own_wait_was_cancelled(self) -> None:
        async def wait_in_vain(request: Dict[str, Any]) -> Any:
            cancelled = asyncio.get_running_loop().create_future()
            cancelled.cancel()
            await cancelled

        async def run() -> Any:
            async with AsyncClient(binary=self.odd_server("asks"), delegates={MODIFY: wait_in_vain}) as client:
                return await client.call("ask", {"method": MODIFY}, timeout=PATIENCE / 3)

        with self.assertLogs("halcyon", "WARNING"):
            self.assertEqual(asyncio.run(run())["error"], {"code": -32603, "message": "CancelledError"})

    def test_questions_are_answered_though_nobody_waits_for_a_call(self) -> None:
        asked = threading.Event()

        def note(request: Dict[str, Any]) -> Any:
            asked.set()
            return {}

        client = self.start(delegates={MODIFY: note})
        call = client.submit("retrieve", {"url": self.url})
        self.assertTrue(asked.wait(PATIENCE))
        self.assertEqual(call.result(PATIENCE).width, 4)

    def test_many_threads_and_many_questions(self) -> None:
        self.http.pages.update({"/%d" % number: Page(PICTURE) for number in range(100)})
        threads: List[int] = []

        def note(request: Dict[str, Any]) -> Any:
            threads.append(threading.get_ident())
            return {}

        client = self.start(delegates={MODIFY: note})
        results = client.retrieve_many(["%s/%d" % (self.http.base, number) for number in range(100)])
        self.assertEqual(len(results), 100)
        self.assertEqual((len(threads), len(set(threads))), (100, 1))

    def test_a_delegate_is_callable_and_closing_ends_its_thread(self) -> None:
        with self.assertRaises(TypeError):
            Client(cache_dir=self.cache, delegates={MODIFY: 5})  # type: ignore[dict-item]
        client = self.start(delegates={MODIFY: lambda request: {}})
        threads = [thread for thread in threading.enumerate() if thread.name == "halcyon delegates"]
        self.assertEqual(len(threads), 1)
        client.close()
        threads[0].join(PATIENCE)
        self.assertFalse(threads[0].is_alive())

    def test_a_server_that_dies_at_once_is_told(self) -> None:
        with self.assertRaises(ServerGone):
            Client(binary=self.odd_server("dies"), delegates={MODIFY: lambda request: {}})

    def test_the_asynchronous_client_does_the_same(self) -> None:
        async def run() -> None:
            held = asyncio.Event()
            dropped = asyncio.Event()

            async def decide(request: Dict[str, Any]) -> Any:
                await asyncio.sleep(0)
                if request["url"].endswith("/veto"):
                    return None
                if request["url"].endswith("/held"):
                    held.set()
                    try:
                        await asyncio.Event().wait()
                    finally:
                        dropped.set()
                return {"headers": {"X-Signed": "yes"}}

            async with AsyncClient(cache_dir=self.cache, delegates={MODIFY: decide}) as client:
                self.assertEqual((await client.retrieve(self.url)).width, 4)
                self.assertEqual(self.http.headers["/a.png"]["x-signed"], "yes")
                with self.assertRaises(DownloadCancelledBeforeStarting):
                    await client.retrieve(self.http.base + "/veto")
                task = asyncio.ensure_future(client.retrieve(self.http.base + "/held"))
                await held.wait()
                task.cancel()
                await dropped.wait()
                with self.assertRaises(asyncio.CancelledError):
                    await task
            async with AsyncClient(cache_dir=self.cache, delegates={MODIFY: lambda request: {}}) as client:
                self.assertEqual((await client.retrieve(self.url, options={"forceRefresh": True})).width, 4)
                self.assertNotIn("x-signed", self.http.headers["/a.png"])

        asyncio.run(asyncio.wait_for(run(), PATIENCE))


if __name__ == "__main__":
    unittest.main()
