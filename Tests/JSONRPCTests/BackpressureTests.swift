import Platform
import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// A client that does not read: memory stays bounded, nothing is lost, cancellations are obeyed.
@Suite struct BackpressureTests {
    private let desk = Desk()

    private func peer(unsent: Int = 100_000, held: Int = 50_000) throws -> Peer {
        try Peer(desk) { limits in
            limits.outputBytes = unsent
            limits.heldBytes = held
        }.start()
    }

    private func held(_ peer: Peer) -> Int { peer.connection.shared.withLock { $0.held.count } }
    private func heldBytes(_ peer: Peer) -> Int {
        peer.connection.shared.withLock { $0.held.bytes + $0.cancelledBytes }
    }

    /// Waits until the sender has not moved for a while, or all has been sent.
    private func settle(_ sender: Sender, of total: Int) async throws {
        var last = -1
        var still = 0
        while still < 40, sender.count < total {
            let now = sender.count
            still = now == last ? still + 1 : 0
            last = now
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private final class Sender: Sendable {
        private let sent = Atomic(0)
        var count: Int { sent.load(ordering: .relaxed) }
        func add(_ count: Int) { sent.add(count, ordering: .relaxed) }
    }

    @Test func pipesThatCarryMuchAreMadeWider() async throws {
        let peer = try peer()
        for id in 0..<3 { peer.send(request("\(id)", "echo", "[\(id)]")) }
        for id in 0..<3 { #expect(try peer.next()?["id"] == .integer(id)) }
        let narrow = try #require(peer.capacities[1])
        #expect(peer.capacities == [narrow, narrow], "not for a few short requests")
        let long = String(repeating: "x", count: 200_000)
        #expect(peer.send(request("3", "echo", "[\"\(long)\"]")))
        #expect(try peer.next()?["id"] == .integer(3))
        #expect(peer.capacities == [WidePipe.capacity, narrow])
        // The pipe is not full each time: now and then the answer is read as fast as it is written.
        for id in 4..<1000 where peer.capacities[1] == narrow {
            #expect(peer.send(request("\(id)", "big", "[200000]")))
            #expect(try peer.next()?["id"] == .integer(id))
        }
        #expect(peer.capacities == [WidePipe.capacity, WidePipe.capacity])
        peer.closeInput()
        #expect(try await peer.exitCode() == 0)
    }

    @Test func aClientThatDoesNotReadIsNotReadAndMissesNothing() async throws {
        let peer = try peer()
        // More than a wide pipe holds.
        let total = 30_000
        let sender = Sender()
        startThread {
            for id in 0..<total {
                guard peer.send(request("\(id)", "big", "[1000]")) else { return }
                sender.add(1)
            }
            peer.closeInput()
        }
        try await eventually("reading stops") { heldBytes(peer) > 50_000 }
        try await settle(sender, of: total)
        #expect(sender.count < total)
        #expect(heldBytes(peer) < 50_000 + 4 << 16)
        #expect(peer.capacities[1] == 1 << 16, "one that does not read is not given more")
        #expect(peer.connection.writer.unsentBytes < 100_000 + 1 << 16)
        #expect(desk.begun.count < 300)
        for id in 0..<total {
            let reply = try #require(try peer.next())
            guard reply["id"] == .integer(id), reply["result"]?.string?.utf8.count == 1000 else {
                Issue.record("not the answer to \(id): \(reply["id"]?.text ?? "")")
                return
            }
        }
        #expect(try await peer.exitCode() == 0)
        #expect(!peer.hasMore)
        #expect(held(peer) == 0 && heldBytes(peer) == 0)
    }

    @Test func cancellationsOfRequestsThatWaitAreObeyedMeanwhile() async throws {
        let peer = try peer()
        for id in 0..<30 { peer.send(request("\(id)", "big", "[20000]")) }
        try await eventually("requests are held") { held(peer) > 10 && held(peer) + desk.begun.count == 30 }
        let before = held(peer)
        peer.send(cancellation("29", isAnswered: true))
        peer.send(cancellation("28", isAnswered: false))
        peer.send(cancellation("99", isAnswered: true))
        peer.send(cancellation("0", isAnswered: true))
        try await eventually("two are gone") { held(peer) == before - 2 }
        peer.closeInput()
        var replies: [Int: Int] = [:]
        for _ in 0..<29 {
            let reply = try #require(try peer.next())
            replies[reply["id"]?.integer ?? -1, default: 0] += 1
            #expect(reply["error"]?["code"] == (reply["id"] == .integer(29) ? .integer(-32800) : nil))
        }
        #expect(try await peer.exitCode() == 0)
        #expect(!peer.hasMore)
        #expect(replies == Dictionary(uniqueKeysWithValues: (0..<30).filter { $0 != 28 }.map { ($0, 1) }))
        #expect(!desk.begun.contains(.integer(28)) && !desk.begun.contains(.integer(29)))
    }

    @Test func aFloodOfCancelledRequestsGrowsNothing() async throws {
        let peer = try peer()
        let total = 20_000
        let sender = Sender()
        startThread {
            for id in 0..<20 { peer.send(request("\(id)", "big", "[20000]")) }
            for id in 20..<total {
                guard peer.send(request("\(id)", "big", "[1]")), peer.send(cancellation("\(id)", isAnswered: true))
                else { return }
                sender.add(1)
            }
            peer.closeInput()
        }
        try await eventually("requests are held") { held(peer) > 0 }
        try await settle(sender, of: total - 20)
        #expect(sender.count < total - 20)
        #expect(peer.connection.writer.unsentBytes < 500_000)
        var seen: Set<Int> = []
        for _ in 0..<total { if let id = try peer.next()?["id"]?.integer { seen.insert(id) } }
        #expect(seen.count == total)
        #expect(try await peer.exitCode() == 0)
        #expect(!peer.hasMore)
    }

    @Test func manySmallMessagesCountForWhatTheyTake() async throws {
        let peer = try peer(held: 100_000)
        for id in 0..<20 { peer.send(request("\(id)", "big", "[20000]")) }
        let total = 2_000_000
        let sender = Sender()
        startThread {
            let line = String(repeating: "7\n", count: 1000)
            for _ in 0..<(total / 1000) {
                guard peer.send(raw: line) else { return }
                sender.add(1000)
            }
        }
        try await eventually("requests are held") { held(peer) > 0 }
        try await settle(sender, of: total)
        #expect(sender.count < total)
        #expect(held(peer) < 50_000)
        peer.leave()
        try await eventually("the peer is missed") { peer.gone.value == 1 }
    }

    @Test func stoppingAnswersWhatIsHeld() async throws {
        let peer = try peer()
        for id in 0..<20 { peer.send(request("\(id)", "big", "[20000]")) }
        peer.send("[\(request("20", "echo")),{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":1},\(request("21", "wait"))]")
        peer.send(#"{"jsonrpc":"2.0","id":78,"result":1}"#)
        peer.send(#"{"jsonrpc":"2.0","method":"echo"}"#)
        peer.send(#"{"id":22,"method":tru}"#)
        try await eventually("all has been read") { held(peer) + desk.begun.count == 24 }
        let stopped = Gate()
        startThread {
            peer.connection.stop(grace: 20_000_000_000)
            stopped.open()
        }
        try await eventually("the connection stops") { peer.connection.isStopping }
        let begun = desk.begun.count
        var ids: [Int] = []
        while ids.count < 23, let reply = try peer.next() {
            for one in reply.elements ?? [reply] {
                let id = try #require(one["id"]?.integer)
                ids.append(id)
                #expect(one["error"]?["code"] == (id < begun ? nil : .integer(-32802)), "request \(id)")
            }
        }
        #expect(ids.sorted() == Array(0...22))
        await stopped.wait()
        #expect(!peer.hasMore)
    }

    /// Nothing that comes after it begins, and nothing in flight is waited for.
    @Test(arguments: [false, true]) func exitThatWasHeldEndsTheSessionWhenItsTurnComes(_ atEnd: Bool) async throws {
        let peer = try Peer(desk) { $0.requestsInFlight = 2 }.start()
        for id in 0..<2 { peer.send(request("\(id)", "wait")) }
        _ = try await desk.take(.integer(1))
        peer.send(request("2", "exit"))
        peer.send(request("3", "wait"))
        try await eventually("they are held") { held(peer) == 2 }
        if atEnd { peer.closeInput() }
        try await desk.take(.integer(0)).respond { $0.write(true) }
        #expect(try await peer.exitCode() == 3)
        #expect(desk.begun == [0, 1, 2].map { .integer($0) })
        var errors: [Int: Int] = [:]
        while peer.hasMore, let answer = try peer.next() {
            errors[answer["id"]?.integer ?? -1] = answer["error"]?["code"]?.integer ?? 0
        }
        #expect(errors == [0: 0, 1: -32802, 2: 0, 3: -32802])
    }

    @Test func requestsBeyondTheNumberInFlightWaitForTheirTurn() async throws {
        let peer = try Peer(desk) { $0.requestsInFlight = 3 }.start()
        for id in 0..<10 { peer.send(request("\(id)", "wait")) }
        try await eventually("requests are held") { held(peer) == 7 }
        #expect(desk.begun.count == 3)
        peer.send(cancellation("5", isAnswered: true))
        #expect(try peer.next()?["id"] == .integer(5))
        for id in [1, 0, 2, 3, 4, 6, 7, 8, 9] {
            try await desk.take(.integer(id)).respond { $0.write(id) }
            #expect(try peer.next()?["id"] == .integer(id))
            #expect(peer.connection.requestsInFlight <= 3)
        }
        #expect(desk.begun == [0, 1, 2, 3, 4, 6, 7, 8, 9].map { .integer($0) })
        peer.closeInput()
        #expect(try await peer.exitCode() == 0)
    }
}
