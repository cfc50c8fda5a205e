import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// Requests of the server to the client.
@Suite struct ClientRequestTests {
    private let desk = Desk()
    private let timer = ManualTimer()

    private func start(_ adjust: (inout ConnectionLimits) -> Void = { _ in }) throws -> Peer {
        try Peer(desk, timer: timer, adjusting: adjust).start()
    }

    private func ask(_ peer: Peer, _ params: String = "{}", timeout: Double = 10) -> Task<JSON, any Error> {
        Task {
            try await peer.connection.request("ask", timeout: timeout) {
                $0.writeRaw(params)
            } decode: {
                if $0.string == "bad" { throw RPCError.internalError("Bad.") }
                return JSON($0)
            }
        }
    }

    private func answer(_ peer: Peer, _ id: Int, _ rest: String) {
        peer.send(#"{"jsonrpc":"2.0","id":"halcyon-\#(id)",\#(rest)}"#)
    }

    /// Waits until a message is there that asks for something; returns its number.
    private func asked(_ peer: Peer) async throws -> Int {
        let message = try #require(try await peer.message())
        #expect(message["method"] == .string("ask"))
        let id = try #require(message["id"]?.string)
        #expect(id.hasPrefix("halcyon-"))
        return try #require(Int(id.dropFirst(8)))
    }

    // MARK: Answers

    @Test func aQuestionIsAskedAndItsAnswerHandedOver() async throws {
        let peer = try start()
        let task = ask(peer, #"{"a":[1]}"#, timeout: 7)
        let message = try #require(try await peer.message())
        #expect(
            message
                == .object([
                    "jsonrpc": .string("2.0"), "id": .string("halcyon-1"), "method": .string("ask"),
                    "params": .object(["a": .array([.integer(1)])]),
                ]))
        try await eventually("the timer") { self.timer.count == 1 }
        answer(peer, 1, #""result":{"b":2}"#)
        #expect(try await task.value == .object(["b": .integer(2)]))
        #expect(try peer.everything() == [])
        #expect(peer.connection.requestsToClient == 0)
        #expect(Set(timer.seconds) == [7])
    }

    static let outcomes: [(rest: String, error: ClientRequestError?)] = [
        (#""result":null"#, nil), (#""result":[]"#, nil), (#""result":1,"error":null"#, nil),
        (#""error":{"code":-32601,"message":"No."}"#, .refused(code: -32601, message: "No.")),
        (#""result":null,"error":{"code":3,"message":""}"#, .refused(code: 3, message: "")),
        (
            #""result":1,"error":{"code":3,"message":"x"}"#,
            .malformed("it has both a result and an error")
        ),
        (#""error":{"code":"3","message":"x"}"#, .malformed("its error has no code and message")),
        (#""error":{"code":3}"#, .malformed("its error has no code and message")),
        (#""error":"no""#, .malformed("its error has no code and message")),
        (#""error":null"#, .malformed("it has neither a result nor an error")),
        (#""params":1"#, .malformed("it has neither a result nor an error")),
    ]

    @Test(arguments: outcomes.indices)
    func anAnswerOfAnyKindEndsTheQuestionAndIsNeverAnswered(index: Int) async throws {
        let (rest, error) = Self.outcomes[index]
        let peer = try start()
        let task = ask(peer)
        let id = try await asked(peer)
        answer(peer, id, rest)
        switch await task.result {
        case .success: #expect(error == nil, "\(rest)")
        case .failure(let failure): #expect(failure as? ClientRequestError == error && error != nil, "\(rest)")
        }
        answer(peer, id, #""result":"again""#)
        #expect(try peer.everything() == [])
    }

    @Test func aResultThatCannotBeReadFailsAsItsReaderSays() async throws {
        let peer = try start()
        let task = ask(peer)
        answer(peer, try await asked(peer), #""result":"bad""#)
        await #expect(throws: RPCError.internalError("Bad.")) { try await task.value }
    }

    @Test func answersToNothingThatWasAskedAreIgnored() async throws {
        let peer = try start()
        let task = ask(peer)
        _ = try await asked(peer)
        for id in [
            "1", "null", "\"halcyon-01\"", "\"halcyon-+1\"", "\"halcyon-2\"", "\"halcyon-\"", "\"Halcyon-1\"",
            "\"halcyon-1 \"", "\"halcyon-99999999999999999999\"", "1.5", "[1]",
        ] {
            peer.send(#"{"jsonrpc":"2.0","id":\#(id),"result":"wrong"}"#)
            peer.send(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":1,"message":"wrong"}}"#)
        }
        #expect(try peer.everything() == [])
        answer(peer, 1, #""result":"right""#)
        #expect(try await task.value == .string("right"))
    }

    @Test func theClientMayUseTheSameIdForARequestOfItsOwn() async throws {
        let peer = try start()
        peer.send(request("\"halcyon-1\"", "wait"))
        let task = ask(peer)
        _ = try await asked(peer)
        answer(peer, 1, #""result":5"#)
        #expect(try await task.value == .integer(5))
        try await desk.take(.string("halcyon-1")).respond { $0.write("mine") }
        #expect(try await peer.message()?["result"] == .string("mine"))
    }

    @Test func answersMayComeInABatchWithRequests() async throws {
        let peer = try start()
        let tasks = [ask(peer), ask(peer)]
        let ids = [try await asked(peer), try await asked(peer)]
        peer.send(
            "[" + ids.map { #"{"jsonrpc":"2.0","id":"halcyon-\#($0)","result":\#($0)},"# }.joined()
                + request("9", "echo") + "]")
        #expect(try await peer.message()?.elements?.map { $0["id"] } == [.integer(9)])
        #expect(Set([try await tasks[0].value, try await tasks[1].value]) == Set(ids.map { .integer($0) }))
    }

    /// What is in flight may be waiting for the very answer.
    @Test func answersAreTakenWhileRequestsAreHeld() async throws {
        let peer = try start { $0.requestsInFlight = 1 }
        peer.send(request("1", "wait"))
        let call = try await desk.take(.integer(1))
        peer.send(request("2", "wait"))
        let tasks = [ask(peer), ask(peer)]
        for _ in tasks { _ = try await asked(peer) }
        answer(peer, 1, #""result":1"#)
        peer.send("[" + request("3", "echo") + #",{"jsonrpc":"2.0","id":"halcyon-2","result":2}]"#)
        #expect(Set([try await tasks[0].value, try await tasks[1].value]) == [.integer(1), .integer(2)])
        call.respond { $0.writeNull() }
        try await desk.take(.integer(2)).respond { $0.writeNull() }
        for id in 1...2 { #expect(try await peer.message()?["id"] == .integer(id)) }
        #expect(try await peer.message()?.elements?.map { $0["id"] } == [.integer(3)])
    }

    // MARK: No answer

    @Test func aQuestionWithoutAnAnswerInTimeFailsAndTheClientIsTold() async throws {
        let peer = try start()
        let task = ask(peer)
        let id = try await asked(peer)
        try await eventually("the timer") { self.timer.count == 1 }
        timer.elapse()
        await #expect(throws: ClientRequestError.timedOut) { try await task.value }
        let cancellation = try #require(try await peer.message())
        #expect(cancellation["method"] == .string("$/cancelRequest"))
        #expect(cancellation["params"] == .object(["id": .string("halcyon-\(id)")]))
        answer(peer, id, #""result":"late""#)
        #expect(try peer.everything() == [])
    }

    @Test func timeThatPassesAfterTheAnswerChangesNothing() async throws {
        let peer = try start()
        let task = ask(peer)
        answer(peer, try await asked(peer), #""result":1"#)
        #expect(try await task.value == .integer(1))
        try await eventually("the timer ending") { self.timer.count == 0 }
        timer.elapse()
        #expect(try peer.everything() == [])
    }

    @Test func aCancelledQuestionFailsAtOnceAndTheClientIsTold() async throws {
        let peer = try start()
        let task = ask(peer)
        let id = try await asked(peer)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await peer.message()?["params"] == .object(["id": .string("halcyon-\(id)")]))
        answer(peer, id, #""result":"late""#)
        #expect(try peer.everything() == [])
        #expect(peer.connection.requestsToClient == 0)
    }

    @Test func aQuestionCancelledBeforeItIsAskedIsAnsweredLikeAnyOther() async throws {
        let peer = try start()
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return try await peer.connection.request("ask", timeout: 1) {
                $0.writeNull()
            } decode: {
                JSON($0)
            }
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(peer.connection.requestsToClient == 0)
    }

    enum End: CaseIterable { case endOfInput, exit, stop, departure }

    @Test(arguments: End.allCases)
    func theEndOfTheConnectionFailsWhatIsAskedAtOnceAndWhateverIsAskedLater(end: End) async throws {
        let peer = try start()
        peer.send(request("1", "wait"))
        let call = try await desk.take(.integer(1))
        let tasks = (0..<100).map { _ in ask(peer) }
        try await eventually("the questions") { peer.connection.requestsToClient == 100 }
        switch end {
        case .endOfInput: peer.closeInput()
        case .exit: peer.send(request("2", "exit"))
        case .stop: peer.connection.stop()
        case .departure: peer.leave()
        }
        for task in tasks { await #expect(throws: ClientRequestError.ended) { try await task.value } }
        await #expect(throws: ClientRequestError.ended) { try await ask(peer).value }
        #expect(peer.connection.requestsToClient == 0)
        call.respond { $0.writeNull() }
        if end == .endOfInput { #expect(try await peer.exitCode() == 0) }
        try await eventually("the timers ending") { self.timer.count == 0 }
    }

    @Test func anAnswerThatTheEndOfInputCutsOffNothingFromStillCounts() async throws {
        let peer = try start()
        let task = ask(peer)
        let id = try await asked(peer)
        peer.send(raw: #"{"jsonrpc":"2.0","id":"halcyon-\#(id)","result":"last"}"#)
        peer.closeInput()
        #expect(try await task.value == .string("last"))
        #expect(try await peer.exitCode() == 0)
    }

    // MARK: Many

    @Test func noMoreThan64QuestionsAreWithTheClientAndTheOthersGetTheirTurn() async throws {
        let peer = try start()
        let tasks = (0..<200).map { _ in ask(peer) }
        try await eventually("the questions") { peer.connection.requestsToClient == 200 }
        var ids: [Int] = []
        for _ in 0..<64 { ids.append(try await asked(peer)) }
        #expect(try peer.everything() == [])
        for _ in 64..<200 {
            answer(peer, ids.removeFirst(), #""result":1"#)
            ids.append(try await asked(peer))
            #expect(!peer.hasMore)
        }
        for id in ids { answer(peer, id, #""result":1"#) }
        for task in tasks { #expect(try await task.value == .integer(1)) }
    }

    @Test func theTimeOfAQuestionThatWaitsBeginsAnewWithEachAnswer() async throws {
        let peer = try start()
        let first = (0..<64).map { _ in ask(peer) }
        var ids: [Int] = []
        for _ in first { ids.append(try await asked(peer)) }
        let second = [ask(peer), ask(peer)]
        try await eventually("the timers") { self.timer.count == 66 }
        answer(peer, ids[0], #""result":1"#)
        _ = try await asked(peer)
        // One of the two has been sent, so 64 have run out of time now, and the last one's begins anew.
        try await eventually("the timers") { self.timer.count == 65 && peer.connection.requestsToClient == 65 }
        timer.elapse()
        for _ in 0..<64 { #expect(try await peer.message()?["method"] == .string("$/cancelRequest")) }
        try await eventually("the last one waiting") { self.timer.count == 1 }
        let third = ask(peer)
        for _ in 0..<2 { answer(peer, try await asked(peer), #""result":"second""#) }
        #expect(try await third.value == .string("second"))
        var answered = 0
        for task in second { if case .success = await task.result { answered += 1 } }
        #expect(answered == 1)
    }

    @Test func aClientThatNeverAnswersHoldsNobodyLongerThanTheTime() async throws {
        let peer = try start()
        let tasks = (0..<200).map { _ in ask(peer) }
        try await eventually("the timers") { self.timer.count == 200 }
        timer.elapse()
        for task in tasks { await #expect(throws: ClientRequestError.timedOut) { try await task.value } }
        #expect(peer.connection.requestsToClient == 0)
    }

    /// The number of bytes of the large answer that wait once the pipe takes no more.
    private func unsentBesideFullPipe(_ peer: Peer) async throws -> Int {
        try await eventually("the full pipe") { (1001...450_000).contains(peer.connection.writer.unsentBytes) }
        return peer.connection.writer.unsentBytes
    }

    @Test func aClientThatDoesNotReadIsAskedNothingUntilItDoes() async throws {
        let peer = try start { $0.outputBytes = 1000 }
        peer.send(request("1", "big", "[500000]"))
        let unsent = try await unsentBesideFullPipe(peer)
        let tasks = (0..<10).map { _ in ask(peer) }
        try await eventually("the timers") { self.timer.count == 10 }
        #expect(peer.connection.writer.unsentBytes == unsent)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(peer.connection.writer.unsentBytes == unsent)
        #expect(try peer.next()?["id"] == .integer(1))
        for _ in 0..<9 { answer(peer, try await asked(peer), #""result":2"#) }
        for task in tasks[1...] { #expect(try await task.value == .integer(2)) }
        #expect(try peer.everything() == [])
    }

    @Test func aClientThatNeverReadsIsGivenUp() async throws {
        let peer = try start { $0.outputBytes = 1000 }
        peer.send(request("1", "big", "[500000]"))
        let unsent = try await unsentBesideFullPipe(peer)
        let task = ask(peer)
        try await eventually("the timer") { self.timer.count == 1 }
        timer.elapse()
        await #expect(throws: ClientRequestError.timedOut) { try await task.value }
        #expect(peer.connection.writer.unsentBytes == unsent)
    }

    /// Answers, cancellations and time run against each other; a wait that ended twice would end the process.
    @Test(arguments: 0..<20)
    func everyQuestionEndsOnceWhateverRaces(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let peer = try start()
        let tasks = (0..<60).map { _ in ask(peer) }
        let doomed = tasks.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        try await eventually("the questions") { peer.connection.requestsToClient == 60 }
        for _ in 0..<20 { answer(peer, try await asked(peer), #""result":"early""#) }
        let cancelling = Task { for task in doomed { task.cancel() } }
        let elapsing = Task { for _ in 0..<3 { timer.elapse() } }
        for id in 1...60 { answer(peer, id, #""result":"racing""#) }
        await cancelling.value
        await elapsing.value
        for task in tasks {
            switch await task.result {
            case .success(let value): #expect([.string("early"), .string("racing")].contains(value))
            case .failure(let error): #expect(error is CancellationError || error as? ClientRequestError == .timedOut)
            }
        }
        #expect(peer.connection.requestsToClient == 0)
        try await eventually("the timers ending") { self.timer.count == 0 }
    }
}

extension JSON: Hashable {
    /// Hashes the text of the value.
    public func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}
