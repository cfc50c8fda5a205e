"""The synchronous client with the real server, a real HTTP server and real files."""

import base64
import os
import threading
import unittest
from typing import Any, Dict, List

from halcyon import (
    BadData,
    CachedResult,
    Client,
    ConnectionFailed,
    ImageOptions,
    ImageResult,
    InvalidParams,
    InvalidStatusCode,
    InvalidURL,
    MethodNotFound,
    NotCached,
    PendingCall,
    Progress,
)

from .support import PATIENCE, Case, Page, png

PICTURE = png(31, 17)


class ClientTests(Case):
    def setUp(self) -> None:
        super().setUp()
        self.http = self.serve(
            {
                "/picture.png": Page(PICTURE),
                "/large.png": Page(png(64, 64, filler=3_000_000)),
                "/page.html": Page(b"<html>no picture</html>", kind="text/html"),
            }
        )
        self.url = self.http.base + "/picture.png"
        self.client = self.start()

    def start(self) -> Client:
        client = Client(cache_dir=self.cache)
        self.addCleanup(client.close)
        return client

    def test_a_picture_is_downloaded_once_then_in_memory_then_on_disk_after_a_restart(self) -> None:
        first = self.client.retrieve(self.url)
        self.assertEqual((first.cache_type, first.width, first.height), ("none", 31, 17))
        self.assertEqual((first.format, first.mime_type), ("png", "image/png"))
        self.assertEqual((first.frame_count, first.byte_count), (1, len(PICTURE)))
        self.assertEqual((first.key, first.cache, first.extra), (self.url, "default", {}))
        self.assertIsNone(first.data)
        with open(first, "rb") as file:
            self.assertEqual(file.read(), PICTURE)
        self.assertEqual(first.read(), PICTURE)
        self.assertTrue(os.fspath(first).startswith(str(self.cache)))
        self.assertEqual(self.client.retrieve(self.url).cache_type, "memory")
        self.client.close()
        again = self.start().retrieve(self.url)
        self.assertEqual((again.cache_type, again.path), ("disk", first.path))
        self.assertEqual(self.http.counts["/picture.png"], 1)

    def test_bytes_arrive_decoded_when_they_are_asked_for(self) -> None:
        both = self.client.retrieve(self.url, as_="both")
        self.assertEqual((both.data, both.read()), (PICTURE, PICTURE))
        self.assertIsNotNone(both.path)
        self.assertEqual(self.client.retrieve(self.url, as_="data").data, PICTURE)
        neither = self.client.retrieve(self.url, as_="none")
        self.assertIsNone(neither.data)
        large = self.client.retrieve(self.http.base + "/large.png", as_="data")
        self.assertEqual(large.data, self.http.pages["/large.png"].body)

    def test_a_stored_file_or_bytes_are_found_and_can_be_removed(self) -> None:
        picture = self.scratch / "pictúre.png"
        picture.write_bytes(PICTURE)
        self.assertFalse(self.client.is_cached("file"))
        stored = self.client.store("file", path=picture)
        picture.unlink()
        self.assertEqual((stored.key, stored.read()), ("file", PICTURE))
        self.assertEqual(self.client.store("bytes", data=bytearray(PICTURE)).read(), PICTURE)
        for key in ("file", "bytes"):
            self.assertTrue(self.client.is_cached(key))
            where = self.client.cache_path(key)
            self.assertTrue(where.exists)
            with open(where, "rb") as file:
                self.assertEqual(file.read(), PICTURE)
            self.assertTrue(self.client.remove(key))
            self.assertEqual(self.client.is_cached(key), CachedResult(False, "none"))
            self.assertFalse(self.client.cache_path(key).exists)
            self.assertFalse(self.client.remove(key))

    def test_a_relative_path_is_taken_from_the_folder_of_this_program(self) -> None:
        (self.scratch / "here.png").write_bytes(PICTURE)
        before = os.getcwd()
        os.chdir(self.scratch)
        try:
            self.assertEqual(self.client.store("here", path="here.png").read(), PICTURE)
        finally:
            os.chdir(before)

    def test_removing_from_memory_alone_leaves_the_disk(self) -> None:
        self.client.store("k", data=PICTURE)
        removed = self.client.remove("k", from_disk=False)
        self.assertEqual((removed.memory, removed.disk), (True, False))
        self.assertEqual(self.client.is_cached("k").cache_type, "disk")

    def test_sizes_and_clearing_count_what_is_there(self) -> None:
        empty = self.client.calculate_size()
        self.assertEqual((empty.disk.count, empty.disk.byte_count, empty.memory.count), (0, 0, 0))
        self.client.store("a", data=PICTURE)
        self.client.store("b", data=PICTURE)
        full = self.client.calculate_size()
        # The same bytes take the disk space once.
        self.assertEqual((full.disk.count, full.disk.byte_count), (2, len(PICTURE)))
        self.assertEqual((full.memory.count, full.memory.byte_count), (2, 2 * len(PICTURE)))
        self.assertEqual(full.disk.bytes, full.disk.byte_count, "under the former name too")
        self.assertEqual(self.client.clear_memory().count, 2)
        self.assertEqual(self.client.is_cached("a").cache_type, "disk")
        self.assertEqual(self.client.clear_disk().count, 2)
        self.assertFalse(self.client.is_cached("a"))
        self.client.store("c", data=PICTURE)
        self.client.clear()
        self.assertEqual(self.client.calculate_size().disk.count, 0)

    def test_named_caches_do_not_see_each_other(self) -> None:
        self.client.store("k", data=PICTURE, cache="icons")
        self.assertTrue(self.client.is_cached("k", cache="icons"))
        self.assertFalse(self.client.is_cached("k"))
        self.assertEqual(self.client.calculate_size(cache="icons").disk.count, 1)

    def test_a_key_of_its_own_names_the_entry(self) -> None:
        self.assertEqual(self.client.retrieve(self.url, key="mine").key, "mine")
        self.assertTrue(self.client.is_cached("mine"))
        self.assertFalse(self.client.is_cached(self.url))

    def test_options_reach_the_server_and_the_origin(self) -> None:
        options: ImageOptions = {"headers": {"X-Wish": "granted"}, "forceRefresh": True}
        self.client.retrieve(self.url, options=options)
        self.client.retrieve(self.url, options=options)
        self.assertEqual(self.http.headers["/picture.png"]["x-wish"], "granted")
        self.assertEqual(self.http.counts["/picture.png"], 2)

    def test_each_failure_has_its_own_exception_with_code_name_and_data(self) -> None:
        with self.assertRaises(InvalidStatusCode) as missing:
            self.client.retrieve(self.http.base + "/missing.png")
        self.assertEqual((missing.exception.code, missing.exception.status_code), (10002, 404))
        self.assertEqual(missing.exception.name, "invalidStatusCode")
        with self.assertRaises(BadData) as page:
            self.client.retrieve(self.http.base + "/page.html")
        self.assertFalse(page.exception.retryable)
        with self.assertRaises(InvalidURL):
            self.client.retrieve("gopher://localhost/a.png")
        with self.assertRaises(NotCached):
            self.client.retrieve(self.url, options={"onlyFromCache": True})
        nobody = self.serve({})
        nobody.close()
        with self.assertRaises(ConnectionFailed) as refused:
            self.client.retrieve(nobody.base + "/a.png")
        self.assertTrue(refused.exception.retryable)
        with self.assertRaises(MethodNotFound):
            self.client.call("retreive", {"url": self.url})
        with self.assertRaises(InvalidParams) as misspelt:
            self.client.call("retrieve", {"url": self.url, "kee": "k"})
        self.assertIn("key", str(misspelt.exception))

    def test_store_wants_either_a_path_or_bytes(self) -> None:
        with self.assertRaises(TypeError):
            self.client.store("k")
        with self.assertRaises(TypeError):
            self.client.store("k", path="a.png", data=b"")

    def test_progress_grows_to_the_whole_length_before_the_answer(self) -> None:
        reports: List[Progress] = []
        gate = self.hold("/held.png", png(8, 8, filler=200_000))

        def watch(report: Progress) -> None:
            reports.append(report)
            gate.set()  # the rest of the body follows only after a first report

        call = self.client.submit(
            "retrieve",
            {"url": self.http.base + "/held.png"},
            progress=watch,
        )
        call.result(PATIENCE)
        received = [report.received_bytes or 0 for report in reports]
        self.assertEqual(received, sorted(received))
        length = len(self.http.pages["/held.png"].body)
        self.assertEqual(reports[-1].kind, "end")
        self.assertIn(length, [report.total_bytes for report in reports])

    def test_a_progress_callback_may_use_the_client_and_what_it_raises_comes_out(self) -> None:
        answers: List[Any] = []

        def ask(report: Progress) -> None:
            answers.append(self.client.is_cached("anything"))

        self.client.retrieve(self.url, progress=ask)
        self.assertTrue(answers)

        def complain(report: Progress) -> None:
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            self.client.retrieve(self.url, options={"forceRefresh": True}, progress=complain)
        self.client.ping(timeout=PATIENCE)

    def test_a_batch_answers_in_the_order_asked_with_an_error_where_one_belongs(self) -> None:
        urls = [self.url, self.http.base + "/missing.png", self.url]
        results = self.client.retrieve_many(urls, return_exceptions=True)
        self.assertIsInstance(results[1], InvalidStatusCode)
        for found in (results[0], results[2]):
            assert isinstance(found, ImageResult)
            self.assertEqual(found.read(), PICTURE)
        with self.assertRaises(InvalidStatusCode):
            self.client.retrieve_many(urls)
        self.assertEqual(self.client.retrieve_many([]), [])

    def test_ten_thousand_lookups_in_one_batch_are_all_answered_in_order(self) -> None:
        self.client.store("7", data=PICTURE)
        keys = [str(number % 10) for number in range(10_000)]
        found = self.client.is_cached_many(keys, timeout=PATIENCE)
        self.assertEqual([bool(item) for item in found], [key == "7" for key in keys])
        paths = self.client.cache_path_many(keys[:1_000], timeout=PATIENCE)
        self.assertEqual([path.exists for path in paths], [key == "7" for key in keys[:1_000]])

    def test_an_image_may_be_named_by_its_url_in_place_of_its_key(self) -> None:
        self.assertFalse(self.client.is_cached(url=self.url))
        self.client.retrieve(self.url + "#part")
        self.assertTrue(self.client.is_cached(url=self.url + "#other"))
        self.assertEqual(self.client.inspect(url=self.url).key, self.url)
        self.assertTrue(self.client.cache_path(url=self.url).exists)
        data = "data:text/plain,a#b"
        self.client.store(data, data=PICTURE)
        self.assertTrue(self.client.is_cached(url=data))
        self.assertTrue(self.client.remove(url=self.url))
        self.assertFalse(self.client.is_cached(url=self.url))
        for neither_or_both in (None, self.url):
            with self.assertRaisesRegex(TypeError, "by its key or by url="):
                self.client.remove(neither_or_both, url=neither_or_both)

    def test_notebooks_show_what_browsers_show(self) -> None:
        image = self.client.retrieve(self.url)
        self.assertEqual((image._repr_png_(), image._repr_html_()), (PICTURE, None))
        webp = self.client.retrieve(self.url, processors="format:webp", as_="data")
        assert webp.data is not None
        encoded = base64.b64encode(webp.data).decode()
        self.assertIsNone(webp._repr_png_())
        self.assertEqual(
            webp._repr_html_(),
            '<img src="data:image/webp;base64,%s" width="%d" style="max-width: 100%%">' % (encoded, image.width),
        )
        tiff = self.client.retrieve(self.url, processors="format:tiff")
        self.assertEqual((tiff._repr_png_(), tiff._repr_html_()), (None, None))
        self.client.clear()
        self.assertIsNone(image._repr_png_())

    def test_pipelined_calls_on_one_key_take_effect_in_the_order_sent(self) -> None:
        data = base64.b64encode(PICTURE).decode()
        calls: List[PendingCall[Any]] = [
            self.client.submit("isCached", {"key": "k"}),
            self.client.submit("store", {"key": "k", "data": data}),
            self.client.submit("isCached", {"key": "k"}),
            self.client.submit("remove", {"key": "k"}),
            self.client.submit("isCached", ["k"]),
        ]
        results = [call.result(PATIENCE) for call in calls]
        self.assertEqual([results[item].cached for item in (0, 2, 4)], [False, True, False])

    def test_the_server_describes_itself_counts_and_answers_a_ping(self) -> None:
        document: Dict[str, Any] = self.client.discover()
        names = {method["name"] for method in document["methods"]}
        ours = {"retrieve", "store", "remove", "isCached", "cachePath", "calculateSize", "clear"}
        self.assertLessEqual(ours | {"clearMemory", "clearDisk", "stats", "ping"}, names)
        self.assertTrue(self.client.stats())
        self.client.ping()
        self.client.notify("$/setTrace", {"value": "off"})
        self.client.ping()

    def test_every_option_the_types_name_is_one_the_server_knows(self) -> None:
        # A name the server does not know is InvalidParams that names it; a value of the wrong type
        # complains of the value instead.
        self.client.store("k", data=PICTURE)
        for name in ImageOptions.__annotations__:
            with self.subTest(name), self.assertRaises(InvalidParams) as caught:
                options = {name: {"no": ["such", "value"]}}
                self.client.call("retrieve", {"url": self.url, "options": options})
            self.assertIn(name, str(caught.exception))
            self.assertNotIn("nknown", str(caught.exception))

    def hold(self, path: str, body: bytes) -> threading.Event:
        gate = threading.Event()
        self.http.pages[path] = Page(body, gate=gate)
        return gate


if __name__ == "__main__":
    unittest.main()
