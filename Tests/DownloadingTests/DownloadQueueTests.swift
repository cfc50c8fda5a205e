import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Which download starts next.
@Suite struct DownloadQueueTests {
    /// The queue in the plainest words: a list in order of arrival.
    private struct Model {
        struct Download {
            let id: UInt64
            var host: String
            let arrival: Int
            var priority: Double
            var hasBegun = false
            var isStalled = false
        }

        var waiting: [Download] = []
        var running: [Download] = []
        var perHost: Int
        var total: Int
        var order: DownloadOrder
        var arrivals = 0

        private func hasRoom(_ others: [Download], _ limit: Int, for download: Download) -> Bool {
            let background = others.count { $0.priority < 0 }
            let low = others.count { $0.priority < 0.5 }
            // One more for what is most urgent.
            return others.count < (download.priority < 1 ? limit : limit + 1)
                && (download.priority >= 0 || background < max(1, limit - limit / 2))
                && (download.priority >= 0.5 || low < max(1, limit - limit / 4))
        }

        mutating func add(_ id: UInt64, _ host: String, _ priority: Double) {
            arrivals += 1
            waiting.append(Download(id: id, host: host, arrival: arrivals, priority: priority))
        }

        mutating func start() -> UInt64? {
            let ready = waiting.filter { download in
                hasRoom(running.filter { !$0.isStalled }, total, for: download)
                    && hasRoom(running, 16 * total, for: download)
                    && hasRoom(running.filter { $0.host == download.host }, perHost, for: download)
            }
            let next = ready.min { one, other in
                if one.priority != other.priority { return one.priority > other.priority }
                if one.hasBegun != other.hasBegun { return one.hasBegun }
                return order == .fifo ? one.arrival < other.arrival : one.arrival > other.arrival
            }
            guard let next else { return nil }
            waiting.removeAll { $0.id == next.id }
            running.append(next)
            return next.id
        }

        mutating func move(_ id: UInt64, _ host: String) {
            guard let index = running.firstIndex(where: { $0.id == id && $0.host != host }) else { return }
            var moved = running.remove(at: index)
            (moved.host, moved.hasBegun, moved.isStalled) = (host, true, false)
            waiting.append(moved)
        }
    }

