"""The asynchronous client and the event loop it shares with the rest of a program."""

import asyncio
import concurrent.futures
import threading
import unittest
from typing import Any

from halcyon import AsyncClient, ServerGone

from .support import PATIENCE, Case


class EventLoopTests(Case):
    def run_with(self, behaviour: str, work: Any) -> Any:
        async def run() -> Any:
            async with AsyncClient(binary=self.odd_server(behaviour)) as client:
                return await asyncio.wait_for(work(client), PATIENCE)

        return asyncio.run(run())

    def test_calls_learn_of_the_end_of_the_server_while_every_thread_of_the_loop_waits_for_them(self) -> None:
        async def work(client: AsyncClient) -> None:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
            gate = threading.Event()
            busy = loop.run_in_executor(None, gate.wait, PATIENCE)
            try:
                with self.assertRaises(ServerGone) as caught:
                    await asyncio.wait_for(client.call("a"), PATIENCE / 2)
                self.assertEqual(caught.exception.exit_status, 3)
            finally:
                gate.set()
                await busy

        self.run_with("dies", work)


if __name__ == "__main__":
    unittest.main()
