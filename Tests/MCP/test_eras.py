"""The two eras of the protocol: who begins, what each request says, and what each result does."""

from __future__ import annotations

import json

from support import RESULTS, SESSIONS, STATELESS, Agent, MCPCase


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
            self.assertEqual(agent.fail("tools/list", **params)["code"], -32602)
        self.assertEqual(agent.fail("server/discover")["code"], -32602)

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
                    self.assertIn(method, RESULTS)
                    agent.ask(method)
