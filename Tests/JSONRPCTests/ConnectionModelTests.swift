import Platform
import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// Random mixes of success, failure, deferral, batches and cancellation, by several threads.
@Suite struct ConnectionModelTests {
    /// What may become of one request.
    private struct Fate {
        var payload: Int?
        var codes: Set<Int> = []
        var mayBeSilent = false
        var batch: Int?
    }

    /// One round of requests, and everything that came back.
    private struct Round {
        let seed: UInt64
        var fates: [Int: Fate] = [:]
        var order: [Int] = []
        var batches = 0
        private var random: SeededGenerator

        init(seed: UInt64) {
            self.seed = seed
            random = SeededGenerator(seed: seed)
        }

        /// The messages to send.
        mutating func messages() -> [String] {
            (0..<20).map { _ in
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1: cancel()
                case 2: batch()
                default: single(in: nil)
                }
            }
        }

        private mutating func single(in batch: Int?) -> String {
            let id = Int(seed) * 1000 + order.count
            order.append(id)
            var fate = Fate(batch: batch)
            defer { fates[id] = fate }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                fate.payload = id
                return request("\(id)", "echo", "[\(id)]")
            case 1:
                fate.codes = [-32603]
                return request("\(id)", "fail")
            default:
                fate.payload = id
                fate.codes = [-32001]
                return request("\(id)", "wait")
            }
        }

        private mutating func batch() -> String {
            batches += 1
            let number = batches
            var members: [String] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                members.append(Int.random(in: 0..<5, using: &random) == 0 ? cancel() : single(in: number))
            }
            return "[\(members.joined(separator: ","))]"
        }

        private mutating func cancel() -> String {
            let isAnswered = Bool.random(using: &random)
            guard let id = order.randomElement(using: &random) else {
                return cancellation("-1", isAnswered: isAnswered)
            }
            // One that was answered at once cannot be cancelled any more.
            if fates[id]?.codes == [-32603] || fates[id]?.codes == [] {
                return cancellation("\(id)", isAnswered: isAnswered)
            }
            if isAnswered { fates[id]?.codes.insert(-32800) } else { fates[id]?.mayBeSilent = true }
            return cancellation("\(id)", isAnswered: isAnswered)
        }

        /// Compares what came with what may.
        func check(_ messages: [JSON]) {
            var answered: Set<Int> = []
            for message in messages {
                if let note = message["params"]?.integer {
                    #expect(!answered.contains(note), "seed \(seed): a notification of \(note) follows its response")
                } else if let members = message.elements {
                    let ids = members.compactMap { $0["id"]?.integer }
                    let batch = ids.first.flatMap { fates[$0]?.batch }
                    #expect(batch != nil && ids.allSatisfy { fates[$0]?.batch == batch }, "seed \(seed): \(ids)")
                    #expect(ids == ids.sorted(), "seed \(seed): out of order \(ids)")
                    for member in members { check(one: member, &answered) }
                } else {
                    #expect(message["id"]?.integer.flatMap { fates[$0]?.batch } == nil, "seed \(seed): \(message.text)")
                    check(one: message, &answered)
                }
            }
            for (id, fate) in fates where !fate.mayBeSilent {
                #expect(answered.contains(id), "seed \(seed): \(id) was not answered")
            }
        }

        private func check(one message: JSON, _ answered: inout Set<Int>) {
            guard let id = message["id"]?.integer, let fate = fates[id] else {
                Issue.record("seed \(seed): not asked for: \(message.text)")
                return
            }
            #expect(answered.insert(id).inserted, "seed \(seed): \(id) was answered twice")
            if let code = message["error"]?["code"]?.integer {
                #expect(fate.codes.contains(code), "seed \(seed): \(message.text)")
            } else {
                #expect(
                    message["result"] == fate.payload.map { .array([.integer($0)]) }, "seed \(seed): \(message.text)")
            }
        }
    }

    /// Answers what lies on the desk, in any order and manner, until told to end.
    private func startClerk(_ desk: Desk, seed: UInt64, hasEnded: Gate) {
        startThread {
            var random = SeededGenerator(seed: seed)
            while true {
                desk.arrivals.wait()
                if hasEnded.isOpen { return }
                guard let call = desk.takeAny(using: &random), case .integer(let id)? = call.id else { continue }
                if Bool.random(using: &random) { call.notify("note") { $0.write(id) } }
                if Bool.random(using: &random) {
                    call.respond { writer in writer.array { $0.write(id) } }
                } else {
                    call.fail(RPCError(code: -32001, name: "test", message: "It failed."))
                }
                call.notify("note") { $0.write(id) }
                call.respond { $0.write("a second answer") }
            }
        }
    }

    @Test(arguments: 0..<12)
    func everyRequestIsAnsweredOnceWhateverHappens(group: Int) async throws {
        let desk = Desk()
        let hasEnded = Gate()
        let peer = try Peer(desk, isSocket: group % 2 == 1).start()
        for clerk in 0..<2 as Range<UInt64> { startClerk(desk, seed: UInt64(group) * 2 + clerk, hasEnded: hasEnded) }
        defer {
            hasEnded.open()
            for _ in 0..<2 { desk.arrivals.signal() }
        }
        for seed in UInt64(group * 25)..<UInt64(group * 25 + 25) {
            var round = Round(seed: seed)
            for message in round.messages() { peer.send(message) }
            var messages = try peer.everything("taken")
            try await eventually("all is answered") { peer.connection.requestsInFlight == 0 && desk.count == 0 }
            messages += try peer.everything("written")
            round.check(messages)
        }
        // The last round ends with the input.
        var round = Round(seed: UInt64(1000 + group))
        for message in round.messages() { peer.send(message) }
        peer.closeInput()
        #expect(try await peer.exitCode() == 0)
        var messages: [JSON] = []
        while peer.hasMore, let message = try peer.next() { messages.append(message) }
        round.check(messages)
    }
}
