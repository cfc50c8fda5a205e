"""One client shared by many threads, with the real server."""

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import List

from halcyon import Client, ServerGone

from .support import PATIENCE, Case, Page, png


class ThreadTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.client = Client(cache_dir=self.cache)
        self.addCleanup(self.client.close)

    def test_every_thread_gets_the_answers_to_its_own_calls(self) -> None:
        pictures = [png(number + 1, 5) for number in range(16)]
        for number, picture in enumerate(pictures):
            self.client.store(str(number), data=picture)

        def work(number: int) -> List[int]:
            widths = []
            for _ in range(200):
                image = self.client.call("cachePath", {"key": str(number)}, timeout=PATIENCE)
                with open(image["path"], "rb") as file:
                    widths.append(int.from_bytes(file.read(20)[16:20], "big"))
            return widths

        with ThreadPoolExecutor(16) as pool:
            for number, widths in enumerate(pool.map(work, range(16))):
                self.assertEqual(widths, [number + 1] * 200)

    def test_a_thread_that_waits_long_does_not_keep_the_others_waiting(self) -> None:
        gate = threading.Event()
        page = Page(png(6, 6), gate=gate)
        http = self.serve({"/held.png": page})
        with ThreadPoolExecutor(9) as pool:
            slow = pool.submit(self.client.retrieve, http.base + "/held.png")
            self.assertTrue(page.reached.wait(PATIENCE))
            quick = [pool.submit(self.client.is_cached, "k", timeout=PATIENCE) for _ in range(100)]
            for answer in quick:
                self.assertFalse(answer.result(PATIENCE))
            self.assertFalse(slow.done())
            gate.set()
            self.assertEqual(slow.result(PATIENCE).width, 6)

    def test_a_reader_that_leaves_hands_the_pipe_to_another_waiter(self) -> None:
        gates = [threading.Event() for _ in range(4)]
        pages = {"/%d.png" % item: Page(png(4, 4), gate=gate) for item, gate in enumerate(gates)}
        http = self.serve(pages)
        with ThreadPoolExecutor(4) as pool:
            waits = [
                pool.submit(self.client.retrieve, http.base + path, timeout=PATIENCE)
                for path in pages
            ]
            for page in pages.values():
                self.assertTrue(page.reached.wait(PATIENCE))
            for gate, answer in zip(gates, waits):
                gate.set()
                self.assertEqual(answer.result(PATIENCE).width, 4)

    def test_closing_frees_every_thread_that_waits(self) -> None:
        page = Page(png(4, 4), gate=threading.Event())
        http = self.serve({"/held.png": page})
        with ThreadPoolExecutor(4) as pool:
            waits = [pool.submit(self.client.retrieve, http.base + "/held.png") for _ in range(4)]
            self.assertTrue(page.reached.wait(PATIENCE))
            self.client.close(grace=0.05)
            for answer in waits:
                self.assertIsNotNone(answer.exception(PATIENCE))
        with self.assertRaises(ServerGone):
            self.client.ping()


if __name__ == "__main__":
    unittest.main()
