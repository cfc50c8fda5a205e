internal import Platform
internal import Synchronization

/// Bounds the bytes of the drafts that are written at the same time: what is too much waits, in the order in which it came,
/// and holds no thread. A draft that is larger than the bound is alone.
final class DraftQueue: Sendable {
    private struct Waiting: Sendable {
        let bytes: Int
        let most: Int
        let queue: WorkQueue
        let since: Int
        let work: @Sendable (_ waited: Double) -> Void
    }

    private struct State: Sendable {
        var held = 0
        var waiting: [Waiting] = []

        mutating func take(_ bytes: Int, most: Int) -> Bool {
            guard bytes == 0 || most == 0 || held == 0 || held + bytes <= most else { return false }
            held += bytes
            return true
        }
    }

    private let state = Mutex(State())

    /// `true` when drafts are being written.
    var isBusy: Bool { state.withLock { $0.held > 0 } }

    /// The number of drafts that have to wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `work`, here or later in `queue`, when a draft of so many bytes may be written; ``leave(_:)`` ends it.
    ///
    /// - Parameters:
    ///   - most: The most bytes of all drafts, 0 for no bound.
    ///   - work: Receives the seconds that it has waited.
    func admit(
        _ bytes: Int, most: Int, in queue: WorkQueue, _ work: @escaping @Sendable (_ waited: Double) -> Void
    ) {
        let begins = state.withLock { state in
            // Those who wait are not overtaken, except by what writes nothing.
            if bytes == 0 || state.waiting.isEmpty, state.take(bytes, most: most) { return true }
            state.waiting.append(
                Waiting(bytes: bytes, most: most, queue: queue, since: monotonicNanoseconds(), work: work))
            return false
        }
        if begins { work(0) }
    }

    /// Ends the time of a draft, and begins those for which there is room now.
    func leave(_ bytes: Int) {
        let next = state.withLock { state in
            state.held -= bytes
            guard !state.waiting.isEmpty else { return [Waiting]() }
            let count = state.waiting.firstIndex { !state.take($0.bytes, most: $0.most) } ?? state.waiting.count
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        }
        for one in next {
            one.queue.submit { one.work(Double(monotonicNanoseconds() - one.since) / 1e9) }
        }
    }
}
