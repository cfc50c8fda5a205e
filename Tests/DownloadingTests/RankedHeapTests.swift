import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// The heap behind the queue of downloads.
@Suite struct RankedHeapTests {
    /// A rank that counts how often it is compared.
    private struct Counted: Comparable {
        let value: Int
        let count: Counter

        static func == (one: Counted, other: Counted) -> Bool { one.value == other.value }
        static func < (one: Counted, other: Counted) -> Bool {
            one.count.add()
            return one.value < other.value
        }
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func firstIsAlwaysTheLowest(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = RankedHeap<Int, Int>()
        var model: [Int: Int] = [:]
        for step in 0..<1000 {
            let id = Int.random(in: 0..<50, using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                model = model.mapValues { -$0 }
                heap.rerank { model[$0] ?? 0 }
            case 1..<12:
                // Ranks are told apart by the thing, so that the lowest is one.
                let rank = Int.random(in: -1000...1000, using: &generator) * 50 + id
                heap.insert(id, rank)
                model[id] = rank
            default:
                heap.remove(id)
                model[id] = nil
            }
            let lowest = model.min { $0.value < $1.value }
            #expect(heap.first?.id == lowest?.key && heap.first?.rank == lowest?.value, "seed \(seed), step \(step)")
            #expect(heap.count == model.count)
            #expect(heap.isEmpty == model.isEmpty)
        }
    }

    @Test func everyChangeTakesStepsByTheLogarithmOfTheCount() {
        let count = Counter()
        var heap = RankedHeap<Int, Counted>()
        var generator = SeededGenerator(seed: 1)
        var most = 0
        func measure(_ change: () -> Void) {
            let before = count.value
            change()
            most = max(most, count.value - before)
        }
        for id in 0..<10_000 {
            measure { heap.insert(id, Counted(value: Int.random(in: 0...1000, using: &generator), count: count)) }
        }
        for id in 0..<10_000 { measure { heap.insert(id, Counted(value: -id, count: count)) } }
        for id in 0..<10_000 { measure { heap.remove(id) } }
        #expect(heap.isEmpty)
        #expect(most <= 32, "two for each of 14 levels, and a few")
    }
}
