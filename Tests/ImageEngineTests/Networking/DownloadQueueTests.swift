import TestSupport
import Testing

@testable import ImageEngine

/// Which download starts next (A-214, E2-16, E2-21, E2-22, E2-23, E2-25, E2-27).
@Suite struct DownloadQueueTests {
    /// The queue in the plainest words: a list in order of arrival.
    private struct Model {
        struct Download { let id: UInt64, host: String, arrival: Int; var priority: Double }

        var waiting: [Download] = []
        var running: [Download] = []
        var perHost: Int
        var total: Int
        var order: DownloadOrder
        var arrivals = 0

        private func hasRoom(_ others: [Download], _ limit: Int, for download: Download) -> Bool {
            let background = others.count { $0.priority < 0 }
            return others.count < limit && (download.priority >= 0 || background < max(1, limit - limit / 2))
        }

        mutating func add(_ id: UInt64, _ host: String, _ priority: Double) {
            arrivals += 1
            waiting.append(Download(id: id, host: host, arrival: arrivals, priority: priority))
        }

        mutating func start() -> UInt64? {
            let ready = waiting.filter { download in
                hasRoom(running, total, for: download)
                    && hasRoom(running.filter { $0.host == download.host }, perHost, for: download)
            }
            let next = ready.min { one, other in
                if one.priority != other.priority { return one.priority > other.priority }
                return order == .fifo ? one.arrival < other.arrival : one.arrival > other.arrival
            }
            guard let next else { return nil }
            waiting.removeAll { $0.id == next.id }
            running.append(next)
            return next.id
        }
    }

    private func started(_ queue: inout DownloadQueue, at now: Int = 0) -> UInt64? {
        if case .download(let id) = queue.start(at: now) { return id }
        return nil
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func startsByPriorityThenArrivalWithinTheLimits(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var model = Model(
            perHost: Int.random(in: 1...4, using: &generator), total: Int.random(in: 1...10, using: &generator),
            order: seed % 2 == 0 ? .fifo : .lifo)
        var queue = DownloadQueue(limits: .init(perHost: model.perHost, total: model.total), order: model.order)
        var lastID: UInt64 = 0
        for step in 0..<1000 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8:
                lastID += 1
                let host = "host \(Int.random(in: 0..<4, using: &generator))"
                let priority = Double(Int.random(in: -2...2, using: &generator))
                queue.enqueue(lastID, host: host, priority: priority)
                model.add(lastID, host, priority)
            case 8..<15: #expect(started(&queue) == model.start(), "seed \(seed), step \(step)")
            case 15, 16:
                // Any of all there ever were: running, waiting, or gone.
                let id = UInt64.random(in: 0...lastID + 1, using: &generator)
                queue.remove(id)
                model.waiting.removeAll { $0.id == id }
                model.running.removeAll { $0.id == id }
            case 17:
                // What runs goes on when a limit is lowered (E2-25).
                model.perHost = Int.random(in: 1...4, using: &generator)
                model.total = Int.random(in: 1...10, using: &generator)
                queue.limits = .init(perHost: model.perHost, total: model.total)
            case 18:
                model.order = Bool.random(using: &generator) ? .fifo : .lifo
                queue.reorder(model.order)
            default:
                let id = UInt64.random(in: 0...lastID + 1, using: &generator)
                let priority = Double(Int.random(in: -2...3, using: &generator))
                queue.setPriority(id, to: priority)
                if let index = model.waiting.firstIndex(where: { $0.id == id }) {
                    model.waiting[index].priority = priority
                }
                if let index = model.running.firstIndex(where: { $0.id == id }) {
                    model.running[index].priority = priority
                }
            }
            #expect(queue.runningCount == model.running.count, "seed \(seed), step \(step)")
            #expect(queue.waitingCount == model.waiting.count, "seed \(seed), step \(step)")
        }
    }

    /// A-214, E2-16.
    @Test func cancellingAWaitingDownloadFreesNoSlot() {
        var queue = DownloadQueue(limits: .init(perHost: 2, total: 2))
        for id: UInt64 in 1...5 { queue.enqueue(id, host: "h", priority: 0) }
        #expect(started(&queue) == 1)
        #expect(started(&queue) == 2)
        for id: UInt64 in [3, 4, 99] { queue.remove(id) }
        #expect(queue.runningCount == 2)
        #expect(started(&queue) == nil)
        queue.remove(1)
        queue.remove(1)
        #expect(started(&queue) == 5)
        #expect(started(&queue) == nil)
        #expect(queue.runningCount == 2)
    }

    @Test func aFullHostHoldsUpNoOther() {
        var queue = DownloadQueue(limits: .init(perHost: 1, total: 9))
        queue.enqueue(1, host: "a", priority: 1)
        queue.enqueue(2, host: "a", priority: 1)
        queue.enqueue(3, host: "b", priority: 0)
        #expect(started(&queue) == 1)
        #expect(started(&queue) == 3)
        #expect(started(&queue) == nil)
    }

    /// A-213, E2-22.
    @Test func firstOrLastComeGoesFirstAmongEquals() {
        for (order, wanted) in [(DownloadOrder.fifo, [1, 2, 3]), (.lifo, [3, 2, 1])] {
            var queue = DownloadQueue(order: order)
            for id: UInt64 in 1...3 { queue.enqueue(id, host: "h", priority: 0.5) }
            #expect((0..<3).compactMap { _ in started(&queue) }.map(Int.init) == wanted)
        }
    }

    /// B-003, E2-73: half of the slots are left to whoever waits; a download that somebody joins is no longer in the way.
    @Test func whatNobodyWaitsForTakesHalfOfTheSlots() {
        var queue = DownloadQueue(limits: .init(perHost: 4, total: 4))
        for id: UInt64 in 1...4 { queue.enqueue(id, host: "h", priority: CallPriority.background) }
        #expect(started(&queue) == 1)
        #expect(started(&queue) == 2)
        #expect(started(&queue) == nil)
        queue.enqueue(5, host: "h", priority: 0)
        #expect(started(&queue) == 5)
        queue.setPriority(1, to: 0.5)
        #expect(started(&queue) == 3)
        #expect(started(&queue) == nil, "all four are taken")
    }

    /// B-013, E2-27.
    @Test func afterABurstTheRateCountsAndWhatIsCancelledTakesNoToken() {
        var queue = DownloadQueue(limits: .init(perHost: 99, total: 99), bucket: TokenBucket(rate: 10, burst: 3, at: 0))
        for id: UInt64 in 1...9 { queue.enqueue(id, host: "h", priority: 0) }
        #expect((0..<3).compactMap { _ in started(&queue) } == [1, 2, 3])
        #expect(queue.start(at: 0) == .wait(100_000_000))
        for id: UInt64 in 4...6 { queue.remove(id) }
        #expect(queue.start(at: 40_000_000) == .wait(60_000_000))
        #expect(queue.start(at: 100_000_000) == .download(7))
        #expect(queue.start(at: 100_000_000) == .wait(100_000_000))
        #expect(queue.start(at: 900_000_000) == .download(8))
        queue.remove(9)
        #expect(queue.start(at: 900_000_000) == .none, "no token, but nothing to start either")
    }

    @Test(arguments: [0.0, -1, .nan, .infinity, 1e-300, 1e300])
    func absurdRatesNeverTrap(_ rate: Double) {
        var bucket = TokenBucket(rate: rate, burst: 0, at: .min)
        for now in [0, 1, .max, 5, .min] {
            _ = bucket.take(at: now)
            #expect(bucket.delay(at: now) >= 0)
        }
    }
}
