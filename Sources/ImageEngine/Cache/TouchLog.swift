internal import Synchronization

/// Uses of entries that have not been written down yet.
///
/// A hit must not cost a write: uses are gathered, each entry once, and written in one transaction a second later, or
/// when many have come. What a killed process did not write is only an order of eviction a second old.
final class TouchLog: Sendable {
    /// One use.
    struct Touch: Sendable {
        /// The time of change of its file, and when it was stored: an entry that was replaced meanwhile is left alone.
        let modified: Int
        let storedAt: Int
        /// Until when the entry lives now; nil for ever.
        let expiresAt: Int?
        /// Whether that is worth writing down.
        var movesExpiry = true
        /// Its place among the uses that were gathered.
        fileprivate(set) var place: Int64 = 0
    }

    private struct State {
        var pending: [Int64: Touch] = [:]
        /// The number of the latest use among them.
        var use: Int64 = 0
        var isScheduled = false
    }

    private static let batch = 1024

    private let index: CacheIndex
    private let state = Mutex(State())

    init(index: CacheIndex) { self.index = index }

    /// Notes a use of the entry `number`, to be written down.
    func add(_ number: Int64, _ touch: Touch) {
        let (isFull, schedules) = state.withLock { state in
            var touch = touch
            if state.pending[number]?.movesExpiry == true { touch.movesExpiry = true }
            state.use += 1
            touch.place = state.use
            state.pending[number] = touch
            defer { state.isScheduled = true }
            return (state.pending.count == Self.batch, !state.isScheduled)
        }
        if isFull || schedules {
            Task.detached(priority: .background) { [weak self] in
                if !isFull { try? await Task.sleep(for: .seconds(1)) }
                self?.flush()
            }
        }
    }

    /// Writes down what has gathered. A failure loses nothing but order.
    func flush() {
        let isEmpty = state.withLock { state in
            state.isScheduled = false
            return state.pending.isEmpty
        }
        if isEmpty { return }
        try? index.write { writer in
            try self.flush(into: writer)
            try writer.setAnchor(self.index.clock.anchor)
        }
    }

    /// Writes down what has gathered, within a transaction.
    func flush(into writer: CacheIndex.Writer) throws {
        let pending = state.withLock { state in
            defer { state = State() }
            return state.pending
        }
        if pending.isEmpty { return }
        let now = index.clock.now
        let latest = try writer.latestUse()
        // Numbered in the order they came, but written in that of the table, where neighbours share a page.
        for (number, touch) in pending.sorted(by: { $0.key < $1.key }) {
            try writer.touch(number, touch, use: latest + touch.place, at: now)
        }
    }

    /// A use of an entry that has not been written down yet.
    func touch(of row: CacheIndex.Row) -> Touch? {
        guard let touch = state.withLock({ $0.pending[row.number] }), touch.modified == row.modified,
            touch.storedAt == row.storedAt
        else { return nil }
        return touch
    }

    /// Forgets the entry `number`: it is gone.
    func forget(_ number: Int64) { state.withLock { $0.pending[number] = nil } }

    /// Forgets everything: the entries are gone.
    func forget() { state.withLock { $0.pending = [:] } }
}
