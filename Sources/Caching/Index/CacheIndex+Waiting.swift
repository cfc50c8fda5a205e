internal import CSQLite
internal import Glibc
internal import Platform
internal import Synchronization

/// Waiting for other processes that hold the index: what they keep from being done is tried again after a moment, and nothing
/// of this process is locked meanwhile. So no thread waits longer than it wants to, whatever others wait for.
extension CacheIndex {
    /// What another process may keep from being done. An index that cannot be read cannot be written either.
    enum Access: Sendable { case reading, writing }

    /// One such wait.
    struct Wait: Sendable {
        let access: Access
        /// Its end, by ``monotonicNanoseconds()``.
        let end: Int
        /// The time after which the lock of ``IndexFiles/lock(waits:)`` is done without: who holds that for longer is a stranger,
        /// or was stopped.
        let lockEnd: Int
        /// `true` when others need not wait as long once it was in vain.
        let isTelling: Bool

        var isOver: Bool { monotonicNanoseconds() >= end }

        /// Sleeps a moment, longer with each turn.
        static func pause(_ turn: Int) { usleep(UInt32(min(50 + 25 * turn, 2000))) }
    }

    /// The longest wait for other processes that hold the index, in seconds.
    static let patience = 4.0
    /// The longest wait for who comes when others have waited in vain: so requests that follow one another do not each wait as long.
    private static let shortPatience = 0.1

    /// A wait of so many seconds at most that begins now.
    func wait(_ seconds: Double, for access: Access) -> Wait {
        let start = monotonicNanoseconds()
        let isHeld =
            isReadHeld.load(ordering: .relaxed) || access == .writing && isWriteHeld.load(ordering: .relaxed)
        let span = Int(min(max(seconds, 0), isHeld ? Self.shortPatience : Self.patience) * 1e9)
        return Wait(
            access: access, end: start + span, lockEnd: start + min(span / 2, 1_000_000_000),
            isTelling: seconds >= Self.shortPatience)
    }

    /// Notes that a wait was in vain, or that there is nothing to wait for.
    private func note(isHeld: Bool, _ access: Access) {
        if !isHeld || access == .reading, isReadHeld.load(ordering: .relaxed) != isHeld {
            isReadHeld.store(isHeld, ordering: .relaxed)
        }
        if access == .writing, isWriteHeld.load(ordering: .relaxed) != isHeld {
            isWriteHeld.store(isHeld, ordering: .relaxed)
        }
    }

    /// Runs `attempt`, and again as long as another process holds what it needs.
    func waiting<Value>(
        _ seconds: Double, for access: Access, _ attempt: (Wait) throws -> Value
    ) throws -> Value {
        let wait = wait(seconds, for: access)
        var turn = 0
        while true {
            if let value = try result(of: wait, attempt) { return value }
            Wait.pause(turn)
            turn += 1
        }
    }

    /// Runs `attempt` once.
    ///
    /// - Returns: `nil` when another process holds what it needs, and the wait is not over.
    func result<Value>(of wait: Wait, _ attempt: (Wait) throws -> Value) throws -> Value? {
        do {
            let value = try attempt(wait)
            note(isHeld: false, wait.access)
            return value
        } catch let failure as Failure where failure.isBusy {
            if !wait.isOver { return nil }
            // Their locks go with the connections.
            if failure.isProtocol { closeAll() }
            if wait.isTelling { note(isHeld: true, wait.access) }
            throw failure
        }
    }

    /// The lock for opening and mending the index.
    ///
    /// - Returns: `nil` when there can be none, or it is held for too long.
    /// - Throws: A failure that is worth a wait.
    func lock(_ wait: Wait) throws(Failure) -> Descriptor? {
        try files.lock(waits: monotonicNanoseconds() < wait.lockEnd)
    }
}
