internal import Synchronization

/// The entries that were stored shortly before the machine went down: the system may have kept a file's name and size and
/// lost its bytes. Each is read and compared with its checksum once, before it is first answered.
final class UnprovenEntries: Sendable {
    private struct State {
        var times: ClosedRange<Int>?
        /// The numbers of those that have been proven meanwhile.
        var proven: Set<Int64> = []
    }

    private let hasAny = Atomic(false)
    private let state = Mutex(State())

    /// Sets the times of storing of such entries; `nil` for none.
    func set(_ times: ClosedRange<Int>?) {
        state.withLock { state in
            if state.times != times { state = State(times: times) }
        }
        hasAny.store(times != nil, ordering: .relaxed)
    }

    /// `true` when the entry has to be proven.
    ///
    /// - Complexity: A load from memory, unless the machine was started lately.
    func contains(_ row: IndexRow) -> Bool {
        guard hasAny.load(ordering: .relaxed) else { return false }
        return state.withLock { state in
            state.times?.contains(row.storedAt) ?? false && !state.proven.contains(row.number)
        }
    }

    /// Records that the entry's file is what was stored.
    func noteProven(_ row: IndexRow) { state.withLock { state in _ = state.proven.insert(row.number) } }
}
