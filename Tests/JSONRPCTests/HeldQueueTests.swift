import TestSupport
import Testing

@testable import JSONRPC

/// Requests that wait keep their order and can be taken out by their id.
@Suite struct HeldQueueTests {
    private let sink = Sink.direct(MessageWriter(descriptor: -1, lowWater: 0, onDrain: {}, onGone: {}))

    /// Against a list that is searched from its beginning.
    @Test func aRandomQueueDoesWhatAListDoes() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var queue = HeldQueue()
            var list: [(text: [UInt8], id: RequestID?)] = []
            for step in 0..<100 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0...2:
                    // Some have no id or one that names nobody.
                    let id: RequestID? = step % 11 == 0 ? nil : step % 13 == 0 ? .null : .integer(step)
                    list.append((Array("\(step)".utf8), id))
                    queue.append(HeldQueue.Request(text: Array("\(step)".utf8), id: id, sink: sink))
                case 3:
                    let first = list.isEmpty ? nil : list.removeFirst()
                    let popped = queue.popFirst()
                    #expect(popped?.text == first?.text && popped?.id == first?.id, "seed \(seed)")
                default:
                    let id =
                        Int.random(in: 0..<12, using: &random) == 0
                        ? .null : RequestID.integer(.random(in: 0...step, using: &random))
                    let index = id == .null ? nil : list.firstIndex { $0.id == id }
                    if let index { list.remove(at: index) }
                    let wasThere = queue.remove(id) != nil
                    #expect(wasThere == (index != nil), "seed \(seed)")
                }
                #expect(queue.count == list.count && queue.isEmpty == list.isEmpty, "seed \(seed)")
                #expect(queue.bytes == list.reduce(0) { $0 + $1.text.count + 128 }, "seed \(seed)")
            }
            let rest = queue.removeAll()
            #expect(rest.map(\.text) == list.map(\.text), "seed \(seed)")
            #expect(queue.bytes == 0)
        }
    }

    @Test func ofTwoRequestsWithOneIdTheFirstIsMeant() {
        var queue = HeldQueue()
        for text in ["a", "b"] { queue.append(HeldQueue.Request(text: Array(text.utf8), id: .integer(1), sink: sink)) }
        let wasThere = queue.remove(.integer(1)) != nil
        let rest = queue.removeAll()
        #expect(wasThere)
        #expect(rest.map(\.text) == [Array("b".utf8)])
    }
}
