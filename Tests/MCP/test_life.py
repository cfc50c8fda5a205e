"""Cancellation, progress and the end of a server."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import threading
from typing import Any, Dict

from support import BINARY, MCPCase, encoded, noise, screenshot
from wire import META, SESSIONS, STATELESS


class LifeTests(MCPCase):
    def slow(self) -> str:
        return self.web.add("/slow.png", encoded(noise(300, 300)))

    def test_a_cancelled_call_is_never_answered_and_leaves_its_server(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        number = agent.send("tools/call", name="view_image", arguments={"image": self.slow()})
        self.web.arrived.wait(10)
        agent.tell("notifications/cancelled", requestId=number)
        agent.ask("ping")
        self.web.gate.set()
        agent.ask("ping")
        self.assertEqual([note for note in agent.notes if note.get("id") == number], [])

    def test_progress_grows_and_ends_before_the_answer(self) -> None:
        for version in [STATELESS, SESSIONS[0]]:
            agent = self.agent(version=version)
            for number in range(8):
                self.put(f"{number}.png", screenshot())
            names = [f"{number}.png" for number in range(8)]
            arguments = {"images": names, "max_side": 400}
            sent = agent.send("tools/call", name="contact_sheet", arguments=arguments, _meta={"progressToken": "sheet"})
            agent.answer(sent)
            values = [note["params"]["progress"] for note in agent.notes]
            self.assertTrue(values)
            self.assertEqual(values, sorted(set(values)))
            self.assertTrue(all(note["params"]["progressToken"] == "sheet" for note in agent.notes))
            agent.check_alive()

    def test_a_progress_token_is_a_string_or_a_whole_number(self) -> None:
        self.put("a.png", screenshot())
        for version in [STATELESS, SESSIONS[0]]:
            agent = self.agent(version=version)
            for token in [1.5, None, True, {}, []]:
                meta = {**(META if version == STATELESS else {}), "progressToken": token}
                error = agent.fail("tools/call", hostile=True, name="image_info", arguments={"image": "a.png"}, _meta=meta)
                self.assertEqual(error["code"], -32602)
            for token in ["", 0, -1]:
                agent.ask("tools/call", name="image_info", arguments={"image": "a.png"}, _meta={"progressToken": token})

    def test_slow_downloads_do_not_hold_up_other_calls(self) -> None:
        # Four results of that size would fill what a client may leave unread.
        agent = self.agent("--max-result-bytes", "16MiB", version=SESSIONS[0], patience=30)
        body = encoded(noise(300, 300))
        urls = [self.web.add(f"/slow{number}.png", body) for number in range(8)]
        sent = [agent.send("tools/call", name="view_image", arguments={"image": url}) for url in urls]
        self.assertTrue(self.web.stalled.acquire(timeout=10))
        self.assertEqual(agent.call("cache_size").values["images"], 0)
        agent.check_alive()
        for number in sent:
            agent.tell("notifications/cancelled", requestId=number)
        agent.check_alive()
        self.web.gate.set()
        agent.check_alive()
        self.assertEqual(agent.notes + agent.rest(), [])
        self.assertEqual(agent.wire.open, 8 * ["tools/call"])

    def test_after_the_end_of_input_the_process_is_gone_soon_with_work_in_flight(self) -> None:
        agent = self.agent()
        agent.send("tools/call", name="view_image", arguments={"image": self.slow()})
        self.assertTrue(self.web.arrived.wait(10))
        self.assertEqual(agent.end(), 0)

    def test_a_call_that_is_nearly_done_is_answered_after_the_end_of_input(self) -> None:
        self.put("a.png", screenshot())
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "image_info", "arguments": {"image": "a.png"}}}
        done = subprocess.run(
            [BINARY, "mcp", "--root", str(self.root), "--cache-dir", str(self.root / "cache")],
            input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=True,
        )
        self.assertEqual(json.loads(done.stdout)["result"]["structuredContent"]["width"], 320)

    def test_pixels_that_tools_have_read_leave_no_file(self) -> None:
        self.put("a.png", screenshot())
        cache = self.root / "cache"
        agent = self.agent(cache=str(cache))
        agent.call("compare_images", first="a.png", second="a.png")
        agent.call("contact_sheet", images=["a.png"])
        agent.call("image_info", image="a.png", colors=True)
        self.assertEqual(agent.end(), 0)
        self.assertEqual(list((cache / "default/partial").iterdir()), [])

    def test_a_signal_ends_the_process_with_work_in_flight(self) -> None:
        agent = self.agent()
        agent.send("tools/call", name="view_image", arguments={"image": self.slow()})
        self.assertTrue(self.web.arrived.wait(10))
        agent.process.send_signal(signal.SIGTERM)
        self.assertEqual(agent.process.wait(5), 128 + signal.SIGTERM)

    def test_a_client_that_is_gone_ends_the_process(self) -> None:
        agent = self.agent()
        agent.check_alive()
        assert agent.process.stdout is not None
        agent.process.stdout.close()
        # It may have noticed already.
        with contextlib.suppress(BrokenPipeError):
            agent.send("tools/list")
        self.assertNotEqual(agent.process.wait(5), None)


class HostileTests(MCPCase):
    def test_garbage_is_passed_by_and_no_id_is_null(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        for text in [b"{", b"[]", b"5", b"null", b"\xff\xfe\x00", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"id":1}',
                     b'{"jsonrpc":"2.0","method":"tools/list"}', b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'"x"' * 1000,
                     b"[" * 5000, b'[{"jsonrpc":"2.0","id":null,"method":"ping"}]', b'{"jsonrpc":"1.0","id":null,"method":"x"}']:
            agent.write(text)
        agent.ask("ping")
        for note in agent.notes:
            self.assertIn("error", note)
            self.assertIsNotNone(note["id"])

    def test_a_message_that_is_too_long_is_refused_to_the_one_who_sent_it(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        agent.write(b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"image_info","arguments":{"image":"'
                    + b"x" * (65 << 20) + b'"}}}')
        agent.check_alive()
        self.assertEqual([note["id"] for note in agent.notes], [77])
        self.assertIn("error", agent.notes[0])
        self.assertLess(len(json.dumps(agent.notes[0])), 1000)

    def test_an_id_is_answered_as_it_was_sent(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        for number in ["a", "", "ü", 0, -1, 2**53]:
            agent.deliver({"jsonrpc": "2.0", "id": number, "method": "ping"})
            self.assertEqual(agent.read(), {"jsonrpc": "2.0", "id": number, "result": {}})

    def test_ten_thousand_requests_are_all_answered(self) -> None:
        self.put("a.png", screenshot())
        agent = self.agent(version=SESSIONS[0])
        count = 10_000

        def send() -> None:
            for number in range(count):
                message: Dict[str, Any] = {"jsonrpc": "2.0", "id": f"n{number}", "method": "ping"}
                if number % 40 < 4:
                    name = ["cache_size", "image_info", "nothing", "view_image"][number % 4]
                    arguments = [{}, {"image": "a.png"}, {}, {"image": "a.png", "max_side": 64}][number % 4]
                    # Of both eras, by turns.
                    meta = {"_meta": META} if number % 80 < 40 else {}
                    message.update(method="tools/call", params={"name": name, "arguments": arguments, **meta})
                agent.deliver(message)

        thread = threading.Thread(target=send)
        thread.start()
        seen = [agent.read()["id"] for _ in range(count)]
        thread.join()
        self.assertEqual(sorted(seen), sorted(f"n{number}" for number in range(count)))

    def test_huge_arguments_are_refused_in_a_short_sentence(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        for arguments in [{"image": "x" * 5_000_000}, {"image": "http://" + "a" * 2_000_000}, {"image": "data:image/png," + "x" * 3_000_000}]:
            response = agent.answer(agent.send("tools/call", name="image_info", arguments=arguments))
            self.assertLess(len(json.dumps(response)), 5000)
        error = agent.fail("tools/call", name="image_info", arguments={"y" * 1_000_000: 1})
        self.assertLess(len(error["message"]), 1000)
        self.assertLess(len(agent.fail("z" * 1_000_000, hostile=True)["message"]), 1000)
