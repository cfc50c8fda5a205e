import TestSupport
import Testing

@testable import ImageEngine

/// Which download starts next (A-214, E2-16, E2-21, E2-22, E2-23).
@Suite struct DownloadQueueTests {
    /// The queue in the plainest words: a list in order of arrival.
    private struct Model {
        var waiting: [(id: UInt64, host: String, priority: Double)] = []
        var running: [(id: UInt64, host: String)] = []
        let perHost: Int
        let total: Int

        mutating func start() -> UInt64? {
            guard running.count < total else { return nil }
            let ready = waiting.filter { entry in running.count { $0.host == entry.host } < perHost }
            guard let highest = ready.map(\.priority).max(), let next = ready.first(where: { $0.priority == highest })
            else { return nil }
            waiting.removeAll { $0.id == next.id }
            running.append((next.id, next.host))
            return next.id
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func startsByPriorityThenArrivalWithinTheLimits(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let perHost = Int.random(in: 1...4, using: &generator)
        let total = Int.random(in: 1...10, using: &generator)
        var queue = DownloadQueue(limits: .init(perHost: perHost, total: total))
        var model = Model(perHost: perHost, total: total)
        var lastID: UInt64 = 0
        for step in 0..<1000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                lastID += 1
                let host = "host \(Int.random(in: 0..<4, using: &generator))"
                let priority = Double(Int.random(in: 0...3, using: &generator))
                queue.enqueue(lastID, host: host, priority: priority)
                model.waiting.append((lastID, host, priority))
            case 4..<8: #expect(queue.start() == model.start(), "seed \(seed), step \(step)")
            case 8:
                // Any of all there ever were: running, waiting, or gone.
                let id = UInt64.random(in: 0...lastID + 1, using: &generator)
                queue.remove(id)
                model.waiting.removeAll { $0.id == id }
                model.running.removeAll { $0.id == id }
            default:
                let id = UInt64.random(in: 0...lastID + 1, using: &generator)
                let priority = Double(Int.random(in: 0...4, using: &generator))
                queue.raise(id, to: priority)
                if let index = model.waiting.firstIndex(where: { $0.id == id && $0.priority < priority }) {
                    // Behind those that have waited at that priority.
                    let moved = model.waiting.remove(at: index)
                    model.waiting.append((moved.id, moved.host, priority))
                }
            }
            #expect(queue.runningCount == model.running.count, "seed \(seed), step \(step)")
            #expect(queue.waitingCount == model.waiting.count, "seed \(seed), step \(step)")
            #expect(queue.runningCount <= total, "seed \(seed), step \(step)")
        }
    }

    /// A-214, E2-16.
    @Test func cancellingAWaitingDownloadFreesNoSlot() {
        var queue = DownloadQueue(limits: .init(perHost: 2, total: 2))
        for id: UInt64 in 1...5 { queue.enqueue(id, host: "h", priority: 0) }
        #expect(queue.start() == 1)
        #expect(queue.start() == 2)
        for id: UInt64 in [3, 4, 99] { queue.remove(id) }
        #expect(queue.runningCount == 2)
        #expect(queue.start() == nil)
        queue.remove(1)
        queue.remove(1)
        #expect(queue.start() == 5)
        #expect(queue.start() == nil)
        #expect(queue.runningCount == 2)
    }

    @Test func aFullHostHoldsUpNoOther() {
        var queue = DownloadQueue(limits: .init(perHost: 1, total: 9))
        queue.enqueue(1, host: "a", priority: 1)
        queue.enqueue(2, host: "a", priority: 1)
        queue.enqueue(3, host: "b", priority: 0)
        #expect(queue.start() == 1)
        #expect(queue.start() == 3)
        #expect(queue.start() == nil)
    }

    @Test func raisingARunningDownloadChangesNothing() {
        var queue = DownloadQueue(limits: .init(perHost: 1, total: 1))
        for id: UInt64 in 1...3 { queue.enqueue(id, host: "h", priority: 0.5) }
        #expect(queue.start() == 1)
        queue.raise(1, to: 1)
        queue.raise(3, to: 0.1)
        queue.raise(3, to: 0.6)
        queue.remove(1)
        #expect(queue.start() == 3)
    }
}
