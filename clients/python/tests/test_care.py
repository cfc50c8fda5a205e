"""Settings, the content of caches, and events, with the real server."""

import asyncio
import threading
import unittest
from typing import List, Optional

from halcyon import (
    AsyncClient,
    Client,
    Event,
    ForbiddenAddress,
    ImageOptions,
    InvalidParams,
    NotCached,
    Processor,
    ServerGone,
)

from .support import PATIENCE, Case, png

CLEANED = "cache/didClean"
PICTURE = png(31, 17)


class CareTests(Case):
    def start(self) -> Client:
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        return client

    def store(self, client: Client, *keys: str, filler: int = 0) -> None:
        for index, key in enumerate(keys):
            picture = png(8, 8, shade=index, filler=filler)
            client.store(key, data=picture, options={"lease": 0}, metadata={"n": str(index)})

    def test_settings_are_changed_and_told(self) -> None:
        client = self.start()
        before = client.configure()
        self.assertEqual(before["disk"]["folder"], str(self.cache / "default"))
        after = client.configure(memory={"countLimit": 5}, disk={"purgeRatio": 0.25})
        assert after["memory"] is not False
        self.assertEqual((after["memory"]["countLimit"], after["disk"]["purgeRatio"]), (5, 0.25))
        self.assertEqual(after["disk"]["bytesLimit"], before["disk"]["bytesLimit"])
        self.assertIs(client.configure(cache="thumbs", memory=False)["memory"], False)
        self.assertEqual([cache["name"] for cache in client.caches()], ["default", "thumbs"])
        with self.assertRaises(InvalidParams) as caught:
            client.configure(disk={"purgeRatio": 2.0})
        self.assertEqual(caught.exception.data["param"], "disk.purgeRatio")

    def test_a_read_only_folder_answers_after_the_cache(self) -> None:
        first = self.start()
        self.store(first, "k")
        first.close()
        other = Client(cache_dir=self.scratch / "other")
        self.addCleanup(other.close)
        settings = other.add_read_only_cache_path(self.cache / "default")
        self.assertEqual(settings["disk"]["readOnlyPaths"], [str(self.cache / "default")])
        self.assertEqual(other.is_cached("k").cache_type, "disk")

    def test_entries_are_listed_page_by_page_and_inspected(self) -> None:
        client = self.start()
        self.store(client, "a1", "a2", "a3", "b1")
        found = sorted(str(entry.key) for entry in client.list_entries(prefix="a", page_size=2))
        self.assertEqual(found, ["a1", "a2", "a3"])
        self.assertEqual(list(client.list_entries(format="gif")), [])
        entry = client.inspect("a2")
        self.assertEqual((entry.key, entry.format, entry.width), ("a2", "png", 8))
        self.assertEqual((entry.metadata, entry.extra), ({"n": "1"}, {}))
        with self.assertRaises(NotCached):
            client.inspect("nothing")

    def test_a_cache_is_verified_and_cleaned(self) -> None:
        client = self.start()
        client.store("old", data=PICTURE, options={"diskCacheExpiration": "expired", "lease": 0})
        self.store(client, "new")
        cleaned = client.clean_expired()
        self.assertEqual((cleaned.count, list(cleaned.keys)), (1, ["old"]))
        verified = client.verify(repair=False)
        self.assertTrue(verified)
        self.assertEqual((verified.checked, verified.damaged), (1, 0))

    def test_requests_are_explained_paused_and_their_failures_forgotten(self) -> None:
        client = self.start()
        client.store("k", data=PICTURE)
        told = client.explain("https://example.com/a.png", key="k")
        self.assertEqual((told["verdict"], told["network"]), ("answer", False))
        told = client.explain("https://example.com/a.png", options={"onlyFromCache": True})
        assert told["error"] is not None
        self.assertEqual((told["verdict"], told["error"]["code"]), ("fail", 10003))
        self.assertEqual(client.pause("prefetch")["paused"], "prefetch")
        self.assertEqual(client.resume(), {"paused": "none", "running": 0, "waiting": 0})
        with self.assertRaises(ForbiddenAddress):
            client.retrieve("http://169.254.169.254/", options={"negativeCache": 60})
        (failure,) = client.list_failures()
        self.assertEqual((failure["url"], failure["error"]["code"]), ("http://169.254.169.254/", 20004))
        self.assertEqual(client.forget_failures("http://169.254.169.254/"), 1)
        self.assertEqual((client.forget_failures(), client.list_failures()), (0, []))

    def test_options_that_decide_which_image_it_is_count_in_lookups(self) -> None:
        client = self.start()
        source = self.scratch / "picture.png"
        source.write_bytes(PICTURE)
        url = source.as_uri()
        box: List[Processor] = [{"downsample": {"width": 8, "height": 8}}]
        options: ImageOptions = {"cacheSerializer": {"format": "webp"}}
        made = client.retrieve(url, processors=box, options=options)
        self.assertEqual((made.format, made.width), ("webp", 8))
        same = client.retrieve(url, processors="downsample:8x8", options=options)
        self.assertEqual(same.path, made.path)
        self.assertTrue(client.is_cached(url, processors=box, options=options).cached)
        self.assertFalse(client.is_cached(url, processors=box).cached)
        found = client.cache_path(url, processors=box, options=options)
        self.assertEqual((found.path, found.exists), (made.path, True))
        self.assertEqual(client.inspect(url, processors=box, options=options).format, "webp")
        many = client.is_cached_many([url, "other"], processors=box, options=options)
        self.assertEqual([one.cached for one in many], [True, False])
        self.assertTrue(client.remove(url, processors=box, options=options).removed)

    def test_what_is_there_is_not_overwritten_when_that_was_asked(self) -> None:
        client = self.start()
        client.store("k", data=PICTURE)
        kept = client.store("k", data=png(5, 5), overwrite=False)
        self.assertEqual(kept.width, 31)

    def evict(self, client: Client) -> None:
        self.store(client, "a", "b", "c", filler=10_000)
        client.configure(disk={"bytesLimit": 15_000})

    def test_events_come_to_those_who_subscribed(self) -> None:
        client = self.start()
        self.assertIsNone(client.next_event(0))
        self.assertEqual(client.subscribe(CLEANED), [CLEANED])
        self.evict(client)
        event = client.next_event(PATIENCE)
        assert event is not None
        self.assertEqual((event.name, event.params["reason"]), (CLEANED, "sizeLimit"))
        self.assertIn("a", event.params["keys"])
        self.assertEqual(client.unsubscribe(CLEANED), [])
        with self.assertRaises(InvalidParams):
            client.subscribe("cache/didclaen")

    def test_a_thread_may_wait_for_events_while_others_call(self) -> None:
        client = self.start()
        client.subscribe(CLEANED)
        seen: List[Event] = []
        got = threading.Event()

        def listen() -> None:
            for event in client.events():
                seen.append(event)
                got.set()

        listener = threading.Thread(target=listen)
        listener.start()
        self.evict(client)
        self.assertTrue(got.wait(PATIENCE))
        client.ping()
        client.close()
        listener.join(PATIENCE)
        self.assertFalse(listener.is_alive())
        self.assertEqual(seen[0].name, CLEANED)

    def test_waiting_for_events_ends_with_the_server(self) -> None:
        client = self.start()
        failure: List[Optional[BaseException]] = []

        def listen() -> None:
            try:
                client.next_event()
            except ServerGone as gone:
                failure.append(gone)

        listener = threading.Thread(target=listen)
        listener.start()
        client.notify("exit")
        listener.join(PATIENCE)
        self.assertEqual(len(failure), 1)

    def test_the_asynchronous_client_does_the_same(self) -> None:
        async def run() -> None:
            async with AsyncClient(cache_dir=self.cache) as client:
                self.assertIsNone(await client.next_event(0))
                self.assertEqual(await client.subscribe(CLEANED), [CLEANED])
                for key in ("a", "b", "c"):
                    await client.store(
                        key, data=png(8, 8, filler=10_000), options={"lease": 0}, metadata={"k": key}
                    )
                listed = [entry.key async for entry in client.list_entries(page_size=1)]
                self.assertEqual(sorted(map(str, listed)), ["a", "b", "c"])
                self.assertEqual((await client.inspect("a")).metadata, {"k": "a"})
                self.assertTrue(await client.verify())
                self.assertEqual((await client.clean_expired()).count, 0)
                self.assertEqual((await client.explain("data:,", key="a"))["verdict"], "answer")
                self.assertEqual((await client.pause())["paused"], "all")
                self.assertEqual((await client.resume())["paused"], "none")
                self.assertEqual(await client.list_failures(), [])
                self.assertEqual(await client.forget_failures(), 0)
                self.assertEqual([one["name"] for one in await client.caches()], ["default"])
                settings = await client.add_read_only_cache_path(self.scratch)
                self.assertEqual(settings["disk"]["readOnlyPaths"], [str(self.scratch)])
                await client.configure(disk={"bytesLimit": 5_000})
                async for event in client.events():
                    self.assertEqual(event.params["reason"], "sizeLimit")
                    break
                self.assertEqual(await client.unsubscribe(CLEANED), [])
                waiting = asyncio.ensure_future(client.next_event())
            with self.assertRaises(ServerGone):
                await waiting

        asyncio.run(asyncio.wait_for(run(), PATIENCE))


if __name__ == "__main__":
    unittest.main()
