"""The seconds that a call may take: none too many, and every number that there is."""

import asyncio
import unittest
from typing import Any

from halcyon import AsyncClient, Client

from .support import PATIENCE, Case

NAN, INFINITE = float("nan"), float("inf")


class TimeoutTests(Case):
    def client(self, behaviour: str) -> Client:
        client = Client(binary=self.odd_server(behaviour))
        self.addCleanup(client.close, 0.2)
        return client

    def run_with(self, behaviour: str, work: Any) -> None:
        async def run() -> None:
            async with AsyncClient(binary=self.odd_server(behaviour)) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        asyncio.run(run())

    def test_a_time_that_is_not_a_number_is_refused(self) -> None:
        client = self.client("echoes")
        pending = client.submit("echo", [1])
        for name, wait in (
            ("a call", lambda: client.ping(timeout=NAN)),
            ("a batch", lambda: client.is_cached_many(["k"], timeout=NAN)),
            ("an iterator", lambda: list(client.retrieve_iter(["a"], timeout=NAN))),
            ("an event", lambda: client.next_event(timeout=NAN)),
            ("a future", lambda: pending.result(NAN)),
        ):
            with self.subTest(name), self.assertRaises(ValueError):
                wait()
        self.assertEqual(pending.result(PATIENCE), [1])

        async def work(client: AsyncClient) -> None:
            for wait in (
                client.ping(timeout=NAN),
                client.is_cached_many(["k"], timeout=NAN),
                client.retrieve_iter(["a"], timeout=NAN).__anext__(),
                client.next_event(timeout=NAN),
            ):
                with self.assertRaises(ValueError):
                    await wait

        self.run_with("echoes", work)

    def test_an_infinite_time_is_no_limit(self) -> None:
        client = self.client("is-from-the-future")
        self.assertEqual(client.retrieve("a", timeout=INFINITE).frame_count, 2)
        self.assertEqual(client.retrieve_many(["a"], timeout=INFINITE)[0].frame_count, 2)
        self.assertEqual([url for url, _ in client.retrieve_iter(["a"], timeout=INFINITE)], ["a"])
        self.assertEqual(client.submit("retrieve").result(INFINITE).frame_count, 2)

        async def work(client: AsyncClient) -> None:
            self.assertEqual((await client.retrieve("a", timeout=INFINITE)).frame_count, 2)
            self.assertEqual((await client.retrieve_many(["a"], timeout=INFINITE))[0].frame_count, 2)
            self.assertEqual([url async for url, _ in client.retrieve_iter(["a"], timeout=INFINITE)], ["a"])

        self.run_with("is-from-the-future", work)


if __name__ == "__main__":
    unittest.main()
