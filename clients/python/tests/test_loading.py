"""Loading without looking: past the cache, ahead of time, and only the first bytes."""

import asyncio
import base64
import os
import threading
import unittest
from typing import List

from halcyon import AsyncClient, Client, NotCached, Progress, RequestCancelled

from .support import PATIENCE, Case, Page, png

PICTURE = png(31, 17, filler=5_000)


class LoadingTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.http = self.serve({"/a.png": Page(PICTURE), "/b.png": Page(png(8, 8))})
        self.url, self.other = self.http.base + "/a.png", self.http.base + "/b.png"
        self.client = Client(cache_dir=self.cache)
        self.addCleanup(self.client.close)

    def test_a_download_is_kept_nowhere(self) -> None:
        image = self.client.download(self.url)
        self.assertEqual((image.data, image.format, image.width), (PICTURE, "png", 31))
        self.assertIsNone(self.client.download(self.url, as_="none").data)
        self.assertEqual(self.http.counts["/a.png"], 2)
        self.assertFalse(self.client.is_cached(self.url))

    def test_the_start_of_an_image_tells_its_size(self) -> None:
        found = self.client.probe(self.url)
        self.assertEqual((found.format, found.width, found.height, found.cache_type), ("png", 31, 17, "none"))
        self.client.retrieve(self.url)
        self.assertNotEqual(self.client.probe(self.url).cache_type, "none")

    def test_images_are_prefetched_and_their_progress_told(self) -> None:
        reports: List[Progress] = []
        urls = [self.url, self.other, self.http.base + "/missing.png"]
        done = self.client.prefetch(iter(urls), progress=reports.append)
        self.assertEqual((set(done.completed), list(done.skipped)), ({self.url, self.other}, []))
        self.assertEqual([failure["error"]["code"] for failure in done.failed], [10002])
        self.assertEqual((reports[0].kind, reports[-1].kind), ("begin", "end"))
        self.assertEqual(reports[-1].extra["total"], 3)
        self.assertEqual(set(self.client.prefetch(urls[:2]).skipped), {self.url, self.other})

    def test_everything_under_way_is_given_up_at_once(self) -> None:
        gate = threading.Event()
        self.http.pages["/slow.png"] = Page(PICTURE, gate=gate)
        call = self.client.submit("retrieve", {"url": self.http.base + "/slow.png"})
        self.assertTrue(self.http.pages["/slow.png"].reached.wait(PATIENCE))
        self.assertEqual(self.client.cancel_all(), 1)
        with self.assertRaises(RequestCancelled):
            call.result(PATIENCE)

    def test_results_have_what_was_asked_for_as_attributes_and_in_extra(self) -> None:
        image = self.client.retrieve(self.url, as_="dataUrl")
        assert image.data_url is not None
        self.assertEqual(image.data_url, "data:image/png;base64," + base64.b64encode(PICTURE).decode())
        self.assertEqual(image.extra, {"dataUrl": image.data_url})
        self.assertTrue(self.client.retrieve(self.url, options={"offline": True}).extra == {})

    def test_a_stored_image_tells_which_tiers_have_it(self) -> None:
        stored = self.client.store("k", data=PICTURE)
        self.assertEqual(stored.stored, {"memory": True, "disk": True})
        self.assertEqual(os.fspath(stored), stored.path)
        self.assertIsNone(stored.reason)

    def test_the_same_is_there_for_asyncio(self) -> None:
        async def work() -> None:
            async with AsyncClient(cache_dir=self.scratch / "other") as client:
                self.assertEqual((await client.download(self.url)).data, PICTURE)
                self.assertEqual((await client.probe(self.other)).width, 8)
                self.assertEqual(list((await client.prefetch([self.url])).completed), [self.url])
                self.assertEqual([entry.key async for entry in client.list_entries()], [self.url])
                self.assertEqual(await client.cancel_all(), 0)
                with self.assertRaises(NotCached):
                    await client.inspect("nothing")

        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
