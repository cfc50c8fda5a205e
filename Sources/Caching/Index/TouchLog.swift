internal import Platform
internal import Synchronization

/// Uses of entries that have not been written into the index yet.
///
/// A hit must not cost a write: uses are gathered, each entry once, and written in one transaction a second later, or when
/// many have come. Uses of entries that were written lately wait for five seconds; an eviction writes them first. A killed
/// process loses an order of eviction that is seconds old, and what its last uses added to lives.
final class TouchLog: Sendable {
    /// One use.
    struct Touch: Sendable {
        /// The time of change of its file, and the time of storing: an entry that was replaced meanwhile is left alone.
        let modified: Int
        let storedAt: Int
        /// The end of the entry's life now; `nil` for ever.
        let expiresAt: Int?
        /// `true` when that is worth writing.
        var movesExpiry = true
        /// Its place among the gathered uses.
        fileprivate(set) var place: Int64 = 0
    }

    private struct State {
        var pending: [Int64: Touch] = [:]
        /// The number of the latest use among them.
        var use: Int64 = 0
        var urgent = 0
        var schedule = Schedule.none
    }

    private enum Schedule: Comparable { case none, late, soon }

    /// The number of urgent uses that are written at once.
    private static let batch = 1024
    /// The most entries whose use only counts for the order.
    private static let most = 4096

    private let index: CacheIndex
    private let state = Mutex(State())

    init(index: CacheIndex) { self.index = index }

    /// Notes a use of the entry `number`.
    ///
    /// - Parameter isUrgent: `true` when it is written within a second. Otherwise within five, and not at all when very many
    ///   wait.
    func add(_ number: Int64, _ touch: Touch, isUrgent: Bool = true) {
        let delay = state.withLock { state -> Duration? in
            let earlier = state.pending[number]
            if !isUrgent, earlier == nil, state.pending.count >= Self.most { return nil }
            var touch = touch
            if earlier?.movesExpiry == true { touch.movesExpiry = true }
            state.use += 1
            touch.place = state.use
            state.pending[number] = touch
            if isUrgent { state.urgent += 1 }
            if isUrgent, state.urgent == Self.batch { return .zero }
            let wanted = isUrgent ? Schedule.soon : .late
            guard state.schedule < wanted else { return nil }
            state.schedule = wanted
            return .seconds(isUrgent ? 1 : 5)
        }
        guard let delay else { return }
        Task.detached(priority: .background) { [weak self] in
            if delay > .zero { try? await Task.sleep(for: delay) }
            self?.flush()
        }
    }

    /// Writes the gathered uses.
    func flush() {
        let isEmpty = state.withLock { state in
            state.schedule = .none
            return state.pending.isEmpty
        }
        if isEmpty { return }
        try? index.write { writer in
            try self.flush(into: writer)
            try writer.setAnchor(self.index.clock.anchor)
        }
    }

    /// Writes the gathered uses within a transaction; they are gathered again when it fails.
    func flush(into writer: IndexWriter) throws {
        let pending = state.withLock { state in
            defer { (state.pending, state.urgent, state.schedule) = ([:], 0, .none) }
            return state.pending
        }
        guard let first = pending.values.lazy.map(\.place).min() else { return }
        writer.onFailure { [self] in
            state.withLock { state in
                state.pending.merge(pending) { later, earlier in
                    var touch = later
                    touch.movesExpiry = later.movesExpiry || earlier.movesExpiry
                    return touch
                }
            }
        }
        let now = index.clock.now
        let latest = try writer.latestUse() + 1
        // Numbered in the order they came, but written in that of the table, where neighbours share a page.
        for (number, touch) in pending.sorted(by: { $0.key < $1.key }) {
            try writer.touch(number, touch, use: latest + touch.place - first, at: now)
        }
    }

    /// The use of an entry that has not been written yet.
    func touch(of row: IndexRow) -> Touch? {
        state.withLock { $0.pending[row.number] }
            .flatMap { $0.modified == row.modified && $0.storedAt == row.storedAt ? $0 : nil }
    }

    /// Forgets the entry `number`, which is gone.
    func forget(_ number: Int64) { state.withLock { $0.pending[number] = nil } }

    /// Forgets all entries, which are gone.
    func forget() { state.withLock { $0.pending = [:] } }
}
