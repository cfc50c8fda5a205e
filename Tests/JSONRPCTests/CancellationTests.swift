import TestSupport
import Testing

@testable import JSONRPC

/// Cancellation in both dialects.
@Suite struct CancellationTests {
    private let desk = Desk()

    @Test func theLanguageServersDialectIsAnsweredWithACode() async throws {
        let peer = try Peer(desk).start()
        let cancelled = Peer.Counter()
        peer.send(request("\"a\"", "wait"))
        let call = try await desk.take(.string("a"))
        call.onCancel { cancelled.add() }
        peer.send(cancellation("\"a\"", isAnswered: true))
        let reply = try #require(try peer.next())
        #expect(reply["id"] == .string("a"))
        #expect(reply["error"]?["code"] == .integer(-32800))
        #expect(reply["error"]?["data"]?["name"] == .string("requestCancelled"))
        call.respond { $0.write("too late") }
        #expect(try peer.everything() == [])
        #expect(cancelled.value == 1)
        #expect(peer.connection.requestsInFlight == 0)
    }

    @Test func theOtherDialectIsNotAnsweredAtAll() async throws {
        let peer = try Peer(desk).start()
        let cancelled = Peer.Counter()
        peer.send(request("7", "wait"))
        let call = try await desk.take(.integer(7))
        call.onCancel { cancelled.add() }
        peer.send(cancellation("7", isAnswered: false))
        #expect(try peer.everything() == [])
        call.fail(.internalError("Too late."))
        #expect(try peer.everything("sync2") == [])
        #expect(!call.isOpen)
        #expect(cancelled.value == 1)
    }

    @Test func lateRepeatedAndUnknownCancellationsDoNothing() async throws {
        let peer = try Peer(desk).start()
        let cancelled = Peer.Counter()
        for id in 1...4 { peer.send(request("\(id)", "wait")) }
        for id in 1...3 {
            let call = try await desk.take(.integer(id))
            call.onCancel { cancelled.add() }
            if id == 1 { call.respond { $0.write(true) } }
        }
        #expect(try peer.next()?["result"] == .boolean(true))
        for isAnswered in [true, false] {
            // Late, unknown, of the wrong kind, without an id.
            for id in ["1", "99", "\"4\"", "4.5", "null", "true", "[4]", "{}"] {
                peer.send(cancellation(id, isAnswered: isAnswered))
            }
        }
        for text in [
            #"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#,
            #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":[4]}"#,
        ] {
            peer.send(text)
        }
        #expect(try peer.everything() == [])
        // Repeated, in one dialect and in both.
        for isAnswered in [true, true, false] { peer.send(cancellation("2", isAnswered: isAnswered)) }
        for isAnswered in [false, true, false] { peer.send(cancellation("3", isAnswered: isAnswered)) }
        let replies = try peer.everything("sync2")
        #expect(replies.map { $0["id"] } == [.integer(2)])
        #expect(replies.first?["error"]?["code"] == .integer(-32800))
        #expect(cancelled.value == 2)
        #expect(peer.connection.requestsInFlight == 1)
        #expect(try await desk.take(.integer(4)).isOpen)
    }

    @Test(arguments: [("5", "5.0"), ("5.0", "5"), ("5.0", "5.00")])
    func aWholeNumberNamesARequestInEitherWay(_ id: String, _ other: String) async throws {
        let peer = try Peer(desk).start()
        peer.send(request(id, "wait"))
        try await eventually("the request") { desk.count == 1 }
        peer.send(cancellation(other, isAnswered: true))
        let reply = try #require(try peer.next())
        #expect(reply["error"]?["code"] == .integer(-32800))
        #expect(reply["id"]?.text == id)
    }

    @Test func workThatIsSetUpAfterTheCancellationIsStoppedAtOnce() async throws {
        let peer = try Peer(desk).start()
        peer.send(request("1", "wait"))
        let call = try await desk.take(.integer(1))
        peer.send(cancellation("1", isAnswered: true))
        #expect(try peer.next()?["error"]?["code"] == .integer(-32800))
        let cancelled = Peer.Counter()
        call.onCancel { cancelled.add() }
        #expect(cancelled.value == 1)
    }

    @Test func everythingButOneRequestCanBeCancelledTogether() throws {
        let peer = try Peer(desk).start()
        for id in 1...5 { peer.send(request("\(id)", "wait")) }
        peer.send(#"{"jsonrpc":"2.0","method":"wait"}"#)
        #expect(try peer.everything() == [])
        #expect(peer.connection.cancelAll(except: .integer(3)) == 5)
        let replies = try peer.everything("sync2")
        #expect(Set(replies.compactMap { $0["id"]?.integer }) == [1, 2, 4, 5])
        #expect(peer.connection.requestsInFlight == 1)
        #expect(peer.connection.cancelAll(except: .integer(3)) == 0)
    }

    @Test func aNotificationNeverFollowsTheResponse() async throws {
        let peer = try Peer(desk).start()
        for id in 0..<30 {
            peer.send(request("\(id)", "wait"))
            let call = try await desk.take(.integer(id))
            let hasStarted = Gate()
            let task = Task {
                while call.isOpen {
                    call.notify("note") { $0.write(id) }
                    hasStarted.open()
                }
                for _ in 0..<10 { call.notify("note") { $0.write(id) } }
            }
            await hasStarted.wait()
            if id % 3 == 0 { call.respond { $0.writeNull() } }
            if id % 3 == 1 { call.fail(.internalError("It failed.")) }
            if id % 3 == 2 { peer.send(cancellation("\(id)", isAnswered: true)) }
            var notes = 0
            while let message = try peer.next(), message["id"] == nil { notes += 1 }
            #expect(notes > 0)
            await task.value
            #expect(try peer.everything("sync\(id)") == [], "call \(id)")
        }
    }
}
