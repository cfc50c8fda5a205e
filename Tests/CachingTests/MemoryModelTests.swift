import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The memory tier against a plain model: whatever calls come in whatever order, both hold the same.
@Suite struct MemoryModelTests {
    /// What the storage is said to do, in the plainest words: a list from the most to the least recently used.
    private struct Model {
        struct Item {
            let key: String
            let number: Int
            let cost: Int
            var expires: Int
            let lifetime: Int
        }

        var configuration: MemoryStorage<String, Box>.Configuration
        var items: [Item] = []
        /// What a purge took while the test held it.
        var evicted: [Item] = []

        mutating func use(_ key: String, _ now: Int, isHeld: (Int) -> Bool) -> Int? {
            if let place = evicted.firstIndex(where: { $0.key == key }) {
                let item = evicted.remove(at: place)
                if isHeld(item.number), item.expires > now, item.cost <= configuration.costLimit {
                    items.insert(item, at: 0)
                    shrink(isHeld)
                }
            }
            guard let place = items.firstIndex(where: { $0.key == key }) else { return nil }
            var item = items.remove(at: place)
            guard item.expires > now else { return nil }
            switch configuration.extending {
            case .none: break
            case .cacheTime: item.expires = now + item.lifetime
            case .expiration: item.expires = now + 20_000_000_000
            }
            items.insert(item, at: 0)
            return item.number
        }

        func peek(_ key: String, _ now: Int, isHeld: (Int) -> Bool) -> Int? {
            let item = items.first { $0.key == key } ?? evicted.first { $0.key == key && isHeld($0.number) }
            return item.flatMap { $0.expires > now ? $0.number : nil }
        }

        mutating func store(_ item: Item, isHeld: (Int) -> Bool) -> Bool {
            items.removeAll { $0.key == item.key }
            evicted.removeAll { $0.key == item.key }
            guard configuration.isEnabled, configuration.costLimit > 0, item.cost <= configuration.costLimit,
                item.cost <= configuration.entryCostLimit ?? configuration.costLimit / 10
            else { return false }
            items.insert(item, at: 0)
            shrink(isHeld)
            return true
        }

        mutating func configure(_ configuration: MemoryStorage<String, Box>.Configuration, isHeld: (Int) -> Bool) {
            self.configuration = configuration
            if !configuration.isWeaklyRetaining { evicted = [] }
            if !configuration.isEnabled || configuration.costLimit <= 0 { (items, evicted) = ([], []) }
            shrink(isHeld)
        }

        var cost: Int { items.reduce(0) { $0 + $1.cost } }

        private mutating func shrink(_ isHeld: (Int) -> Bool) {
            func evict() {
                let item = items.removeLast()
                evicted.removeAll { $0.key == item.key }
                if configuration.isWeaklyRetaining, isHeld(item.number) { evicted.append(item) }
            }
            if cost > configuration.costLimit {
                while cost > min(configuration.preferredCost, configuration.costLimit),
                    items.count > 1 || cost > configuration.costLimit
                { evict() }
            }
            if configuration.countLimit > 0 { while items.count > configuration.countLimit { evict() } }
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func storageDoesWhatThePlainModelDoes(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        var settings = MemoryStorage<String, Box>.Configuration()
        (settings.costLimit, settings.preferredCost, settings.expiration) = (500, 300, .seconds(50))
        settings.entryCostLimit = 400
        let storage = MemoryStorage<String, Box>(settings) { clock.now }
        var model = Model(configuration: settings)
        /// What the test holds, as results on their way do.
        var held: [Int: Box] = [:]
        for step in 0..<500 {
            let key = "\(Int.random(in: 0..<12, using: &random))"
            let isHeld = { [held] (number: Int) in held[number] != nil }
            let place: Comment = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<7:
                let cost = Int.random(in: 0..<450, using: &random) / Int.random(in: 1...9, using: &random)
                let seconds = Bool.random(using: &random) ? nil : Int.random(in: 1..<100, using: &random)
                let box = Box(step)
                if Bool.random(using: &random) { held[step] = box }
                let admission = storage.store(
                    box, for: key, cost: cost, expiration: seconds.map { .seconds(Double($0)) })
                let life = (seconds ?? 50) * 1_000_000_000
                let item = Model.Item(
                    key: key, number: step, cost: cost, expires: clock.now + life, lifetime: life)
                // A fresh value is held by this step even when nobody keeps it.
                let isHeldNow = { (number: Int) in number == step || isHeld(number) || held[number] != nil }
                #expect((admission == .kept) == model.store(item, isHeld: isHeldNow), place)
                if held[step] == nil { model.evicted.removeAll { $0.number == step } }
            case 7..<11:
                #expect(storage.value(for: key)?.number == model.use(key, clock.now, isHeld: isHeld), place)
            case 11..<13:
                #expect(storage.peek(key)?.number == model.peek(key, clock.now, isHeld: isHeld), place)
            case 13:
                let known = model.items.first { $0.key == key }
                let expected = known?.number ?? model.peek(key, clock.now, isHeld: isHeld)
                #expect(storage.remove(key)?.number == expected, place)
                model.items.removeAll { $0.key == key }
                model.evicted.removeAll { $0.key == key }
            case 14: clock.advance(seconds: Double(Int.random(in: 0..<30, using: &random)))
            case 15:
                settings.costLimit = [0, 120, 500, 900].randomElement(using: &random) ?? 0
                settings.preferredCost = [0, 100, 300, 2000].randomElement(using: &random) ?? 0
                settings.countLimit = [0, 0, 1, 5].randomElement(using: &random) ?? 0
                settings.entryCostLimit = [nil, 50, 400, 5000].randomElement(using: &random) ?? nil
                settings.extending =
                    [.none, .cacheTime, .expiration(.seconds(20))].randomElement(using: &random) ?? .none
                settings.isWeaklyRetaining = Int.random(in: 0..<4, using: &random) > 0
                settings.isEnabled = Int.random(in: 0..<8, using: &random) > 0
                storage.configure(settings)
                model.configure(settings, isHeld: isHeld)
            case 16:
                let expired = model.items.filter { $0.expires <= clock.now }.count
                #expect(storage.removeExpired(limit: Int.random(in: 1..<20, using: &random)) == expired, place)
                model.items.removeAll { $0.expires <= clock.now }
            case 17 where Int.random(in: 0..<10, using: &random) == 0:
                #expect(storage.removeAll() == (model.items.count, model.cost), place)
                (model.items, model.evicted) = ([], [])
            default:
                // The answer has gone out: what was only held by it is gone.
                for number in held.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
                    held[number] = nil
                }
                model.evicted.removeAll { held[$0.number] == nil }
            }
            try #require(storage.keys == model.items.map(\.key), place)
            #expect(storage.totals == (model.items.count, model.cost), place)
            #expect(storage.weakCount <= model.evicted.count + 2 * LRUStore<String, Box>.deadLimit, place)
        }
    }
}
