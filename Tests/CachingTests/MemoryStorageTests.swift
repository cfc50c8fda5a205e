import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The memory tier.
@Suite struct MemoryStorageTests {
    private let clock = ManualClock()

    private func storage(
        cost: Int = 1000, preferred: Int = 600, count: Int = 0, expiration: StorageExpiration = .seconds(300),
        _ configure: (inout MemoryStorage<String, Box>.Configuration) -> Void = { _ in }
    ) -> MemoryStorage<String, Box> {
        var configuration = MemoryStorage<String, Box>.Configuration()
        configuration.costLimit = cost
        configuration.preferredCost = preferred
        configuration.countLimit = count
        configuration.expiration = expiration
        configuration.entryCostLimit = cost
        configure(&configuration)
        return MemoryStorage(configuration) { [clock] in clock.now }
    }

    @Test func usedValuesSurviveAndTheLongestUnusedGoesFirst() {
        let storage = storage(count: 3)
        for key in ["a", "b", "c"] { storage.store(Box(1), for: key, cost: 1) }
        #expect(storage.value(for: "a")?.number == 1)
        storage.store(Box(1), for: "d", cost: 1)
        #expect(storage.keys == ["d", "a", "c"])
        #expect(storage.peek("c")?.number == 1)
        storage.store(Box(1), for: "e", cost: 1)
        #expect(storage.keys == ["e", "d", "a"], "a look without use does not count")
    }

    @Test func replacedValueIsNeverCountedTwice() {
        let storage = storage()
        storage.store(Box(1), for: "a", cost: 400)
        storage.store(Box(2), for: "a", cost: 500)
        #expect(storage.totals == (1, 500))
        storage.store(Box(3), for: "a", cost: 100)
        #expect(storage.totals == (1, 100))
        #expect(storage.value(for: "a")?.number == 3)
    }

    @Test func valueCostlierThanTheLimitIsNotStoredAndEvictsNothing() {
        let storage = storage()
        storage.store(Box(1), for: "a", cost: 900)
        #expect(storage.store(Box(2), for: "b", cost: 1001) == .tooLarge(.total(1000), cost: 1001))
        #expect(storage.value(for: "a")?.number == 1)
        #expect(storage.value(for: "b") == nil)
        #expect(storage.store(Box(2), for: "a", cost: 1001) == .tooLarge(.total(1000), cost: 1001))
        #expect(storage.value(for: "a") == nil, "the old value is not the stored one any more")
        #expect(storage.totals == (0, 0))
    }

    @Test func limitOfZeroKeepsNothing() {
        let storage = storage(cost: 0, preferred: 0)
        #expect(storage.store(Box(1), for: "a", cost: 1) == .disabled)
        #expect(storage.totals == (0, 0))
    }

    @Test func purgeGoesDownToThePreferredCostAndSparesTheNewest() {
        let storage = storage()
        for number in 0..<10 { storage.store(Box(number), for: "\(number)", cost: 100) }
        #expect(storage.totals == (10, 1000), "the limit itself is allowed")
        storage.store(Box(10), for: "10", cost: 100)
        #expect(storage.totals == (6, 600))
        #expect(storage.keys == ["10", "9", "8", "7", "6", "5"])
        storage.store(Box(11), for: "11", cost: 900)
        #expect(storage.keys == ["11"], "above the preferred cost, and yet the one just stored stays")
    }

    @Test func valueExpiresAtItsMoment() {
        let storage = storage(expiration: .seconds(10))
        storage.store(Box(1), for: "a", cost: 1)
        clock.advance(seconds: 9.999)
        #expect(storage.peek("a")?.number == 1)
        clock.advance(seconds: 0.001)
        #expect(storage.peek("a") == nil)
        #expect(storage.value(for: "a") == nil)
        #expect(storage.totals == (0, 0), "an expired value goes when it is met")
    }

