import TestSupport
import Testing

@testable import Downloading

@Suite struct OneOrManyTests {
    @Test func itIsWhatATableIsWhateverIsDoneToIt() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var things = OneOrMany<Int, Int>()
            var table: [Int: Int] = [:]
            for step in 0..<30 {
                let key = Int.random(in: 0..<4, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: (things[key], table[key]) = (step, step)
                case 1: (things[key], table[key]) = (nil, nil)
                default: #expect(things.removeValue(forKey: key) == table.removeValue(forKey: key))
                }
                #expect(things.count == table.count && things.isEmpty == table.isEmpty)
                var values: [Int] = []
                things.forEach { values.append($1) }
                #expect(values.sorted() == table.values.sorted() && things.keys.sorted() == table.keys.sorted())
                for key in 0..<4 { #expect(things[key] == table[key]) }
            }
        }
    }
}
