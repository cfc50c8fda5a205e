import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

@Suite struct LRUListTests {
    /// What the list should do, in the plainest words: newest first.
    private struct Model {
        var entries: [(key: Int, value: Int, cost: Int, isLight: Bool)] = []

        mutating func insert(_ value: Int, for key: Int, cost: Int, isLight: Bool) {
            _ = remove(key)
            entries.insert((key, value, cost, isLight), at: 0)
        }
        mutating func remove(_ key: Int) -> Int? {
            entries.firstIndex { $0.key == key }.map { entries.remove(at: $0).value }
        }
        mutating func use(_ key: Int) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = entries.remove(at: index)
            entries.insert(entry, at: 0)
            return entry.value
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func behavesLikeASortedArray(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var list = LRUList<Int, Int>()
        var model = Model()
        for step in 0..<1000 {
            let key = Int.random(in: 0..<12, using: &generator)
            switch Int.random(in: 0..<40, using: &generator) {
            case 0..<14:
                let cost = Int.random(in: 0..<100, using: &generator)
                let isLight = Bool.random(using: &generator)
                list.insert(step, for: key, cost: cost, isLight: isLight)
                model.insert(step, for: key, cost: cost, isLight: isLight)
            case 14..<24: #expect(list.use(key) { $0 } == model.use(key), "seed \(seed)")
            case 24..<30: #expect(list.remove(key) == model.remove(key), "seed \(seed)")
            case 30..<35:
                let gone = list.removeLeastRecentlyUsed()
                let expected = model.entries.popLast()
                #expect(gone?.key == expected?.key && gone?.value == expected?.value, "seed \(seed)")
            case 35..<37:
                var place = list.leastRecentlyUsed
                for _ in 0..<2 {
                    let gone = list.removeLight(from: &place)
                    let expected = model.entries.lastIndex(where: \.isLight).map { model.entries.remove(at: $0) }
                    #expect(gone?.key == expected?.key && gone?.value == expected?.value, "seed \(seed)")
                }
            case 37..<39:
                let old = list.use(key) { value in
                    defer { value += 1000 }
                    return value
                }
                #expect(old == model.use(key), "seed \(seed)")
                if old != nil { model.entries[0].value += 1000 }
            default:
                list = LRUList()
                model.entries = []
            }
            #expect(list.keys == model.entries.map(\.key), "seed \(seed), step \(step)")
            #expect(list.totalCost == model.entries.reduce(0) { $0 + $1.cost }, "seed \(seed), step \(step)")
            let light = model.entries.filter(\.isLight)
            #expect(list.lightCost == light.reduce(0) { $0 + $1.cost }, "seed \(seed), step \(step)")
            #expect(list.count == model.entries.count, "seed \(seed), step \(step)")
            #expect(list.peek(key) == model.entries.first { $0.key == key }?.value, "seed \(seed), step \(step)")
        }
    }
}
