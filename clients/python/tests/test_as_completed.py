"""`retrieve_iter`: many images, each as soon as it is there."""

import asyncio
import threading
import unittest
from typing import Any, Dict, List, Set

from halcyon import AsyncClient, CallTimedOut, Client, HalcyonError, ImageResult, InvalidStatusCode, Progress

from halcyon.batch import WINDOW

from .support import PATIENCE, Case, Page, png

MORE = WINDOW + 44
"""More than are on their way at a time."""
LARGE = png(31, 17, filler=100_000)


class AsCompletedTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.gate = threading.Event()
        self.held = Page(LARGE, gate=self.gate)
        self.http = self.serve({"/held.png": self.held, "/large.png": Page(LARGE)})
        self.http.pages.update({"/%d.png" % number: Page(png(8, number + 1)) for number in range(MORE)})
        self.client = Client(cache_dir=self.cache)
        self.addCleanup(self.client.close, 0.2)
        self.addCleanup(self.gate.set)
        self.slow, self.missing = self.http.base + "/held.png", self.http.base + "/missing.png"

    def urls(self, count: int) -> List[str]:
        return [self.http.base + "/%d.png" % number for number in range(count)]

    def test_each_comes_when_it_is_there_however_long_another_takes(self) -> None:
        found: List[str] = []
        for url, image in self.client.retrieve_iter([self.slow] + self.urls(MORE)):
            found.append(url)
            if len(found) == MORE:  # all that can come before
                self.gate.set()
            self.assertEqual(image.url, url)
        self.assertEqual(found[-1], self.slow)
        self.assertEqual(set(found), {self.slow, *self.urls(MORE)})
        self.assertEqual(len(found), MORE + 1)

    def test_reports_come_in_the_thread_of_the_loop_with_the_url_they_are_about(self) -> None:
        reports: Dict[str, List[Progress]] = {}
        threads: Set[int] = set()

        def note(url: str, report: Progress) -> None:
            threads.add(threading.get_ident())
            reports.setdefault(url, []).append(report)

        urls = [self.http.base + "/large.png", *self.urls(2)]
        found = dict(self.client.retrieve_iter(urls, on_progress=note))
        self.assertEqual(found.keys(), set(urls))
        self.assertEqual(reports.keys(), set(urls))
        self.assertEqual({of_one[-1].kind for of_one in reports.values()}, {"end"})
        self.assertEqual(threads, {threading.get_ident()})

    def test_a_failure_is_raised_or_is_one_of_the_results(self) -> None:
        urls = [self.missing, *self.urls(3)]
        found: Dict[str, Any] = dict(self.client.retrieve_iter(urls, return_exceptions=True))
        self.assertIsInstance(found.pop(self.missing), InvalidStatusCode)
        self.assertEqual({type(image) for image in found.values()}, {ImageResult})
        with self.assertRaises(InvalidStatusCode):
            list(self.client.retrieve_iter([self.missing, self.slow]))
        self.assert_nothing_runs()

    def test_leaving_the_loop_cancels_what_is_open(self) -> None:
        for url, _ in self.client.retrieve_iter([self.slow, *self.urls(1)]):
            self.assertEqual(url, self.urls(1)[0])
            break
        self.assert_nothing_runs()

        def complain(url: str, report: Progress) -> None:
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            list(self.client.retrieve_iter([self.slow, self.http.base + "/large.png"], on_progress=complain))
        self.assert_nothing_runs()

    def test_the_timeout_is_for_all_of_them(self) -> None:
        with self.assertRaises(CallTimedOut):
            list(self.client.retrieve_iter([self.slow], timeout=0.05))
        self.assert_nothing_runs()
        urls = [self.slow, self.slow + "?2"]
        self.http.pages["/held.png?2"] = Page(LARGE, gate=self.gate)
        found: Dict[str, Any] = dict(self.client.retrieve_iter(urls, timeout=0.05, return_exceptions=True))
        self.assertEqual([type(found[url]) for url in urls], [CallTimedOut] * 2)
        self.assert_nothing_runs()

    def test_a_server_that_died_fails_what_was_under_way(self) -> None:
        found: Dict[str, Any] = {}
        for url, result in self.client.retrieve_iter([self.slow, *self.urls(1)], return_exceptions=True):
            found[url] = result
            if url != self.slow:
                self.assertTrue(self.held.reached.wait(PATIENCE))
                self.kill(self.client.pid)
        self.assertIsInstance(found[self.slow], HalcyonError)
        self.assertIsInstance(found[self.urls(1)[0]], ImageResult)

    def assert_nothing_runs(self) -> None:
        """No download goes on: the one that is held back ends by being cancelled only."""
        running = 1
        for _ in range(10_000):
            running = running and self.client.pause()["running"]
        self.assertEqual(running, 0)
        self.client.resume()


