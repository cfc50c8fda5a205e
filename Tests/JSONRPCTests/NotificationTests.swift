import Platform
import TestSupport
import Testing

@testable import JSONRPC

/// Notifications of the connection itself: whole or not at all, and never waited for.
@Suite struct NotificationTests {
    private let desk = Desk()

    private func tell(_ peer: Peer, _ text: String = "x") -> Bool {
        peer.connection.notify("event") { $0.array { $0.write(text) } }
    }

    @Test func aNotificationReachesTheClientBetweenAnswers() throws {
        let peer = try Peer(desk).start()
        _ = try peer.everything()
        #expect(tell(peer))
        #expect(try peer.next() == JSON(#"{"jsonrpc":"2.0","method":"event","params":["x"]}"#))
        #expect(try peer.everything("more").isEmpty)
    }

    @Test func notificationsAreDroppedWhileTheClientDoesNotReadAndComeAgainAfterwards() async throws {
        let peer = try Peer(desk) { $0.outputBytes = 100_000 }.start()
        _ = try peer.everything()
        let large = String(repeating: "l", count: 10_000)
        var sent = 0
        for _ in 0..<1000 where tell(peer, large) { sent += 1 }
        #expect(sent < 50, "what a pipe holds and the limit, and no more")
        #expect(peer.connection.writer.unsentBytes <= 120_000)
        for _ in 0..<sent { #expect(try peer.next()?["params"]?[0]?.string?.count == 10_000) }
        try await eventually("room again") { peer.connection.writer.unsentBytes == 0 }
        #expect(tell(peer))
        #expect(try peer.next()?["method"]?.string == "event")
    }

    @Test func nothingIsSentOnceTheConnectionIsEnding() async throws {
        let stopped = try Peer(desk).start()
        _ = try stopped.everything()
        stopped.connection.stop(grace: 0)
        #expect(!tell(stopped))
        let ended = try Peer(desk).start()
        ended.closeInput()
        #expect(try await ended.exitCode() == 0)
        #expect(!tell(ended))
        #expect(!ended.hasMore)
    }
}
