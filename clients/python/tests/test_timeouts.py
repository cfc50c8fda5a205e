"""The seconds that a call may take: none too many, and every number that there is."""

import asyncio
import threading
import unittest
from typing import Any, List

from halcyon import AsyncClient, CallTimedOut, Client, ServerGone

from .support import PATIENCE, Case

LARGE = {"downloader": {"urlRewrites": [{"from": "http://a/%d" % number, "to": "b"} for number in range(20_000)]}}
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
            ("the end", lambda: client.close(NAN)),
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
                client.close(NAN),
            ):
                with self.assertRaises(ValueError):
                    await wait
            self.assertEqual(await client.call("echo", [1]), [1])

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

    def test_settings_larger_than_a_pipe_hold_no_call_up_when_the_next_server_does_not_read(self) -> None:
        client = self.client("reads-only-the-first-time")
        client.call("configure", LARGE)
        self.kill(client.pid)

        def late() -> None:
            for _ in range(2):
                with self.assertRaises(CallTimedOut):
                    client.ping(timeout=0.05)
            self.assertIsNone(client.next_event(timeout=0.05))
            client.close(0.05)
            done.append(True)

        done: List[bool] = []
        thread = threading.Thread(target=late, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        self.assertEqual(done, [True])

    def test_whoever_only_waits_for_events_tells_the_next_server_all_settings(self) -> None:
        client = self.client("tells-of-subscriptions")
        client.call("configure", LARGE)
        client.call("subscribe", {"events": ["log"]})
        pids = []
        for _ in range(2):
            event = client.next_event(PATIENCE)
            assert event is not None
            pids.append(event.params["pid"])
            self.assertEqual(client.pid, pids[-1])
            self.kill(client.pid)
            with self.assertRaises(ServerGone):
                client.next_event(PATIENCE)
        self.assertNotEqual(*pids)


if __name__ == "__main__":
    unittest.main()