    /// What a use does to the life of a value.
    @Test(arguments: [
        (ExpirationExtension.none, false, false), (.cacheTime, true, false), (.expiration(.seconds(20)), true, true),
        (.expiration(.never), true, true), (.expiration(.expired), false, false),
        (.expiration(.seconds(-1)), true, true),
    ])
    func useExtendsLifeOnlyAsAsked(_ extending: ExpirationExtension, _ livesTen: Bool, _ livesFifteen: Bool) {
        let storage = storage(expiration: .seconds(10))
        storage.store(Box(1), for: "a", cost: 1)
        clock.advance(seconds: 5)
        #expect(storage.value(for: "a", extending: extending)?.number == 1)
        clock.advance(seconds: 7)
        #expect((storage.peek("a") != nil) == livesTen)
        clock.advance(seconds: 8)
        #expect((storage.peek("a") != nil) == livesFifteen)
    }

    @Test func perEntryLifeOverridesTheDefault() {
        let storage = storage(expiration: .seconds(10))
        storage.store(Box(1), for: "long", cost: 1, expiration: .seconds(100))
        storage.store(Box(1), for: "ever", cost: 1, expiration: .never)
        #expect(storage.store(Box(1), for: "gone", cost: 1, expiration: .expired) == .expired)
        #expect(storage.store(Box(1), for: "past", cost: 1, expiration: .date(1)) == .expired)
        storage.store(Box(1), for: "date", cost: 1, expiration: .date(.max))
        clock.advance(seconds: 99)
        #expect(storage.value(for: "long")?.number == 1)
        clock.advance(seconds: 99)
        #expect(storage.value(for: "long")?.number == 1, "a use gives the entry its own life again, not the default")
        clock.advance(seconds: 1e6)
        #expect(storage.peek("long") == nil)
        #expect(storage.value(for: "ever")?.number == 1)
        #expect(storage.value(for: "date")?.number == 1)
        #expect(storage.peek("gone") == nil)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e18, .leastNonzeroMagnitude])
    func strangeLivesDoNotTrap(_ seconds: Double) {
        let storage = storage(expiration: .seconds(seconds))
        storage.store(Box(1), for: "a", cost: 1)
        #expect(storage.value(for: "a", extending: .expiration(.seconds(seconds)))?.number == 1)
        #expect(storage.value(for: "a")?.number == 1)
    }

    @Test func removalTellsWhatWasThere() {
        let storage = storage()
        for number in 0..<6 { storage.store(Box(number), for: "\(number)", cost: 10) }
        #expect(storage.remove("0")?.number == 0)
        #expect(storage.remove("0") == nil)
        #expect(storage.removeAll { _, value in value.number % 2 == 1 } == 3)
        #expect(storage.keys == ["4", "2"])
        #expect(storage.removeAll() == (2, 20))
        #expect(storage.removeAll() == (0, 0))
    }

    /// Of light values a quarter goes at once, and the others stay whatever their age.
    @Test func lightValuesHaveALimitOfTheirOwn() {
        let storage = storage(cost: 10_000) { $0.lightLimit = 80 }
        storage.store(Box(1), for: "old", cost: 100)
        for number in 0..<8 { storage.store(Box(number), for: "\(number)", cost: 10, isLight: true) }
        #expect(storage.totals == (9, 180))
        _ = storage.value(for: "0")
        storage.store(Box(8), for: "8", cost: 10, isLight: true)
        #expect(storage.keys == ["8", "0", "7", "6", "5", "4", "old"])
        storage.store(Box(9), for: "8", cost: 1000)
        for number in 20..<23 { storage.store(Box(number), for: "\(number)", cost: 10, isLight: true) }
        #expect(storage.totals == (10, 1180), "one that became heavy is not counted with the light ones")
        var settings = storage.configuration
        settings.lightLimit = 0
        storage.configure(settings)
        #expect(storage.keys == ["8", "old"])
    }

    // MARK: Admission

    /// One value never takes the place of all others.
    @Test func valueAboveATenthOfTheLimitIsNotLetInUnlessConfigured() {
        let storage = storage { $0.entryCostLimit = nil }
        #expect(storage.store(Box(1), for: "a", cost: 100) == .kept)
        #expect(storage.store(Box(1), for: "b", cost: 101) == .tooLarge(.entry(100), cost: 101))
        #expect(storage.store(Box(1), for: "b", cost: 101, isLight: true) == .kept)
        var configuration = storage.configuration
        configuration.entryCostLimit = 500
        storage.configure(configuration)
        #expect(storage.store(Box(1), for: "c", cost: 500) == .kept)
        #expect(storage.store(Box(1), for: "c", cost: 501) == .tooLarge(.entry(500), cost: 501))
        #expect(storage.keys == ["b", "a"], "what was there before is not the value asked for any more")
        configuration.entryCostLimit = 5000
        storage.configure(configuration)
        #expect(storage.store(Box(1), for: "c", cost: 1001) == .tooLarge(.total(1000), cost: 1001))
    }

    @Test(arguments: [
        (MemoryAdmission.kept, nil), (.disabled, "totalBytesLimit"), (.expired, "memoryCacheExpiration"),
        (.tooLarge(.entry(10), cost: 11), "entryBytesLimit"), (.tooLarge(.total(10), cost: 11), "totalBytesLimit"),
    ])
    func reasonNamesTheSetting(_ admission: MemoryAdmission, _ setting: String?) {
        #expect(admission.setting == setting)
        #expect(admission.reason.map { $0.contains(setting ?? "") } == setting.map { _ in true })
    }

    // MARK: Settings that change

    @Test func loweredLimitPurgesAtOnceDownToThePreferredCost() {
        let storage = storage()
        for number in 0..<10 { storage.store(Box(number), for: "\(number)", cost: 100) }
        change(storage) { ($0.costLimit, $0.preferredCost) = (500, 300) }
        #expect(storage.keys == ["9", "8", "7"])
        change(storage) { $0.countLimit = 2 }
        #expect(storage.keys == ["9", "8"])
        change(storage) { ($0.costLimit, $0.preferredCost) = (150, 50) }
        #expect(storage.keys == ["9"], "the one used last stays as long as it fits")
        change(storage) { $0.costLimit = 99 }
        #expect(storage.totals == (0, 0))
    }

    @Test func preferredCostAboveTheLimitIsTheLimit() {
        let storage = storage(cost: 1000, preferred: 5000)
        for number in 0..<12 { storage.store(Box(number), for: "\(number)", cost: 100) }
        #expect(storage.totals == (10, 1000))
        change(storage) { $0.preferredCost = -5 }
        storage.store(Box(12), for: "12", cost: 100)
        #expect(storage.keys == ["12"])
    }

    @Test(arguments: [false, true]) func storageThatIsTurnedOffHoldsNothing(_ byLimit: Bool) {
        let storage = storage()
        let held = Box(1)
        storage.store(held, for: "a", cost: 10)
        let before = storage.configuration
        change(storage) { if byLimit { $0.costLimit = 0 } else { $0.isEnabled = false } }
        #expect(storage.totals == (0, 0) && storage.costLimit == 0)
        #expect(storage.store(Box(2), for: "b", cost: 0) == .disabled)
        #expect(storage.value(for: "a") == nil && storage.weakCount == 0)
        storage.configure(before)
        #expect(storage.value(for: "a") == nil)
        #expect(storage.store(Box(2), for: "b", cost: 0) == .kept)
    }

    /// What is set for the storage counts where the request says nothing.
    @Test func extendingIsThatOfTheStorageUnlessTheRequestSays() {
        let storage = storage(expiration: .seconds(10)) { $0.extending = .none }
        storage.store(Box(1), for: "a", cost: 1)
        clock.advance(seconds: 6)
        #expect(storage.value(for: "a") != nil)
        clock.advance(seconds: 6)
        #expect(storage.value(for: "a") == nil, "absolute")
        storage.store(Box(1), for: "a", cost: 1)
        clock.advance(seconds: 6)
        #expect(storage.value(for: "a", extending: .cacheTime) != nil)
        clock.advance(seconds: 6)
        change(storage) { $0.extending = .expiration(.seconds(100)) }
        #expect(storage.value(for: "a") != nil)
        clock.advance(seconds: 99)
        #expect(storage.peek("a") != nil)
        clock.advance(seconds: 1)
        #expect(storage.peek("a") == nil)
    }

    @Test(arguments: [1, 7, 1000]) func sweepRemovesWhatHasExpiredAndNothingElse(_ limit: Int) {
        let storage = storage(cost: 100_000)
        for number in 0..<100 {
            storage.store(
                Box(number), for: "\(number)", cost: 1, expiration: .seconds(number % 3 == 0 ? 10 : 1000))
        }
        storage.remove("50")
        #expect(storage.removeExpired(limit: limit) == 0)
        clock.advance(seconds: 10)
        #expect(storage.removeExpired(limit: limit) == 34)
        #expect(storage.totals == (65, 65))
        #expect(storage.removeExpired(limit: limit) == 0)
    }

    // MARK: Values in use

    @Test func purgedValueInUseIsBackAtTheNextLookUp() {
        let storage = storage()
        let held = Box(1)
        storage.store(held, for: "held", cost: 400)
        storage.store(Box(2), for: "free", cost: 400)
        storage.store(Box(3), for: "new", cost: 400)
        #expect(storage.keys == ["new"])
        #expect(storage.weakCount == 1, "what nobody holds is not remembered")
        #expect(storage.peek("held") === held)
        #expect(storage.totals == (1, 400), "a look without use brings nothing back")
        #expect(storage.value(for: "held") === held)
        #expect(storage.keys == ["held", "new"] && storage.totals == (2, 800) && storage.weakCount == 0)
        #expect(storage.value(for: "free") == nil)
    }

    @Test func valueBackFromUseLivesNoLongerThanBefore() {
        let storage = storage(count: 1, expiration: .seconds(10))
        let held = Box(1)
        storage.store(held, for: "held", cost: 1)
        storage.store(Box(2), for: "other", cost: 1)
        clock.advance(seconds: 9)
        #expect(storage.value(for: "held", extending: ExpirationExtension.none) === held)
        clock.advance(seconds: 1)
        #expect(storage.value(for: "held") == nil)
        storage.store(held, for: "held", cost: 1)
        storage.store(Box(2), for: "other", cost: 1)
        clock.advance(seconds: 10)
        #expect(storage.peek("held") == nil)
        #expect(storage.value(for: "held") == nil)
    }

    @Test func removedReplacedAndClearedValuesDoNotComeBack() {
        let storage = storage(count: 1)
        let held = (0..<4).map { Box($0) }
        for box in held { storage.store(box, for: "\(box.number)", cost: 1) }
        #expect(storage.weakCount == 3)
        #expect(storage.remove("0") === held[0])
        #expect(storage.remove("0") == nil)
        #expect(storage.removeAll { key, _ in key == "1" } == 1)
        #expect(storage.store(Box(9), for: "2", cost: 1001) != .kept)
        for number in 0..<3 { #expect(storage.value(for: "\(number)") == nil) }
        #expect(storage.value(for: "3") === held[3])
        for box in held { storage.store(box, for: "\(box.number)", cost: 1) }
        #expect(storage.removeAll() == (1, 1))
        for number in 0..<4 { #expect(storage.value(for: "\(number)") == nil) }
    }

    @Test func withoutWeakRetentionAPurgeIsFinal() {
        let storage = storage(count: 1) { $0.isWeaklyRetaining = false }
        let held = (0..<3).map { Box($0) }
        for box in held { storage.store(box, for: "\(box.number)", cost: 1) }
        #expect(storage.value(for: "0") == nil && storage.weakCount == 0)
        change(storage) { $0.isWeaklyRetaining = true }
        for box in held { storage.store(box, for: "\(box.number)", cost: 1) }
        #expect(storage.peek("0") === held[0])
        change(storage) { $0.isWeaklyRetaining = false }
        #expect(storage.peek("0") == nil && storage.weakCount == 0)
    }

    @Test func deadReferencesDoNotPileUp() {
        let storage = storage(count: 1)
        for round in 0..<20 {
            let held = (0..<100).map { Box($0) }
            for box in held { storage.store(box, for: "\(round) \(box.number)", cost: 1) }
            #expect(storage.weakCount <= 100 + 2 * LRUStore<String, Box>.deadLimit, "round \(round)")
        }
        storage.removeExpired()
        #expect(storage.weakCount == 0)
    }

    private func change(
        _ storage: MemoryStorage<String, Box>, _ change: (inout MemoryStorage<String, Box>.Configuration) -> Void
    ) {
        var configuration = storage.configuration
        change(&configuration)
        storage.configure(configuration)
    }
}

/// A number in a value that can be held.
final class Box: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}
