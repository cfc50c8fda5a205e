import Platform
import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// One limit for all that is made and not yet taken by the client.
@Suite struct OutputBudgetTests {
    private static let limit = 400_000
    private let desk = Desk()

    private func peer(_ adjust: (inout ConnectionLimits) -> Void = { _ in }) throws -> Peer {
        try Peer(desk) { limits in
            limits.outputBytes = Self.limit
            adjust(&limits)
        }.start()
    }

    private func held(_ peer: Peer) -> Int { peer.connection.budget.usage.held }
    private func batch(_ members: [String]) -> String { "[\(members.joined(separator: ","))]" }

    @Test func theAnswersOfABatchThatAreReadyWaitOutsideOfMemoryForTheFirstAndNobodyElseWaits() async throws {
        let peer = try peer()
        peer.send(batch([request("0", "wait")] + (1...40).map { request("\($0)", "big", "[100000]") }))
        let first = try await desk.take(.integer(0))
        #expect(try peer.everything() == [], "another request is answered meanwhile")
        #expect(held(peer) <= Self.limit / 4 + 200)
        #expect(desk.begun.count == 42)
        first.respond { $0.write("f") }
        let reply = try #require(try peer.next()?.elements)
        #expect(reply.map { $0["id"] } == (0...40).map { .integer($0) })
        #expect(reply[0]["result"] == .string("f"))
        #expect(reply.dropFirst().allSatisfy { $0["result"]?.string?.utf8.count == 100_000 })
        #expect(try peer.everything("after") == [])
        try await eventually("nothing is held") { held(peer) == 0 }
        peer.closeInput()
        #expect(try await peer.exitCode() == 0)
    }

    @Test func noMemberOfABatchStartsWhileTheClientReadsNothing() async throws {
        let peer = try peer()
        for id in 0..<10 { peer.send(request("\(id)", "big", "[100000]")) }
        try await eventually("the limit is exceeded") { held(peer) > Self.limit }
        @Sendable func waitingCount() -> Int { peer.connection.shared.withLock { $0.held.count } }
        try await eventually("all have been read") { desk.begun.count + waitingCount() == 10 }
        let (begun, waiting) = (desk.begun.count, waitingCount())
        peer.send(batch((10..<40).map { request("\($0)", "big", "[100000]") } + [request("40", "wait")]))
        // In steps, which show in the number of those that wait.
        try await eventually("the batch has been read") { waitingCount() == waiting + 31 }
        peer.send(cancellation("11", isAnswered: true))
        peer.send(cancellation("12", isAnswered: false))
        try await eventually("the cancellations have been read") { waitingCount() == waiting + 31 - 2 }
        peer.send(request("last", "echo").replacing("last", with: "\"last\""))
        try await eventually("all has been read") { waitingCount() == waiting + 31 - 2 + 1 }
        #expect(desk.begun.count == begun)
        #expect(held(peer) < Self.limit + 110_000)
        #expect(peer.connection.budget.usage.waits == 1)
        for id in 0..<10 { #expect(try peer.next()?["id"] == .integer(id)) }
        #expect(try peer.next()?["id"] == .string("last"))
        try await desk.take(.integer(40)).respond { $0.write("end") }
        let reply = try #require(try peer.next()?.elements)
        #expect(reply.map { $0["id"] } == (10...40).filter { $0 != 12 }.map { .integer($0) })
        #expect(reply[1]["error"]?["code"] == .integer(-32800))
        #expect(reply.last?["result"] == .string("end"))
    }

    @Test func aBatchWhoseAnswersExceedItsLimitIsAnsweredWithErrorsInTheirPlaces() throws {
        let peer = try peer { $0.batchBytes = 1_050_000 }
        peer.send(batch((0..<12).map { request("\($0)", "big", "[100000]") } + [request("12", "echo")]))
        let reply = try #require(try peer.next()?.elements)
        #expect(reply.map { $0["id"] } == (0...12).map { .integer($0) })
        #expect(
            reply.map { $0["error"]?["data"]?["limit"] }
                == (0...12).map { (10...11) ~= $0 ? .string("batchBytes") : nil })
    }

