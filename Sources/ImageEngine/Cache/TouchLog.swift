internal import Synchronization

/// Uses of entries that have not been written down yet.
///
/// A hit must not cost a write: uses are gathered, each entry once, and written in one transaction a second later, or
/// when many have come. What a killed process did not write is only an order of eviction a second old.
final class TouchLog: Sendable {
    private struct Touch {
        let modified: Int
        let expiresAt: Int?
    }

    private struct State {
        var pending: [Int64: Touch] = [:]
        var lastUse: [Int64: Int] = [:]
        var lastPrune = 0
        var isScheduled = false
    }

    private static let batch = 1024

    private let index: CacheIndex
    private let state = Mutex(State())

    init(index: CacheIndex) { self.index = index }

    /// Notes that the entry `number` was handed out at `now`, in seconds since 1970.
    func note(_ number: Int64, at now: Int) {
        state.withLock { state in
            state.lastUse[number] = now
            if state.lastUse.count > 8 * Self.batch, now != state.lastPrune {
                state.lastPrune = now
                state.lastUse = state.lastUse.filter { $0.value >= now - DiskStorage.handOutGrace }
            }
        }
    }

    /// Notes a use of the entry `number`, which now lives until `expiresAt`, to be written down.
    ///
    /// - Parameter modified: The time of change of its file: an entry that was replaced meanwhile is left alone.
    func add(_ number: Int64, modified: Int, expiresAt: Int?) {
        let (isFull, schedules) = state.withLock { state in
            state.pending[number] = Touch(modified: modified, expiresAt: expiresAt)
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
        let pending = state.withLock { state in
            defer {
                state.pending = [:]
                state.isScheduled = false
            }
            return state.pending.map { ($0.key, $0.value.modified, $0.value.expiresAt) }
        }
        guard !pending.isEmpty else { return }
        try? index.write { writer in
            for (number, modified, expiresAt) in pending {
                try writer.touch(number, modified: modified, expiresAt: expiresAt)
            }
        }
    }

    /// The entries used at or after `moment`.
    func recent(since moment: Int) -> Set<Int64> {
        state.withLock { Set($0.lastUse.filter { $0.value >= moment }.keys) }
    }

    /// Forgets everything: the entries are gone.
    func forget() {
        state.withLock { state in
            state.pending = [:]
            state.lastUse = [:]
        }
    }
}
