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
                let value = Int.random(in: 0..<3, using: &random) == 0 ? step : nil
                (things[key], table[key]) = (value, value)
                #expect(things.count == table.count && things.isEmpty == table.isEmpty)
                var values: [Int] = []
                var keys: [Int] = []
                things.forEach { key, value in
                    keys.append(key)
                    values.append(value)
                }
                #expect(values.sorted() == table.values.sorted() && keys.sorted() == table.keys.sorted())
                for key in 0..<4 { #expect(things[key] == table[key]) }
            }
        }
    }
}
