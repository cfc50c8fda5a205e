import TestSupport
import Testing

@testable import ImageEngine

/// The memory tier (E2-42 to E2-45).
@Suite struct MemoryStorageTests {
    private let clock = ManualClock()

    private func storage(
        cost: Int = 1000, preferred: Int = 600, count: Int = 0, expiration: StorageExpiration = .seconds(300)
    ) -> MemoryStorage<String, Int> {
        var configuration = MemoryStorage<String, Int>.Configuration()
        configuration.costLimit = cost
        configuration.preferredCost = preferred
        configuration.countLimit = count
        configuration.expiration = expiration
        return MemoryStorage(configuration) { [clock] in clock.now }
    }

    /// E2-42.
    @Test func usedValuesSurviveAndTheLongestUnusedGoesFirst() {
        let storage = storage(count: 3)
        for key in ["a", "b", "c"] { storage.store(1, for: key, cost: 1) }
        #expect(storage.value(for: "a") == 1)
        storage.store(1, for: "d", cost: 1)
        #expect(storage.keys == ["d", "a", "c"])
        #expect(storage.peek("c") == 1)
        storage.store(1, for: "e", cost: 1)
        #expect(storage.keys == ["e", "d", "a"], "a look without use does not count")
    }

    /// E2-43.
    @Test func replacedValueIsNeverCountedTwice() {
        let storage = storage()
        storage.store(1, for: "a", cost: 400)
        storage.store(2, for: "a", cost: 500)
        #expect(storage.totals == (1, 500))
        storage.store(3, for: "a", cost: 100)
        #expect(storage.totals == (1, 100))
        #expect(storage.value(for: "a") == 3)
    }

    /// E2-43.
    @Test func valueCostlierThanTheLimitIsNotStoredAndEvictsNothing() {
        let storage = storage()
        storage.store(1, for: "a", cost: 900)
        #expect(!storage.store(2, for: "b", cost: 1001))
        #expect(storage.value(for: "a") == 1)
        #expect(storage.value(for: "b") == nil)
        #expect(!storage.store(2, for: "a", cost: 1001))
        #expect(storage.value(for: "a") == nil, "the old value is not the stored one any more")
        #expect(storage.totals == (0, 0))
    }

    @Test func limitOfZeroKeepsNothing() {
        let storage = storage(cost: 0, preferred: 0)
        #expect(!storage.store(1, for: "a", cost: 1))
        #expect(storage.totals == (0, 0))
    }

    /// E2-44, A-245.
    @Test func purgeGoesDownToThePreferredCostAndSparesTheNewest() {
        let storage = storage()
        for number in 0..<10 { storage.store(number, for: "\(number)", cost: 100) }
        #expect(storage.totals == (10, 1000), "the limit itself is allowed")
        storage.store(10, for: "10", cost: 100)
        #expect(storage.totals == (6, 600))
        #expect(storage.keys == ["10", "9", "8", "7", "6", "5"])
        storage.store(11, for: "11", cost: 900)
        #expect(storage.keys == ["11"], "above the preferred cost, and yet the one just stored stays")
    }

    /// E2-45.
    @Test func valueExpiresAtItsMoment() {
        let storage = storage(expiration: .seconds(10))
        storage.store(1, for: "a", cost: 1)
        clock.advance(seconds: 9.999)
        #expect(storage.peek("a") == 1)
        clock.advance(seconds: 0.001)
        #expect(storage.peek("a") == nil)
        #expect(storage.value(for: "a") == nil)
        #expect(storage.totals == (0, 0), "an expired value goes when it is met")
    }

    /// E2-45: what a use does to the life of a value.
    @Test(arguments: [
        (ExpirationExtension.none, false, false), (.cacheTime, true, false), (.expiration(.seconds(20)), true, true),
        (.expiration(.never), true, true), (.expiration(.expired), false, false),
        (.expiration(.seconds(-1)), true, true),
    ])
    func useExtendsLifeOnlyAsAsked(_ extending: ExpirationExtension, _ livesTen: Bool, _ livesFifteen: Bool) {
        let storage = storage(expiration: .seconds(10))
        storage.store(1, for: "a", cost: 1)
        clock.advance(seconds: 5)
        #expect(storage.value(for: "a", extending: extending) == 1)
        clock.advance(seconds: 7)
        #expect((storage.peek("a") != nil) == livesTen)
        clock.advance(seconds: 8)
        #expect((storage.peek("a") != nil) == livesFifteen)
    }

    @Test func perEntryLifeOverridesTheDefault() {
        let storage = storage(expiration: .seconds(10))
        storage.store(1, for: "long", cost: 1, expiration: .seconds(100))
        storage.store(1, for: "ever", cost: 1, expiration: .never)
        #expect(!storage.store(1, for: "gone", cost: 1, expiration: .expired))
        #expect(!storage.store(1, for: "past", cost: 1, expiration: .date(1)))
        storage.store(1, for: "date", cost: 1, expiration: .date(.max))
        clock.advance(seconds: 99)
        #expect(storage.value(for: "long") == 1)
        clock.advance(seconds: 99)
        #expect(storage.value(for: "long") == 1, "a use gives the entry its own life again, not the default")
        clock.advance(seconds: 1e6)
        #expect(storage.peek("long") == nil)
        #expect(storage.value(for: "ever") == 1)
        #expect(storage.value(for: "date") == 1)
        #expect(storage.peek("gone") == nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e18, .leastNonzeroMagnitude])
    func strangeLivesDoNotTrap(_ seconds: Double) {
        let storage = storage(expiration: .seconds(seconds))
        storage.store(1, for: "a", cost: 1)
        #expect(storage.value(for: "a", extending: .expiration(.seconds(seconds))) == 1)
        #expect(storage.value(for: "a") == 1)
    }

    @Test func removalTellsWhatWasThere() {
        let storage = storage()
        for number in 0..<6 { storage.store(number, for: "\(number)", cost: 10) }
        #expect(storage.remove("0") == 0)
        #expect(storage.remove("0") == nil)
        #expect(storage.removeAll { _, value in value % 2 == 1 } == 3)
        #expect(storage.keys == ["4", "2"])
        #expect(storage.removeAll() == (2, 20))
        #expect(storage.removeAll() == (0, 0))
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func costsAlwaysAddUpAndStayBelowTheLimits(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let storage = storage(cost: 500, preferred: 300, count: 9, expiration: .seconds(50))
        var costs: [String: Int] = [:]
        for step in 0..<1000 {
            let key = "\(Int.random(in: 0..<20, using: &generator))"
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let cost = Int.random(in: 1..<600, using: &generator)
                #expect(storage.store(step, for: key, cost: cost) == (cost <= 500), "seed \(seed)")
                costs[key] = cost
            case 5..<7: _ = storage.value(for: key)
            case 7: storage.remove(key)
            default: clock.advance(seconds: Double.random(in: 0..<20, using: &generator))
            }
            let totals = storage.totals
            #expect(totals.cost == storage.keys.reduce(0) { $0 + (costs[$1] ?? 0) }, "seed \(seed), step \(step)")
            #expect(totals.cost <= 500 && totals.count <= 9, "seed \(seed), step \(step)")
        }
    }
}