class AsyncAsCompletedTests(AsCompletedTests):
    """The asynchronous client, where it is not the same."""

    def run_with(self, work: Any) -> None:
        async def run() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        asyncio.run(run())

    def test_each_comes_when_it_is_there_however_long_another_takes(self) -> None:
        async def work(client: AsyncClient) -> None:
            found: List[str] = []
            async for url, image in client.retrieve_iter([self.slow] + self.urls(MORE)):
                found.append(url)
                if len(found) == MORE:
                    self.gate.set()
                self.assertEqual(image.url, url)
            self.assertEqual((found[-1], len(found)), (self.slow, MORE + 1))

        self.run_with(work)

    def test_reports_come_in_the_thread_of_the_loop_with_the_url_they_are_about(self) -> None:
        async def work(client: AsyncClient) -> None:
            reports: Dict[str, str] = {}
            urls = [self.http.base + "/large.png", *self.urls(2)]
            found = client.retrieve_iter(urls, on_progress=lambda url, report: reports.update({url: report.kind}))
            self.assertEqual({url async for url, _ in found}, set(urls))
            self.assertEqual(reports, dict.fromkeys(urls, "end"))

        self.run_with(work)

    def test_a_failure_is_raised_or_is_one_of_the_results(self) -> None:
        async def work(client: AsyncClient) -> None:
            urls = [self.missing, *self.urls(3)]
            found = [one async for _, one in client.retrieve_iter(urls, return_exceptions=True)]
            self.assertEqual(sum(isinstance(one, InvalidStatusCode) for one in found), 1)
            self.assertEqual(sum(isinstance(one, ImageResult) for one in found), 3)
            with self.assertRaises(InvalidStatusCode):
                async for _ in client.retrieve_iter([self.missing, self.slow]):
                    pass
            running = 1
            for _ in range(10_000):
                running = running and (await client.pause())["running"]
            self.assertEqual(running, 0)

        self.run_with(work)

    def test_leaving_the_loop_cancels_what_is_open(self) -> None:
        async def work(client: AsyncClient) -> None:
            found = client.retrieve_iter([self.slow, *self.urls(1)])
            async for url, _ in found:
                break
            await found.aclose()  # type: ignore[attr-defined]
            running = 1
            for _ in range(10_000):
                running = running and (await client.pause())["running"]
            self.assertEqual(running, 0)

        self.run_with(work)

    def test_the_timeout_is_for_all_of_them(self) -> None:
        async def work(client: AsyncClient) -> None:
            found = client.retrieve_iter([self.slow, self.slow + "?2"], timeout=0.05, return_exceptions=True)
            self.assertEqual([type(one) async for _, one in found], [CallTimedOut] * 2)

        self.run_with(work)

    def test_a_server_that_died_fails_what_was_under_way(self) -> None:
        async def work(client: AsyncClient) -> None:
            urls = [self.slow, *self.urls(1)]
            async for url, one in client.retrieve_iter(urls, return_exceptions=True):
                self.assertEqual(isinstance(one, HalcyonError), url == self.slow)
                if url != self.slow:
                    loop = asyncio.get_running_loop()
                    await loop.run_in_executor(None, self.held.reached.wait, PATIENCE)
                    assert client.pid is not None
                    self.kill(client.pid)

        self.run_with(work)


if __name__ == "__main__":
    unittest.main()
