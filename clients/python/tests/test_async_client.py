"""The asynchronous client with the real server, a real HTTP server and real files."""

import asyncio
import threading
import unittest
from typing import Any, Awaitable, Callable, List

from halcyon import (
    AsyncClient,
    ImageResult,
    InvalidStatusCode,
    MethodNotFound,
    Progress,
    ServerGone,
)

from .support import PATIENCE, Case, Page, png

PICTURE = png(31, 17)


class AsyncClientTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.http = self.serve(
            {"/picture.png": Page(PICTURE), "/large.png": Page(png(9, 9, filler=3_000_000))}
        )
        self.url = self.http.base + "/picture.png"

    def run_with_client(self, work: Callable[[AsyncClient], Awaitable[None]]) -> None:
        async def run() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        asyncio.run(run())

    def test_every_method_works(self) -> None:
        async def work(client: AsyncClient) -> None:
            first = await client.retrieve(self.url)
            self.assertEqual((first.cache_type, first.read()), ("none", PICTURE))
            self.assertEqual((await client.retrieve(self.url)).cache_type, "memory")
            self.assertEqual((await client.retrieve(self.url, as_="data")).data, PICTURE)
            self.assertEqual((await client.store("k", data=PICTURE)).read(), PICTURE)
            self.assertEqual((await client.store("p", path=first)).read(), PICTURE)
            self.assertTrue(await client.is_cached("k"))
            self.assertTrue((await client.cache_path("k")).exists)
            self.assertEqual((await client.calculate_size()).disk.count, 3)
            self.assertTrue(await client.remove("k"))
            self.assertEqual((await client.clear_memory()).count, 2)
            self.assertEqual((await client.clear_disk()).count, 2)
            self.assertEqual((await client.clear()).count, 0)
            self.assertTrue(await client.stats())
            self.assertTrue((await client.discover())["methods"])
            await client.ping()
            await client.notify("$/setTrace", {"value": "off"})
            with self.assertRaises(MethodNotFound):
                await client.call("noSuchMethod")

        self.run_with_client(work)

    def test_a_thousand_concurrent_requests_for_one_url_reach_the_origin_once(self) -> None:
        gate = threading.Event()
        self.http.pages["/held.png"] = page = Page(PICTURE, gate=gate)

        async def work(client: AsyncClient) -> None:
            url = self.http.base + "/held.png"
            tasks = [asyncio.ensure_future(client.retrieve(url)) for _ in range(1_000)]
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, page.reached.wait, PATIENCE)
            await client.ping()  # read after all thousand
            gate.set()
            images = await asyncio.gather(*tasks)
            self.assertEqual({image.read() for image in images}, {PICTURE})

        self.run_with_client(work)
        self.assertEqual(self.http.counts["/held.png"], 1)

    def test_an_answer_of_megabytes_in_one_line_is_read(self) -> None:
        async def work(client: AsyncClient) -> None:
            image = await client.retrieve(self.http.base + "/large.png", as_="data")
            self.assertEqual(image.data, self.http.pages["/large.png"].body)

        self.run_with_client(work)

    def test_progress_is_reported_before_the_answer_and_its_errors_come_out(self) -> None:
        async def work(client: AsyncClient) -> None:
            reports: List[Progress] = []
            await client.retrieve(self.http.base + "/large.png", progress=reports.append)
            self.assertEqual(reports[-1].kind, "end")

            def complain(report: Progress) -> None:
                raise KeyError("mine")

            with self.assertRaises(KeyError):
                await client.retrieve(
                    self.url, options={"forceRefresh": True}, progress=complain
                )
            await client.ping()

        self.run_with_client(work)

    def test_batches_answer_in_the_order_asked(self) -> None:
        async def work(client: AsyncClient) -> None:
            urls = [self.url, self.http.base + "/missing.png", self.url]
            results: List[Any] = await client.retrieve_many(urls, return_exceptions=True)
            kinds = [type(item) for item in results]
            self.assertEqual(kinds, [ImageResult, InvalidStatusCode, ImageResult])
            with self.assertRaises(InvalidStatusCode):
                await client.retrieve_many(urls)
            await client.store("7", data=PICTURE)
            keys = [str(number % 10) for number in range(3_000)]
            found = await client.is_cached_many(keys)
            self.assertEqual([bool(item) for item in found], [key == "7" for key in keys])
            paths = await client.cache_path_many(keys)
            self.assertEqual([path.exists for path in paths], [key == "7" for key in keys])

        self.run_with_client(work)

    def test_leaving_the_block_ends_the_server_and_later_calls_say_so(self) -> None:
        async def work() -> AsyncClient:
            async with AsyncClient(cache_dir=self.cache) as client:
                await client.ping()
            with self.assertRaises(ServerGone):
                await client.ping()
            return client

        client = asyncio.run(work())
        assert client.pid is not None
        self.assert_gone(client.pid)

    def test_a_client_that_was_not_started_says_how_to_start_it(self) -> None:
        async def work() -> None:
            with self.assertRaises(ServerGone) as caught:
                await AsyncClient(cache_dir=self.cache).ping()
            self.assertIn("async with", str(caught.exception))

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
