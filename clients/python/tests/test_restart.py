"""Servers that die and are started again by the next call."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Awaitable, Callable, Dict, List
from unittest import mock

import halcyon
from halcyon import AsyncClient, Client, Event, ServerGone
from halcyon.lives import FREE_DEATHS, Lives
from halcyon.restored import Restored

from .support import PATIENCE, Case, Page, png

PICTURE = png(31, 17)
MODIFY = "downloader/modifyRequest"


class RestartTests(Case):
    def start(self, **arguments: Any) -> Client:
        client = Client(cache_dir=self.cache, **arguments)
        self.addCleanup(client.close, 0.2)
        return client

    def test_the_next_call_after_a_death_is_answered_by_another_server(self) -> None:
        client = self.start()
        client.store("k", data=PICTURE)
        first = client.pid
        self.kill(first)
        self.assertTrue(client.is_cached("k"))
        self.assertNotEqual(client.pid, first)
        self.assert_gone(first)
        for call in (
            lambda: client.is_cached_many(["k"]),
            lambda: client.submit("isCached", {"key": "k"}).result(PATIENCE),
        ):
            self.kill(client.pid)
            call()
        client.close()
        with self.assertRaises(ServerGone) as caught:
            client.ping()
        self.assertIn("closed", str(caught.exception))

    def test_a_notification_starts_another_server_too(self) -> None:
        client = self.start(binary=self.odd_server("echoes"))
        client.ping()
        self.kill(client.pid)
        client.notify("anything")
        client.ping()
        self.assertEqual(self.starts(), 2)

    def test_calls_under_way_fail_with_the_signal_and_the_next_one_is_answered(self) -> None:
        page = Page(PICTURE, gate=threading.Event())
        http = self.serve({"/held.png": page})
        client = self.start()
        calls = [client.submit("retrieve", {"url": http.base + "/held.png"}) for _ in range(3)]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.retrieve, http.base + "/held.png")
            self.assertTrue(page.reached.wait(PATIENCE))
            client.ping()
            self.kill(client.pid)
            errors = [call.exception(PATIENCE) for call in calls] + [waiting.exception(PATIENCE)]
        for error in errors:
            assert isinstance(error, ServerGone)
            self.assertIn("killed by SIGKILL", str(error))
            self.assertEqual((error.exit_status, error.signal), (-signal.SIGKILL, "SIGKILL"))
            self.assertTrue(error.retryable)
            self.assertIsNone(error.retry_after)
        client.ping()

    def test_an_error_has_the_last_lines_of_what_the_server_said(self) -> None:
        client = self.start(binary=self.odd_server("answers-one"), stderr="discard")
        first = client.pid
        self.assertEqual(client.call("a"), "an answer")
        self.await_end(first)
        calls = [client.submit("b"), client.submit("c")]
        self.assertEqual(calls[0].result(PATIENCE), "an answer")
        error = calls[1].exception(PATIENCE)
        assert isinstance(error, ServerGone)
        self.assertEqual(tuple(error.stderr), ("line 1", "line 2", "the last words"))
        self.assertIn("exit status 4. It said:\n    line 1\n    line 2\n    the last words", str(error))

    def test_what_the_server_says_goes_where_it_is_wanted_all_the_same(self) -> None:
        lines: List[str] = []
        with open(self.scratch / "log", "w") as file:
            for target in (lines.append, file):
                client = self.start(binary=self.odd_server("dies-at-once"), stderr=target)
                with self.assertRaises(ServerGone):
                    client.ping()
        said = "looking around\ncannot go on: no room\n"
        self.assertIn(said.splitlines(), [lines[:2]])
        self.assertTrue((self.scratch / "log").read_text().startswith(said))

    def test_a_server_that_always_dies_at_once_is_not_started_in_a_loop(self) -> None:
        client = self.start(binary=self.odd_server("dies-at-once"), stderr="discard")
        errors: List[ServerGone] = []
        for _ in range(50):
            with self.assertRaises(ServerGone) as caught:
                client.ping()
            errors.append(caught.exception)
        self.assertEqual(self.starts(), FREE_DEATHS + 1)
        last = errors[-1]
        assert last.retry_after is not None
        self.assertTrue(0 < last.retry_after <= 1)
        for part in ("exit status 3", "cannot go on: no room", "4th in a row", "started in"):
            self.assertIn(part, str(last))
        many = client.is_cached_many(["k"] * 3, return_exceptions=True)
        self.assertEqual([type(error) for error in many], [ServerGone] * 3)
        with self.assertRaises(ServerGone):
            client.submit("ping")
        with self.assertRaises(ServerGone):
            next(client.events())
        self.assertEqual(self.starts(), FREE_DEATHS + 1)

    def test_many_threads_share_each_new_server(self) -> None:
        client = self.start()
        client.store("k", data=PICTURE)
        pids = [client.pid]
        stop = threading.Event()
        wrong: List[BaseException] = []
        answers: "Dict[int, int]" = {}

        def work(number: int) -> None:
            while not stop.is_set():
                try:
                    assert client.is_cached("k").cached
                    answers[number] = answers.get(number, 0) + 1
                except ServerGone:
                    pass
                except BaseException as error:
                    wrong.append(error)
                    return

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for _ in range(FREE_DEATHS):
            self.kill(client.pid)
            while client.pid == pids[-1]:
                try:
                    client.ping()
                except ServerGone:
                    pass
            pids.append(client.pid)
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive())
        self.assertEqual(wrong, [])
        self.assertEqual(len(answers), 16)
        self.assertEqual(len(set(pids)), FREE_DEATHS + 1)
        self.assertEqual(client.pid, pids[-1])
        for pid in pids[:-1]:
            self.assert_gone(pid)

    def test_a_new_server_has_the_settings_the_pause_the_folders_and_the_delegates_of_the_last(self) -> None:
        asked: List[str] = []

        def note(request: Dict[str, Any]) -> Any:
            asked.append(request["url"])
            return {}

        http = self.serve({"/a.png": Page(PICTURE)})
        client = self.start(delegates={MODIFY: note})
        client.configure(memory={"countLimit": 5}, disk={"purgeRatio": 0.25})
        client.configure(cache="thumbs", memory=False)
        client.configure(memory={"countLimit": 7})
        client.add_read_only_cache_path(self.scratch)
        before = client.configure(), client.configure(cache="thumbs")
        client.pause()
        client.subscribe("log", "cache/didClean")
        client.unsubscribe("log")
        self.kill(client.pid)
        self.assertEqual((client.configure(), client.configure(cache="thumbs")), before)
        self.assertEqual(before[0]["memory"]["countLimit"], 7)  # type: ignore[index]
        self.assertEqual(client.call("subscribe", {"events": []}), {"events": ["cache/didClean"]})
        call = client.submit("retrieve", {"url": http.base + "/a.png"})
        while client.pause()["waiting"] == 0:
            self.assertFalse(call.done())
        client.resume()
        self.assertEqual(call.result(PATIENCE).width, 31)
        self.assertEqual(asked, [http.base + "/a.png"])
        self.kill(client.pid)
        self.assertEqual(client.retrieve(http.base + "/a.png", options={"forceRefresh": True}).width, 31)

    def test_whoever_goes_through_events_goes_on_hearing(self) -> None:
        client = self.start()
        client.subscribe("cache/didClean")
        seen: List[Event] = []
        heard = threading.Event()

        def listen() -> None:
            for event in client.events():
                seen.append(event)
                heard.set()

        listener = threading.Thread(target=listen)
        listener.start()
        self.kill(client.pid)
        store_three(client)
        client.configure(disk={"bytesLimit": 15_000})
        self.assertTrue(heard.wait(PATIENCE))
        client.close()
        listener.join(PATIENCE)
        self.assertFalse(listener.is_alive())
        self.assertEqual(seen[0].params["reason"], "sizeLimit")

    def test_events_that_nobody_took_outlast_the_server(self) -> None:
        client = self.start()
        client.subscribe("cache/didClean")
        store_three(client)
        client.configure(disk={"bytesLimit": 15_000})
        for _ in range(1_000):  # the event may come after the answer
            client.ping()
        self.kill(client.pid)
        client.ping()
        event = client.next_event(PATIENCE)
        assert event is not None
        self.assertEqual(event.name, "cache/didClean")

    def test_the_next_server_is_the_same_wherever_the_program_is_by_then(self) -> None:
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.scratch)
        client = Client(cache_dir="cache")
        self.addCleanup(client.close)
        client.store("k", data=PICTURE)
        os.chdir("/")
        self.kill(client.pid)
        with mock.patch.dict(os.environ, {"HALCYON_BIN": "/nowhere"}):
            self.assertTrue(client.is_cached("k"))

    def test_a_client_that_is_closed_while_its_server_is_started_again_leaves_none(self) -> None:
        for _ in range(5):
            client = self.start()
            client.ping()
            self.kill(client.pid)
            gate = threading.Barrier(3)
            outcomes: List[Any] = []

            def call() -> None:
                gate.wait(PATIENCE)
                try:
                    client.ping()
                    outcomes.append(None)
                except ServerGone as gone:
                    outcomes.append(gone)

            threads = [threading.Thread(target=call) for _ in range(2)]
            for thread in threads:
                thread.start()
            gate.wait(PATIENCE)
            client.close()
            for thread in threads:
                thread.join(PATIENCE)
                self.assertFalse(thread.is_alive())
            self.assertEqual(len(outcomes), 2)
            self.assert_gone(client.pid)
            with self.assertRaises(ServerGone):
                client.ping()

    def test_a_forked_child_starts_no_server_for_its_parent(self) -> None:
        client = self.start(binary=self.odd_server("echoes"))
        client.ping()
        self.kill(client.pid)
        child = os.fork()
        if child == 0:
            try:
                client.call("echo", [1])
            except ServerGone as error:
                client.close()
                os._exit(7 if "fork" in str(error) else 8)
            finally:
                os._exit(9)
        self.assertEqual(os.WEXITSTATUS(os.waitpid(child, 0)[1]), 7)
        self.assertEqual(self.starts(), 1)
        self.assertEqual(client.call("echo", [2], timeout=PATIENCE), [2])

    def test_a_program_may_end_while_threads_call_and_start_servers(self) -> None:
        program = (
            "import os, signal, sys, threading, halcyon\n"
            "client = halcyon.Client(cache_dir=sys.argv[1])\n"
            "started = threading.Barrier(9)\n"
            "def work():\n"
            "    started.wait()\n"
            "    while True:\n"
            "        try: client.ping()\n"
            "        except halcyon.ServerGone: pass\n"
            "for _ in range(8): threading.Thread(target=work, daemon=True).start()\n"
            "started.wait()\n"
            "client.submit('ping').result()\n"
            "os.kill(client.pid, signal.SIGKILL)\n"
        )
        finished = subprocess.run(
            [sys.executable, "-c", program, str(self.cache)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=PATIENCE,
            env={**os.environ, "PYTHONPATH": str(Path(halcyon.__file__).parents[1])},
        )
        self.assertEqual((finished.returncode, finished.stdout), (0, ""))


class AsyncRestartTests(Case):
    def run_with(self, work: Callable[[AsyncClient], Awaitable[None]], **arguments: Any) -> None:
        async def run() -> None:
            async with AsyncClient(cache_dir=self.cache, **arguments) as client:
                await asyncio.wait_for(work(client), PATIENCE)

        asyncio.run(run())

    def test_the_next_call_after_a_death_is_answered_by_another_server(self) -> None:
        async def work(client: AsyncClient) -> None:
            await client.store("k", data=PICTURE)
            await client.configure(disk={"purgeRatio": 0.25})
            await client.subscribe("cache/didClean")
            assert client.pid is not None
            first = client.pid
            self.kill(first)  # the event loop has not seen it yet
            found = await asyncio.gather(*(client.is_cached("k") for _ in range(50)))
            self.assertTrue(all(found))
            self.assertNotEqual(client.pid, first)
            self.assertEqual((await client.configure())["disk"]["purgeRatio"], 0.25)
            subscribed = await client.call("subscribe", {"events": []})
            self.assertEqual(subscribed, {"events": ["cache/didClean"]})
            self.kill(client.pid)
            self.assertEqual([bool(one) for one in await client.is_cached_many(["k", "l"])], [True, False])

        self.run_with(work)

    def test_calls_under_way_fail_with_the_signal_and_the_next_one_is_answered(self) -> None:
        page = Page(PICTURE, gate=threading.Event())
        http = self.serve({"/held.png": page})

        async def work(client: AsyncClient) -> None:
            url = http.base + "/held.png"
            tasks = [asyncio.ensure_future(client.retrieve(url)) for _ in range(3)]
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, page.reached.wait, PATIENCE)
            await client.ping()
            assert client.pid is not None
            self.kill(client.pid)
            for error in await asyncio.gather(*tasks, return_exceptions=True):
                assert isinstance(error, ServerGone)
                self.assertEqual(error.signal, "SIGKILL")
            await client.ping()

        self.run_with(work)

    def test_a_server_that_always_dies_at_once_is_not_started_in_a_loop(self) -> None:
        async def work(client: AsyncClient) -> None:
            errors: List[Any] = []
            for _ in range(50):
                errors += await asyncio.gather(client.ping(), client.ping(), return_exceptions=True)
            self.assertEqual({type(error) for error in errors}, {ServerGone})
            self.assertEqual(self.starts(), FREE_DEATHS + 1)
            self.assertIn("4th in a row", str(errors[-1]))
            self.assertIn("cannot go on: no room", str(errors[-1]))
            many = await client.is_cached_many(["k"] * 3, return_exceptions=True)
            self.assertEqual([type(error) for error in many], [ServerGone] * 3)

        self.run_with(work, binary=self.odd_server("dies-at-once"), stderr="discard")

    def test_whoever_goes_through_events_goes_on_hearing(self) -> None:
        async def work(client: AsyncClient) -> None:
            await client.subscribe("cache/didClean")
            events = client.events()
            first = asyncio.ensure_future(events.__anext__())
            await client.ping()
            assert client.pid is not None
            self.kill(client.pid)
            for shade, key in enumerate("abc"):
                picture = png(8, 8, shade=shade, filler=10_000)
                await client.store(key, data=picture, options={"lease": 0})
            await client.configure(disk={"bytesLimit": 15_000})
            self.assertEqual((await first).params["reason"], "sizeLimit")

        self.run_with(work)

    def test_a_client_that_is_closed_while_its_server_is_started_again_leaves_none(self) -> None:
        async def work() -> None:
            client = await AsyncClient(cache_dir=self.cache).start()
            await client.ping()
            assert client.pid is not None
            self.kill(client.pid)
            calls = [asyncio.ensure_future(client.ping()) for _ in range(3)]
            await asyncio.sleep(0)
            await client.close()
            await asyncio.gather(*calls, return_exceptions=True)
            self.assert_gone(client.pid)
            with self.assertRaises(ServerGone):
                await client.ping()

        asyncio.run(asyncio.wait_for(work(), PATIENCE))


class LivesTests(unittest.TestCase):
    def test_the_pause_before_a_start_doubles_with_each_that_dies_young_and_ends_with_one_that_lasts(self) -> None:
        now = [0.0]
        lives = Lives(lambda: now[0])
        waits: List[float] = []
        for lived in [1.0] * 12 + [11.0, 1.0]:
            lives.begin()
            now[0] += lived
            lives.end()
            waits.append(lives.wait())
            now[0] += waits[-1]
            self.assertEqual(lives.wait(), 0)
        self.assertEqual(waits, [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 0, 0])


class RestoredTests(unittest.TestCase):
    def test_what_is_told_again_is_the_last_of_each_setting_in_the_order_it_was_told(self) -> None:
        restored = Restored()
        for number in range(100):
            restored.note("configure", '{"memory":{"countLimit":%d}}' % number)
            restored.note("configure", '{"cache":"thumbs","memory":false}')
        restored.note("configure", '{"disk":{"purgeRatio":1,"bytesLimit":2}}')
        restored.note("configure", '{"cache":"default","disk":{"purgeRatio":2}}')
        restored.note("configure", "{}")
        restored.note("addReadOnlyCachePath", '{"path":"/a"}')
        restored.note("addReadOnlyCachePath", '{"path":"/a"}')
        restored.note("pause", "{}")
        restored.note("resume", "{}")
        restored.note("subscribe", '{"events":["log","x"]}')
        restored.note("subscribe", '{"events":["log"]}')
        restored.note("unsubscribe", '{"events":["x"]}')
        self.assertEqual(
            restored.calls(),
            [
                ("configure", '{"memory":{"countLimit":99}}'),
                ("configure", '{"cache":"thumbs","memory":false}'),
                ("configure", '{"disk":{"purgeRatio":1,"bytesLimit":2}}'),
                ("configure", '{"cache":"default","disk":{"purgeRatio":2}}'),
                ("addReadOnlyCachePath", '{"path":"/a"}'),
                ("subscribe", '{"events":["log"]}'),
            ],
        )


def store_three(client: Client) -> None:
    """Stores three pictures of 10 kB each, which may be evicted at once."""
    for shade, key in enumerate("abc"):
        while True:
            try:
                client.store(key, data=png(8, 8, shade=shade, filler=10_000), options={"lease": 0})
                break
            except ServerGone:  # it was killed with the call under way
                continue


if __name__ == "__main__":
    unittest.main()