    private func started(_ queue: inout NumberedQueue, at now: Int = 0) -> UInt64? {
        if case .download(let id) = queue.start(at: now) { return id }
        return nil
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func startsByPriorityThenArrivalWithinTheLimits(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var model = Model(
            perHost: Int.random(in: 1...4, using: &generator), total: Int.random(in: 1...10, using: &generator),
            order: seed % 2 == 0 ? .fifo : .lifo)
        var queue = NumberedQueue(limits: .init(perHost: model.perHost, total: model.total), order: model.order)
        var lastID: UInt64 = 0
        for step in 0..<1000 {
            switch Int.random(in: 0..<26, using: &generator) {
            case 22...25:
                let (id, isStalled) = (
                    UInt64.random(in: 0...lastID + 1, using: &generator), Bool.random(using: &generator)
                )
                queue.setStalled(id, isStalled)
                if let index = model.running.firstIndex(where: { $0.id == id }) {
                    model.running[index].isStalled = isStalled
                }
            case 20, 21:
                let id = UInt64.random(in: 0...lastID + 1, using: &generator)
                let host = "host \(Int.random(in: 0..<4, using: &generator))"
                queue.move(id, to: host)
                model.move(id, host)
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
                // What runs goes on when a limit is lowered.
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
            #expect(queue.stalledCount == model.running.count { $0.isStalled }, "seed \(seed), step \(step)")
        }
    }

    @Test func cancellingAWaitingDownloadFreesNoSlot() {
        var queue = NumberedQueue(limits: .init(perHost: 2, total: 2))
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
        var queue = NumberedQueue(limits: .init(perHost: 1, total: 9))
        queue.enqueue(1, host: "a", priority: 0.9)
        queue.enqueue(2, host: "a", priority: 0.9)
        queue.enqueue(3, host: "b", priority: 0)
        #expect(started(&queue) == 1)
        #expect(started(&queue) == 3)
        #expect(started(&queue) == nil)
    }

    /// One slot is kept for what is most urgent, of its host and in all.
    @Test func whatIsMostUrgentHasOneSlotMore() {
        var queue = NumberedQueue(limits: .init(perHost: 2, total: 2))
        for id: UInt64 in 1...3 { queue.enqueue(id, host: "a", priority: 0.99) }
        #expect([started(&queue), started(&queue), started(&queue)] == [1, 2, nil])
        queue.enqueue(4, host: "a", priority: 1)
        queue.enqueue(5, host: "b", priority: 1)
        #expect([started(&queue), started(&queue)] == [4, nil], "one, and not one for each")
        queue.remove(1)
        #expect(started(&queue) == 5)
        queue.remove(2)
        #expect(started(&queue) == nil, "two are as many as there may be")
        queue.setPriority(3, to: 1)
        #expect(started(&queue) == 3)
    }

    @Test func firstOrLastComeGoesFirstAmongEquals() {
        for (order, wanted) in [(DownloadOrder.fifo, [1, 2, 3]), (.lifo, [3, 2, 1])] {
            var queue = NumberedQueue(order: order)
            for id: UInt64 in 1...3 { queue.enqueue(id, host: "h", priority: 0.5) }
            #expect((0..<3).compactMap { _ in started(&queue) }.map(Int.init) == wanted)
        }
    }

    /// Half of the slots are left to whoever waits; a download that somebody joins is no longer in the way.
    @Test func whatNobodyWaitsForTakesHalfOfTheSlots() {
        var queue = NumberedQueue(limits: .init(perHost: 4, total: 4))
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

    /// A slot in four is left to what is as urgent as usual, of all and of each host.
    @Test func lessUrgentDownloadsLeaveSlotsToOthers() {
        for (perHost, total) in [(4, 64), (64, 4)] {
            var queue = NumberedQueue(limits: .init(perHost: perHost, total: total))
            for id: UInt64 in 1...4 { queue.enqueue(id, host: "h", priority: 0.49) }
            #expect([1, 2, 3, nil] == (0..<4).map { _ in started(&queue) })
            queue.enqueue(5, host: "h", priority: CallPriority.background)
            #expect(started(&queue) == nil, "what is less urgent still has no slot of its own")
            queue.enqueue(6, host: "h", priority: 0.5)
            #expect(started(&queue) == 6)
            queue.remove(6)
            queue.setPriority(4, to: 1)
            #expect(started(&queue) == 4, "the slot was kept for it")
        }
    }

    @Test(arguments: [1, 2, 3])
    func reservedSlotsNeverStopWhatIsLessUrgent(_ limit: Int) {
        for priority in [CallPriority.background, 0, 0.49] {
            var queue = NumberedQueue(limits: .init(perHost: limit, total: limit))
            queue.enqueue(1, host: "h", priority: priority)
            #expect(started(&queue) == 1)
        }
    }

    /// Silent hosts take no slots from others, but make no more connections than sixteen times as many in all.
    @Test func silentHostsHoldUpNobody() {
        var queue = NumberedQueue(limits: .init(perHost: 2, total: 4))
        for id: UInt64 in 1...90 { queue.enqueue(id, host: "silent \(id / 2)", priority: 0.5) }
        for id: UInt64 in 1...4 { #expect(started(&queue) == id) }
        queue.enqueue(100, host: "good", priority: 0.5)
        queue.setPriority(100, to: 0.9)
        #expect(started(&queue) == nil)
        queue.setStalled(1, true)
        #expect(started(&queue) == 100)
        #expect(queue.runningCount == 5 && queue.stalledCount == 1)
        queue.remove(100)
        // Each that starts turns out to be silent too.
        var open: [UInt64] = [1, 2, 3, 4]
        for id in open { queue.setStalled(id, true) }
        while let id = started(&queue) {
            queue.setStalled(id, true)
            open.append(id)
        }
        #expect(open.count == 64, "sixteen times four")
        #expect(queue.runningCount == 64 && queue.stalledCount == 64)
        // Those that speak again count beyond the limit, and nothing starts until there is room.
        for id in open.prefix(6) { queue.setStalled(id, false) }
        queue.remove(open[63])
        #expect(started(&queue) == nil)
        for id in open.prefix(2) { queue.remove(id) }
        #expect(started(&queue) == nil, "four get on")
        queue.remove(open[2])
        #expect(started(&queue) != nil)
    }

    @Test func aProcessThatMayHaveFewConnectionsHasNoMore() {
        var queue = NumberedQueue(limits: .init(perHost: 2, total: 64, connections: 3))
        for id: UInt64 in 1...10 { queue.enqueue(id, host: "\(id)", priority: 0.5) }
        for id: UInt64 in 1...3 { #expect(started(&queue) == id) }
        #expect(started(&queue) == nil)
        queue.setStalled(1, true)
        #expect(started(&queue) == nil, "it has its connection still")
        queue.remove(1)
        #expect(started(&queue) == 4)
    }

    /// The slots of one host stay taken.
    @Test func silentHostGetsNoMoreConnectionsThanItsOwn() {
        var queue = NumberedQueue(limits: .init(perHost: 2, total: 4))
        for id: UInt64 in 1...9 { queue.enqueue(id, host: "h", priority: 0.5) }
        #expect(started(&queue) == 1 && started(&queue) == 2)
        queue.setStalled(1, true)
        queue.setStalled(2, true)
        #expect(started(&queue) == nil)
        queue.remove(1)
        #expect(started(&queue) == 3)
        #expect(queue.runningCount == 2 && queue.stalledCount == 1)
    }

    /// Two hosts that redirect to each other wait for no slot that the other one holds.
    @Test func downloadThatIsRedirectedGivesItsSlotUpAndIsAmongTheFirst() {
        for order in DownloadOrder.allCases {
            var queue = NumberedQueue(
                limits: .init(perHost: 1, total: 9), order: order, bucket: TokenBucket(rate: 1, burst: 3, at: 0))
            queue.enqueue(1, host: "a", priority: 0)
            queue.enqueue(2, host: "b", priority: 0)
            #expect([started(&queue), started(&queue)].compactMap(\.self).sorted() == [1, 2])
            queue.move(1, to: "b")
            queue.enqueue(3, host: "b", priority: 0)
            queue.enqueue(4, host: "a", priority: 0)
            #expect(queue.runningCount == 1 && queue.waitingCount == 3)
            #expect(started(&queue) == 4, "its slot at a is free")
            #expect(queue.start(at: 0) == .none, "b is full")
            queue.move(2, to: "c")
            #expect(Set([started(&queue), started(&queue)]) == [1, 2], "before 3, and not counted by the rate")
            #expect(queue.start(at: 0) == .none)
            queue.remove(1)
            #expect(queue.start(at: 0) == .wait(1_000_000_000))
        }
    }

    /// Ten thousand for one host, or each for its own, at once and one by one.
    @Test(arguments: [1, 100, 10_000])
    func tenThousandWaitWithoutBeingLookedThrough(_ hosts: Int) {
        var queue = NumberedQueue(limits: .init(perHost: 1, total: 1000))
        let count = 10_000
        for id in 1...count { queue.enqueue(UInt64(id), host: "\(id % hosts)", priority: 0.5) }
        var running: [UInt64] = []
        while let id = started(&queue) { running.append(id) }
        #expect(running.count == min(hosts, 1000))
        for id in 1...count { queue.setPriority(UInt64(id), to: Double(id) / 20_000) }
        for id in (1...count).reversed() {
            queue.remove(UInt64(id))
            if let id = started(&queue) { running.append(id) }
        }
        #expect(queue.runningCount == 0 && queue.waitingCount == 0)
        #expect(Set(running).count == running.count, "each once")
    }

    @Test func afterABurstTheRateCountsAndWhatIsCancelledTakesNoToken() {
        var queue = NumberedQueue(limits: .init(perHost: 99, total: 99), bucket: TokenBucket(rate: 10, burst: 3, at: 0))
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
            _ = bucket.takeToken(at: now)
            #expect(bucket.delay(at: now) >= 0)
        }
    }
}