    @Test func answersAreMadeOnlyAsFarAsThereIsRoomForThem() async throws {
        let peer = try peer()
        let total = 200
        for id in 0..<total { peer.send(request("\(id)", "made", "[20000]")) }
        try await eventually("all that have room are made") { held(peer) > Self.limit - 50_000 }
        peer.send(request("1000", "wait"))
        let (made, _) = desk.made
        #expect(made < 25)
        #expect(held(peer) <= Self.limit)
        try await eventually("reading or starting stops") { peer.connection.budget.usage.waits > 0 }
        var seen: Set<Int> = []
        for _ in 0..<total { if let id = try peer.next()?["id"]?.integer { seen.insert(id) } }
        #expect(seen == Set(0..<total))
        try await desk.take(.integer(1000)).respond { $0.write(1) }
        #expect(try peer.next()?["id"] == .integer(1000))
        #expect(desk.made == (total, 0))
        try await eventually("nothing is held") { held(peer) == 0 }
    }

    @Test func anAnswerLargerThanTheLimitIsMadeWhenNothingElseIsHeld() throws {
        let peer = try peer()
        let size = 3 * Self.limit
        for id in 0..<4 { peer.send(request("\(id)", "made", "[\(size),\(size)]")) }
        for id in 0..<4 {
            let reply = try #require(try peer.next())
            #expect(reply["id"] == .integer(id) && reply["result"]?.string?.utf8.count == size)
        }
        peer.send(batch((4..<8).map { request("\($0)", "made", "[\(size),\(size)]") }))
        #expect(try peer.next()?.elements?.count == 4)
    }

    @Test func aCancelledAnswerThatWaitsForRoomIsGivenUpAndItsRoomIsFree() async throws {
        let peer = try peer()
        for id in 0..<8 { peer.send(request("\(id)", "made", "[90000,90000]")) }
        try await eventually("one waits for room and the others for it") {
            // The pipe is full too: nothing that is written later makes room.
            let written = desk.made.0 * 90_000 - held(peer)
            let isFull = written > (peer.capacities[1] ?? 0) - 4096
            return isFull && desk.begun.count + peer.connection.shared.withLock { $0.held.count } == 8
        }
        let (begun, (made, _)) = (desk.begun.count, desk.made)
        #expect(made == begun - 1)
        for id in made..<8 { peer.send(cancellation("\(id)", isAnswered: true)) }
        try await eventually("they are given up") {
            // The next ones may begin, and wait, before they are cancelled too.
            desk.made == (made, desk.begun.count - made) && peer.connection.shared.withLock { $0.held.isEmpty }
        }
        var codes: [JSON?] = []
        for _ in 0..<8 { codes.append(try peer.next()?["error"]?["code"]) }
        #expect(codes.count { $0 == .integer(-32800) } == 8 - made)
        peer.send(request("9", "made", "[\(Self.limit),\(Self.limit)]"))
        #expect(try peer.next()?["id"] == .integer(9))
        try await eventually("nothing is held") { held(peer) == 0 }
    }

    @Test func progressThatCanBeDoneWithoutIsDroppedWhileTheClientReadsNothing() async throws {
        let peer = try peer()
        peer.send(request("1", "wait"))
        let call = try await desk.take(.integer(1))
        for id in 2..<12 { peer.send(request("\(id)", "big", "[100000]")) }
        try await eventually("the limit is exceeded") { held(peer) > Self.limit }
        let before = held(peer)
        for _ in 0..<1000 { call.notify("$/progress", isNeeded: false) { $0.write("report") } }
        #expect(held(peer) == before)
        call.notify("$/progress") { $0.write("end") }
        #expect(held(peer) > before)
        call.respond { $0.write(1) }
        var methods: [String] = []
        for _ in 0..<12 { if let method = try peer.next()?["method"]?.string { methods.append(method) } }
        #expect(methods == ["$/progress"])
    }

    @Test func aClientThatHasGoneEndsABatchThatIsHalfWritten() async throws {
        let peer = try peer()
        peer.send(batch((0..<40).map { request("\($0)", "big", "[100000]") }))
        try await eventually("it is being written") { peer.hasMore }
        peer.leave()
        #expect(try await peer.exitCode() == 1)
    }
}
