"""Finding, starting and ending the server."""

import asyncio
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

import halcyon
from halcyon import (
    AsyncClient,
    BinaryNotFound,
    CallTimedOut,
    Client,
    InvalidURL,
    ServerGone,
    find_binary,
)

from .support import PATIENCE, Case, png


class FindingTests(Case):
    def executable(self, folder: str) -> str:
        path = self.scratch / folder / "halcyon"
        path.parent.mkdir()
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def test_the_argument_counts_before_the_variable_and_the_variable_before_path(self) -> None:
        argument, variable, path = map(self.executable, ("argument", "variable", "path"))
        with mock.patch.dict(os.environ, {"HALCYON_BIN": variable, "PATH": os.path.dirname(path)}):
            self.assertEqual(find_binary(argument), argument)
            self.assertEqual(find_binary(Path(argument)), argument)
            self.assertEqual(find_binary(), variable)
            del os.environ["HALCYON_BIN"]
            self.assertEqual(find_binary(), path)

    def test_an_error_names_the_three_ways_when_none_leads_to_the_server(self) -> None:
        with mock.patch.dict(os.environ, {"HALCYON_BIN": "", "PATH": str(self.scratch)}):
            with self.assertRaises(BinaryNotFound) as caught:
                Client()
            for way in ("binary=", "HALCYON_BIN", "PATH"):
                self.assertIn(way, str(caught.exception))

    def test_a_way_that_is_given_and_wrong_is_an_error_even_if_another_would_do(self) -> None:
        good = self.executable("good")
        with mock.patch.dict(os.environ, {"HALCYON_BIN": good}):
            with self.assertRaises(BinaryNotFound) as caught:
                Client(binary="/no/such/halcyon")
            self.assertIn("/no/such/halcyon", str(caught.exception))
        with mock.patch.dict(
            os.environ, {"HALCYON_BIN": "/nor/this", "PATH": os.path.dirname(good)}
        ):
            with self.assertRaises(BinaryNotFound) as caught:
                find_binary()
            self.assertIn("/nor/this", str(caught.exception))

    def test_a_file_that_cannot_be_run_is_reported(self) -> None:
        broken = self.scratch / "halcyon"
        broken.write_bytes(b"\x7fELF, but not really")
        broken.chmod(0o755)
        with self.assertRaises(BinaryNotFound) as caught:
            Client(binary=broken)
        self.assertIn(str(broken), str(caught.exception))

    def test_an_unread_pipe_for_the_log_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            Client(binary=self.executable("any"), stderr=subprocess.PIPE)


class LifeTests(Case):
    def test_leaving_the_block_ends_the_server(self) -> None:
        with Client(cache_dir=self.cache) as client:
            client.ping()
        self.assert_gone(client.pid)
        client.close()
        with self.assertRaises(ServerGone) as caught:
            client.ping()
        self.assertIn("closed", str(caught.exception))
        self.assertFalse(caught.exception.retryable)

    def test_a_server_that_is_killed_fails_the_calls_that_it_has(self) -> None:
        with Client(cache_dir=self.cache) as client:
            client.ping()
            # A call that is made after the death starts another server, so it is made before.
            os.kill(client.pid, signal.SIGSTOP)
            call = client.submit("ping")
            os.kill(client.pid, signal.SIGKILL)
            with self.assertRaises(ServerGone) as caught:
                call.result(PATIENCE)
            self.assertIn("SIGKILL", str(caught.exception))
            self.assertEqual(caught.exception.exit_status, -signal.SIGKILL)

    def test_a_forgotten_client_with_delegates_takes_its_server_along(self) -> None:
        client = Client(cache_dir=self.cache, delegates={"downloader/modifyRequest": lambda _: {}})
        pid = client.pid
        client.ping()
        answering = [thread for thread in threading.enumerate() if thread.name == "halcyon delegates"]
        self.assertEqual(len(answering), 1)
        del client
        gc.collect()
        answering[0].join(PATIENCE)  # it meets the end of the server
        self.assert_gone(pid)

    def test_a_server_that_does_not_read_holds_no_call_up_longer_than_its_time_out(self) -> None:
        with Client(cache_dir=self.cache) as client:
            client.ping()
            os.kill(client.pid, signal.SIGSTOP)
            try:
                for _ in range(2):
                    with self.assertRaises(CallTimedOut):
                        client.store("a", data=b"a" * 1_000_000, timeout=0.05)
                    with self.assertRaises(CallTimedOut):
                        client.is_cached_many(["k" * 500] * 600, timeout=0.05)
            finally:
                os.kill(client.pid, signal.SIGCONT)
            self.assertFalse(client.is_cached("none", timeout=PATIENCE))

    def test_a_client_that_is_forgotten_takes_its_server_along(self) -> None:
        client = Client(cache_dir=self.cache)
        client.ping()
        pid = client.pid
        del client
        self.assert_gone(pid)

    def test_flags_and_variables_are_passed_on(self) -> None:
        with Client(cache_dir=self.cache, args=["--memory-limit", "1"]) as client:
            client.store("k", data=png(4, 4))
            self.assertEqual(client.is_cached("k").cache_type, "disk")
        with Client(env={"HALCYON_CACHE_DIR": str(self.scratch / "other")}) as client:
            stored = client.store("k", data=png(4, 4))
            self.assertTrue(os.fspath(stored).startswith(str(self.scratch / "other")))

    def test_flags_in_one_text_are_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "args is a list of flags"):
            Client(cache_dir=self.cache, args="--offline")  # type: ignore[arg-type]

    def test_one_text_in_the_place_of_a_list_is_refused(self) -> None:
        with Client(cache_dir=self.cache) as client:
            for call in (client.retrieve_many, client.retrieve_iter, client.is_cached_many, client.prefetch):
                with self.assertRaisesRegex(TypeError, r"s is a list, such as \['http://a/'\], not one text"):
                    call("http://a/")

    def test_no_file_is_read_where_only_other_schemes_are_allowed(self) -> None:
        picture = self.scratch / "secret.png"
        picture.write_bytes(png(4, 4))
        with Client(cache_dir=self.cache) as client:
            self.assertEqual(client.retrieve(picture.as_uri()).width, 4)
        for schemes in (["https"], "https", ("http", "data")):
            with Client(cache_dir=self.cache / "other", schemes=schemes) as client:
                with self.assertRaises(InvalidURL):
                    client.retrieve(picture.as_uri())

        async def retrieve() -> None:
            async with AsyncClient(cache_dir=self.cache / "other", schemes=["https"]) as images:
                await images.retrieve(picture.as_uri())

        with self.assertRaises(InvalidURL):
            asyncio.run(retrieve())

    def test_a_program_that_is_killed_leaves_no_server_behind(self) -> None:
        program = (
            "import sys, time, halcyon\n"
            "client = halcyon.Client(cache_dir=sys.argv[1])\n"
            "client.ping()\n"
            "print(client.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        source = str(Path(halcyon.__file__).parents[1])
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(self.cache)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": source},
        )
        assert child.stdout is not None
        with child.stdout:
            server = int(child.stdout.readline())
            watched = os.pidfd_open(server)
            try:
                child.kill()
                child.wait()
                ended = select.select([watched], [], [], PATIENCE)[0]
            finally:
                os.close(watched)
        self.assertTrue(ended)


if __name__ == "__main__":
    unittest.main()
