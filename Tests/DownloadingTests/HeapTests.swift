import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// The heap behind the queue of downloads.
@Suite struct HeapTests {
    /// A value with a rank, whose comparisons are counted.
    private struct Ranked: HeapMember {
        var rank: Int
        let count: Counter
        var position: Int32 = -1

        func isBefore(_ other: Ranked) -> Bool {
            count.add()
            return rank < other.rank
        }
    }

    private let count = Counter()

    @Test(arguments: 0..<30 as Range<UInt64>)
    func firstIsAlwaysTheLowest(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (values, heap) = (Slots<Ranked>(), Heap<Ranked>())
        for _ in 0..<50 { _ = values.insert(Ranked(rank: 0, count: count)) }
        var model: [Int: Int] = [:]
        for step in 0..<1000 {
            let place = Int.random(in: 0..<50, using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                model = model.mapValues { -$0 }
                for place in values.values.indices { values[place].rank = -values[place].rank }
                heap.sort(in: &values)
            case 1..<12:
                // Ranks are told apart by the place, so that the lowest is one.
                values[place].rank = Int.random(in: -1000...1000, using: &generator) * 50 + place
                heap.insert(place, in: &values)
                model[place] = values[place].rank
            default:
                heap.remove(place, in: &values)
                model[place] = nil
            }
            #expect(heap.first == model.min { $0.value < $1.value }?.key, "seed \(seed), step \(step)")
            #expect(values.values.count { $0.position >= 0 } == model.count)
        }
    }

    @Test func placesAreUsedAgain() {
        var slots = Slots<Int>()
        #expect((0..<3).map { slots.insert($0) } == [0, 1, 2])
        slots.remove(1, leaving: -1)
        slots.remove(0, leaving: -1)
        #expect(slots.count == 1 && slots.values == [-1, -1, 2])
        #expect(Set([slots.insert(7), slots.insert(8)]) == [0, 1] && slots.insert(9) == 3)
        #expect(slots.count == 4 && Set(slots.values) == [7, 8, 2, 9])
    }

    @Test func everyChangeTakesStepsByTheLogarithmOfTheCount() {
        var (values, heap) = (Slots<Ranked>(), Heap<Ranked>())
        var generator = SeededGenerator(seed: 1)
        var most = 0
        func measure(_ change: () -> Void) {
            let before = count.value
            change()
            most = max(most, count.value - before)
        }
        for _ in 0..<10_000 {
            let rank = Int.random(in: 0...1000, using: &generator)
            measure { heap.insert(values.insert(Ranked(rank: rank, count: count)), in: &values) }
        }
        for place in 0..<10_000 {
            values[place].rank = -place
            measure { heap.insert(place, in: &values) }
        }
        for place in 0..<10_000 { measure { heap.remove(place, in: &values) } }
        #expect(heap.first == nil)
        #expect(most <= 32, "two for each of 14 levels, and a few")
    }
}
