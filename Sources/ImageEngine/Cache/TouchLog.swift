internal import Synchronization

/// Uses of entries that have not been written down yet.
///
/// A hit must not cost a write: uses are gathered, each entry once, and written in one transaction a second later, or
/// when many have come. What a killed process did not write is only an order of eviction a second old.
final class TouchLog: Sendable {
    private struct State {
        var pending: [Int64: Int?] = [:]
        var lastUse: [Int64: Int] = [:]
        var isScheduled = false
    }

    private static let batch = 1024

    private let index: CacheIndex
    private let state = Mutex(State())

    init(index: CacheIndex) { self.index = index }

    /// Notes a use of the entry `number`, which now lives until `expiresAt`.
    ///
    /// - Parameter now: Seconds since 1970.
    func add(_ number: Int64, expiresAt: Int?, at now: Int) {
        let (isFull, schedules) = state.withLock { state in
            state.pending[number] = .some(expiresAt)
            state.lastUse[number] = now
            if state.lastUse.count > 8 * Self.batch {
                state.lastUse = state.lastUse.filter { $0.value >= now - DiskStorage.handOutGrace }
            }
            defer { state.isScheduled = true }
            return (state.pending.count >= Self.batch, !state.isScheduled)
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
            return state.pending
        }
        guard !pending.isEmpty else { return }
        try? index.write { writer in
            for (number, expiresAt) in pending { try writer.touch(number, expiresAt: expiresAt) }
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
