"""The two eras of the protocol: who begins, what each request says, and what each result does."""

from __future__ import annotations

import json
import unittest
from typing import Any, Dict

import jsonschema

from support import Agent, MCPCase
from wire import META, SESSIONS, STATELESS, VERSION_KEY, Wire


class EraTests(MCPCase):
    def test_a_session_has_the_version_that_the_client_asks_for(self) -> None:
        for version in SESSIONS:
            with self.subTest(version), Agent(version=version) as agent:
                client = {"name": "t", "version": "1"}
                result = agent.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
                self.assertEqual(result["protocolVersion"], version)
                self.assertEqual(result["serverInfo"]["name"], "halcyon")
                self.assertEqual(set(result["capabilities"]), {"tools", "resources"})
                self.assertNotIn("resultType", result)
                self.assertEqual(agent.ask("ping"), {})

    def test_a_version_that_has_no_sessions_is_answered_with_the_newest_that_has(self) -> None:
        for version in ["1999-01-01", STATELESS]:
            agent = self.agent(version=SESSIONS[0])
            client = {"name": "t", "version": "1"}
            result = agent.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
            self.assertEqual(result["protocolVersion"], SESSIONS[0])

    def test_without_a_session_the_server_is_discovered(self) -> None:
        result = self.agent().ask("server/discover")
        self.assertEqual(result["supportedVersions"], [STATELESS] + SESSIONS)
        self.assertEqual(result["resultType"], "complete")
        self.assertEqual(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "halcyon")

    def test_each_message_chooses_its_era(self) -> None:
        agent = self.agent(version=SESSIONS[1])
        self.assertNotIn("resultType", agent.ask("tools/list"))
        agent.version = STATELESS
        self.assertEqual(agent.ask("tools/list")["resultType"], "complete")
        agent.version = SESSIONS[1]
        self.assertNotIn("resultType", agent.ask("tools/list"))

    def test_an_unknown_version_is_refused_with_those_that_there_are(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        meta = {"io.modelcontextprotocol/protocolVersion": "2031-01-01", "io.modelcontextprotocol/clientCapabilities": {}}
        error = agent.fail("tools/list", _meta=meta)
        self.assertEqual(error["code"], -32022)
        self.assertEqual(error["data"]["requested"], "2031-01-01")
        self.assertIn(STATELESS, error["data"]["supported"])

    def test_a_request_without_what_its_version_needs_is_refused(self) -> None:
        agent = self.agent(version=SESSIONS[0])
        meta = {"io.modelcontextprotocol/protocolVersion": STATELESS}
        for params in [{"_meta": meta}, {"_meta": 5}, {"_meta": {"io.modelcontextprotocol/protocolVersion": 5}}]:
            self.assertEqual(agent.fail("tools/list", hostile=True, **params)["code"], -32602)
        self.assertEqual(agent.fail("server/discover", hostile=True)["code"], -32602)

    def test_the_list_of_tools_is_small_and_never_changes(self) -> None:
        lists = []
        for version in [STATELESS] + SESSIONS:
            agent = self.agent(version=version)
            lists.append(json.dumps(agent.ask("tools/list")["tools"]))
            self.assertLess(agent.length, 8192)
        self.assertEqual(len(set(lists)), 1)

    def test_what_there_is_not_is_refused(self) -> None:
        for version in [STATELESS, SESSIONS[0]]:
            agent = self.agent(version=version)
            self.assertEqual(agent.fail("prompts/list")["code"], -32601)
            self.assertEqual(agent.fail("tools/call", name="nothing", arguments={})["code"], -32602)
            self.assertEqual(agent.fail("tools/list", cursor="5")["code"], -32602)
            missing = agent.fail("resources/read", uri="halcyon://default/" + 64 * "0")
            self.assertEqual(missing["code"], -32602 if version == STATELESS else -32002)

    def test_every_method_answers_in_every_version(self) -> None:
        for version in [STATELESS] + SESSIONS:
            agent = self.agent(version=version)
            for method in ["ping", "tools/list", "resources/list", "resources/templates/list"]:
                with self.subTest(version=version, method=method):
                    # The newest version has no ping, and hosts that look whether we live send it all the same.
                    agent.ask(method, hostile=(method, version) == ("ping", STATELESS))


class DriverTests(unittest.TestCase):
    """The tests themselves: a message that is not what its era wants is found on its way, from either side."""

    def request(self, method: str, **params: Any) -> Dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    def test_a_request_that_is_not_of_its_type_is_found(self) -> None:
        for version, request in [
            (SESSIONS[0], self.request("tools/call", name=5)),
            (SESSIONS[0], self.request("tools/call", name="a", arguments=[])),
            (SESSIONS[0], self.request("tools/call", name="a", _meta={"progressToken": 1.5})),
            (SESSIONS[1], self.request("initialize", protocolVersion=SESSIONS[1], capabilities={})),
            (SESSIONS[1], self.request("resources/read")),
            (SESSIONS[2], self.request("server/discover", _meta={})),
            (STATELESS, self.request("tools/list")),
            (STATELESS, self.request("tools/list", _meta={VERSION_KEY: STATELESS})),
            (STATELESS, self.request("ping", _meta=META)),
            (SESSIONS[0], {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1.5}}),
            (STATELESS, {"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ]:
            with self.subTest(version=version, request=request), self.assertRaises((AssertionError, jsonschema.ValidationError)):
                Wire(version).sent(request)

    def test_an_answer_that_is_not_of_its_type_is_found(self) -> None:
        done = {"content": [], "resultType": "complete"}
        for version, answer in [
            (SESSIONS[0], {"id": 1, "result": {}}),
            (SESSIONS[0], {"id": 1, "result": {"content": [{"type": "image", "data": "aa"}]}}),
            (STATELESS, {"id": 1, "result": {"content": []}}),
            (STATELESS, {"id": 2, "result": done}),
            (STATELESS, {"id": 1, "error": {"code": -32022, "message": "x"}}),
            (STATELESS, {"id": 1, "error": {"code": -32050, "message": "x"}}),
            (STATELESS, {"id": None, "error": {"code": -32600, "message": "x"}}),
            (STATELESS, {"method": "notifications/progress", "params": {"progressToken": "t"}}),
            (STATELESS, {"method": "notifications/progress", "params": {"progressToken": "other", "progress": 1}}),
        ]:
            wire = Wire(version)
            meta = {**(META if version == STATELESS else {}), "progressToken": "t"}
            wire.sent(self.request("tools/call", name="a", _meta=meta))
            with self.subTest(version=version, answer=answer), self.assertRaises((AssertionError, KeyError, jsonschema.ValidationError)):
                wire.received({"jsonrpc": "2.0", **answer})
