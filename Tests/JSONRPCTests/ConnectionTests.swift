import TestSupport
import Testing

@testable import JSONRPC

/// One response per request, and none for anything else.
@Suite struct ConnectionTests {
    private let desk = Desk()

    static let refused: [(text: String, id: JSON, code: Int)] = [
        ("nonsense", .null, -32700), ("{", .null, -32700), (#"{"id":4,"method":tru}"#, .integer(4), -32700),
        (#"{"id":"\ud800a","method":"echo","x":"\ud800"}"#, .null, -32700), ("17", .null, -32600),
        ("null", .null, -32600),
        (#""text""#, .null, -32600), ("{}", .null, -32600), ("[]", .null, -32600),
        (#"{"jsonrpc":"2.0","id":5}"#, .integer(5), -32600),
        (#"{"jsonrpc":"2.0","id":5,"method":7}"#, .integer(5), -32600),
        (#"{"id":"a","method":"echo"}"#, .string("a"), -32600),
        (#"{"jsonrpc":"1.0","id":"a","method":"echo"}"#, .string("a"), -32600),
        (#"{"jsonrpc":"2.0","id":true,"method":"echo"}"#, .null, -32600),
        (#"{"jsonrpc":"2.0","id":[1],"method":"echo"}"#, .null, -32600),
        (#"{"jsonrpc":"2.0","id":{},"method":"echo"}"#, .null, -32600),
        (#"{"jsonrpc":"2.0","id":6,"method":"echo","params":5}"#, .integer(6), -32600),
        (#"{"jsonrpc":"2.0","id":6,"method":"echo","params":"x"}"#, .integer(6), -32600),
        (#"{"jsonrpc":"2.0","id":7,"method":"unknown"}"#, .integer(7), -32601),
        (#"{"jsonrpc":"2.0","id":7.5,"method":"fail"}"#, .real(7.5), -32603),
    ]

    @Test func whatIsNoRequestIsRefusedWithItsCodeAndTheServiceGoesOn() throws {
        let peer = try Peer(desk).start()
        for (text, id, code) in Self.refused where !text.contains("ud800") {
            peer.send(text)
            let reply = try #require(try peer.next())
            #expect(reply["id"] == id, "\(text)")
            #expect(reply["error"]?["code"] == .integer(code), "\(text)")
            #expect(reply["error"]?["message"]?.string?.isEmpty == false)
            #expect(reply["error"]?["data"]?["name"]?.string?.isEmpty == false)
        }
        #expect(try peer.everything() == [])
    }

    @Test func paramsLeftOutNullAndEmptyAreTheSame() throws {
        let peer = try Peer(desk).start()
        for params in [nil, "null", "{}", "[]"] {
            peer.send(request("1", "echo", params))
            #expect(try peer.next()?["result"] == .null)
        }
        peer.send(request("1", "echo", #"{"a":[1]}"#))
        #expect(try peer.next()?["result"] == .object(["a": .array([.integer(1)])]))
    }

    @Test func responsesAndNotificationsAreNeverAnswered() throws {
        let peer = try Peer(desk).start()
        peer.send(#"{"jsonrpc":"2.0","id":1,"result":5}"#)
        peer.send(#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#)
        peer.send(#"{"jsonrpc":"2.0","method":"echo"}"#)
        peer.send(#"{"jsonrpc":"2.0","method":"fail"}"#)
        peer.send(#"{"jsonrpc":"2.0","method":"unknown"}"#)
        peer.send(#"[{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","id":3,"result":5}]"#)
        #expect(try peer.everything() == [])
        #expect(desk.begun.count == 5)
    }

    @Test func anOversizedMessageIsRefusedAndTheNextIsAnswered() throws {
        let peer = try Peer(desk) { $0.messageBytes = 1000 }.start()
        peer.send(request("1", "echo", "[\"\(String(repeating: "x", count: 5000))\"]"))
        let reply = try #require(try peer.next())
        #expect(reply["error"]?["code"] == .integer(-32600))
        #expect(reply["error"]?["data"]?["limit"] == .string("messageBytes"))
        #expect(try peer.everything() == [])
    }

    @Test func aStreamThatCannotBeFollowedEndsWithOneErrorAndCodeTwo() async throws {
        let peer = try Peer(desk).start()
        peer.send(raw: framed(request("1", "wait")) + "Content-Length: -5\r\n\r\n")
        try await desk.take(.integer(1)).respond { $0.write(true) }
        #expect(try await peer.exitCode() == 2)
    }

    @Test func exitEndsWithTheCodeAskedForAndAnswersWhatIsOpen() async throws {
        let peer = try Peer(desk).start()
        peer.send(request("1", "wait"))
        peer.send(request("2", "exit"))
        peer.send(request("3", "echo"))
        #expect(try await peer.exitCode() == 3)
        #expect(try peer.next()?["id"] == .integer(2))
        let reply = try #require(try peer.next())
        #expect(reply["id"] == .integer(1))
        #expect(reply["error"]?["code"] == .integer(-32802))
    }

    @Test func aSecondRequestWithAnIdInFlightIsRefused() async throws {
        let peer = try Peer(desk).start()
        peer.send(request("1", "wait"))
        peer.send(request("1", "echo"))
        let refusal = try #require(try peer.next())
        #expect(refusal["id"] == .integer(1))
        #expect(refusal["error"]?["code"] == .integer(-32600))
        try await desk.take(.integer(1)).respond { $0.write("first") }
        #expect(try peer.next()?["result"] == .string("first"))
        peer.send(request("1", "echo"))
        #expect(try peer.next()?["result"] == .null)
        #expect(try peer.everything() == [])
    }

    @Test func idsThatOnlyLookAlikeMayBeInFlightTogether() async throws {
        let peer = try Peer(desk).start()
        for id in ["\"\u{E9}\"", "\"e\u{301}\"", "1", "\"1\"", "1.0", "null", "null"] { peer.send(request(id, "wait")) }
        #expect(try peer.everything() == [])
        #expect(desk.count == 7)
        try await desk.take(.string("e\u{301}")).respond { $0.write(1) }
        let text = try #require(try peer.next()?["id"]?.string)
        #expect(Array(text.utf8) == Array("e\u{301}".utf8))
        peer.send(cancellation("\"\u{E9}\"", isAnswered: true))
        #expect(try peer.next()?["error"]?["code"] == .integer(-32800))
        #expect(peer.connection.requestsInFlight == 5)
    }

    // MARK: The end

    @Test(arguments: [false, true])
    func theEndOfInputAnswersEverythingFirst(isSocket: Bool) async throws {
        let peer = try Peer(desk, isSocket: isSocket).start()
        for id in 0..<100 { peer.send(request("\(id)", id % 2 == 0 ? "echo" : "wait")) }
        peer.send(raw: request("100", "echo"))
        peer.closeInput()
        for id in (0..<100).reversed() where id % 2 == 1 {
            try await desk.take(.integer(id)).respond { $0.writeNull() }
        }
        #expect(try await peer.exitCode() == 0)
        var ids: [Int] = []
        for _ in 0...100 { if let id = try peer.next()?["id"]?.integer { ids.append(id) } }
        #expect(ids.sorted() == Array(0...100))
        #expect(peer.gone.value == 0)
    }

    /// The last answers are given while the end is being looked for.
    @Test func noAnswerIsLostWhenItIsGivenAtTheVeryEnd() async throws {
        for round in 0..<60 {
            let peer = try Peer(desk).start()
            for id in 0..<8 { peer.send(request("\(id)", "wait")) }
            peer.closeInput()
            var calls: [Call] = []
            for id in 0..<8 { calls.append(try await desk.take(.integer(id))) }
            for half in [calls[..<4], calls[4...]] {
                Task { for call in half { call.respond { $0.writeNull() } } }
            }
            #expect(try await peer.exitCode() == 0)
            var ids: Set<Int> = []
            while peer.hasMore, let id = try peer.next()?["id"]?.integer { ids.insert(id) }
            #expect(ids == Set(0..<8), "round \(round)")
            peer.leave()
        }
    }

    @Test func aMessageCutOffByTheEndIsRefusedAfterTheRest() async throws {
        let peer = try Peer(desk).start()
        peer.send(request("1", "wait"))
        peer.send(raw: #"{"jsonrpc":"2.0","id":2,"meth"#)
        peer.closeInput()
        try await desk.take(.integer(1)).respond { $0.writeNull() }
        #expect(try await peer.exitCode() == 0)
        let replies = [try peer.next(), try peer.next()]
        #expect(replies.contains { $0?["id"] == .integer(2) && $0?["error"]?["code"] == .integer(-32700) })
        #expect(replies.contains { $0?["id"] == .integer(1) && $0?["result"] == .null })
    }

    @Test func stoppingAnswersWhatIsOpenOnceAndTakesNothingNew() async throws {
        let peer = try Peer(desk).start()
        for id in 0..<10 { peer.send(request("\(id)", "wait")) }
        peer.send("[\(request("10", "wait")),\(request("11", "echo")),\(request("12", "wait"))]")
        #expect(try peer.everything() == [])
        let late = try await desk.take(.integer(3))
        peer.connection.stop()
        peer.connection.stop()
        late.respond { $0.write("too late") }
        late.notify("note") { $0.writeNull() }
        peer.send(request("20", "echo"))
        var replies: [JSON] = []
        for _ in 0..<11 { replies.append(try #require(try peer.next())) }
        let single = replies.filter { $0.elements == nil }
        #expect(Set(single.compactMap { $0["id"]?.integer }) == Set(0..<10))
        #expect(single.allSatisfy { $0["error"]?["code"] == .integer(-32802) })
        #expect(single.allSatisfy { $0["error"]?["data"]?["retryable"] == .boolean(true) })
        let batch = try #require(replies.first { $0.elements != nil }?.elements)
        #expect(batch.map { $0["id"] } == [.integer(10), .integer(11), .integer(12)])
        #expect(batch.map { $0["error"]?["code"] } == [.integer(-32802), nil, .integer(-32802)])
        #expect(desk.begun.count == 14)
    }

    // MARK: A client that goes away

    @Test(arguments: [false, true])
    func aPeerThatVanishesIsNoticedOnceAndItsWorkIsCancelled(isSocket: Bool) async throws {
        let peer = try Peer(desk, isSocket: isSocket).start()
        let cancelled = Peer.Counter()
        for id in 0..<20 { peer.send(request("\(id)", "wait")) }
        #expect(try peer.everything() == [])
        var calls: [Call] = []
        for id in 0..<20 {
            calls.append(try await desk.take(.integer(id)))
            calls[id].onCancel { cancelled.add() }
        }
        peer.leave()
        try await eventually("the peer is missed") { peer.gone.value > 0 && cancelled.value == 20 }
        for call in calls {
            #expect(!call.isOpen)
            call.notify("note") { $0.writeNull() }
            call.respond { $0.writeNull() }
        }
        #expect(peer.gone.value == 1)
        #expect(peer.connection.requestsInFlight == 0)
    }

    /// The thread that reports progress may be the one that finds out; it holds the call meanwhile.
    @Test func progressMayBeWhatFindsThePeerGone() async throws {
        for _ in 0..<50 {
            let peer = try Peer(desk).start()
            peer.send(request("1", "wait"))
            let call = try await desk.take(.integer(1))
            peer.leave()
            while call.isOpen { call.notify("note") { $0.writeNull() } }
            try await eventually("the peer is missed") { peer.gone.value == 1 }
        }
    }
}
