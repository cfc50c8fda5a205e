internal import Platform
internal import Synchronization

/// Bounds the memory for all that is made for the client and not yet taken by it; there is one for a connection.
///
/// It counts what the writer has not written yet, the answers that wait in unfinished batches, and the room that answers
/// being made have reserved. Above the limit no further request starts, and an answer of unknown or large size is not
/// made before the client has read.
///
/// Whatever waits here waits for the client to read, or for answers that have their room already, and for nothing else.
public final class OutputBudget: Sendable {
    /// What is made and not yet taken.
    public struct Usage: Sendable {
        /// The bytes of answers that are made, or have reserved their room.
        public var held = 0
        /// The largest number of bytes.
        public var limit = 0
        /// How often reading or starting requests had to wait for the client.
        public var waits = 0

        /// Nothing held.
        public init() {}
    }

    private struct Waiter: Sendable {
        let bytes: Int
        let isKnown: Bool
        let run: @Sendable (Bool) -> Void
    }

    private struct State: Sendable {
        /// The room of answers being made whose size is known.
        var reserved = 0
        /// The room of those whose size shows when they are made.
        var estimated = 0
        /// The answers of unfinished batches that are in memory.
        var batched = 0
        var waiting: [UInt64: Waiter] = [:]
        var first: UInt64 = 0
        var next: UInt64 = 0
        /// `true` while no request may start.
        var isUsedUp = false
        var waits = 0

        /// The answer that is made next when there is room.
        var firstWaiter: Waiter? {
            mutating get {
                while first < next, waiting[first] == nil { first += 1 }
                return waiting[first]
            }
        }
    }

    /// The number of answers of unknown size that are made at a time when nothing else is held.
    private static let parts = 16

    /// The largest number of bytes. A single answer may exceed it when nothing else is held.
    public let limit: Int
    /// Keeps what has no room and must wait.
    let spool = ByteSpool()
    private let unsentBytes: @Sendable () -> Int
    private let onRoom: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - unsentBytes: The number of bytes that the client has not read yet.
    ///   - onRoom: Called when requests may start again that could not.
    init(limit: Int, unsentBytes: @escaping @Sendable () -> Int, onRoom: @escaping @Sendable () -> Void = {}) {
        (self.limit, self.unsentBytes, self.onRoom) = (limit, unsentBytes, onRoom)
    }

    /// What is held now.
    public var usage: Usage {
        let unsent = unsentBytes()
        return state.withLock { state in
            var usage = Usage()
            usage.held = unsent + state.batched + state.reserved
            (usage.limit, usage.waits) = (limit, state.waits)
            return usage
        }
    }

    /// `true` when a message may be sent that the client can do without.
    var hasRoom: Bool { unsentBytes() <= limit }

    /// `true` when a request may start: not while the limit is exceeded, or an answer waits for the client to read. Each
    /// change to `false` counts as a wait.
    func mayStart() -> Bool {
        let unsent = unsentBytes()
        return state.withLock { state in
            var isUsedUp = unsent + state.batched + state.reserved > limit
            if unsent > limit / 2, let waiter = state.firstWaiter {
                isUsedUp = isUsedUp || unsent + state.batched + waiter.bytes > limit
            }
            if isUsedUp, !state.isUsedUp { state.waits += 1 }
            state.isUsedUp = isUsedUp
            return !isUsedUp
        }
    }

    // MARK: Answers being made

    /// `true` when an answer of that size could be made at once.
    func hasRoom(for bytes: Int) -> Bool {
        let unsent = unsentBytes()
        return state.withLock { state in
            let held = state.reserved + state.estimated + unsent + state.batched
            return state.waiting.isEmpty && (held == 0 || held + bytes <= limit)
        }
    }

    /// Runs `run` when there is room for an answer, in order of arrival; the room is kept until `call` ends.
    ///
    /// - Parameters:
    ///   - bytes: The size of the answer with what it is made from; `nil` when that shows only when it is made.
    ///   - run: Called once, with `false` when the call ended before there was room. It must not block, because it may
    ///     run on a thread that writes.
    func enter(_ bytes: Int?, for call: Call, _ run: @escaping @Sendable (Bool) -> Void) {
        let waiter = Waiter(bytes: bytes ?? limit / Self.parts, isKnown: bytes != nil, run: run)
        let number = state.withLock { state in
            state.waiting[state.next] = waiter
            state.next += 1
            return state.next - 1
        }
        admit()
        call.onEnd { [self] in
            let isRefused = state.withLock { state in
                if state.waiting.removeValue(forKey: number) != nil { return true }
                if waiter.isKnown { state.reserved -= waiter.bytes } else { state.estimated -= waiter.bytes }
                return false
            }
            if isRefused { return run(false) }
            admit()
            announceRoom()
        }
    }

    /// Admits waiting answers as far as there is room; called when the client has read.
    func admit() {
        let unsent = unsentBytes()
        let admitted = state.withLock { state in
            var admitted: [Waiter] = []
            while let waiter = state.firstWaiter {
                let making = state.reserved + state.estimated
                let isAlone = making == 0 && unsent <= limit / 2
                guard isAlone || making + unsent + state.batched + waiter.bytes <= limit else { break }
                if waiter.isKnown { state.reserved += waiter.bytes } else { state.estimated += waiter.bytes }
                state.waiting[state.first] = nil
                admitted.append(waiter)
            }
            return admitted
        }
        for waiter in admitted { waiter.run(true) }
    }

    private func announceRoom() {
        if state.withLock({ $0.isUsedUp }) { onRoom() }
    }

    // MARK: Batches

    /// Counts an answer of an unfinished batch. A quarter of the limit is for these, so that the rest can be had again
    /// by reading.
    ///
    /// - Returns: `false` when it must not stay in memory.
    func keepInBatch(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.batched + bytes <= limit / 4 else { return false }
            state.batched += bytes
            return true
        }
    }

    /// Uncounts the answers of a batch that has been handed to the writer.
    func leaveBatch(_ bytes: Int) {
        guard bytes > 0 else { return }
        state.withLock { $0.batched -= bytes }
        admit()
        announceRoom()
    }
}
