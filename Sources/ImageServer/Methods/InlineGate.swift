internal import JSONRPC
internal import Synchronization

/// Limits the bytes that are read into answers at a time.
///
/// An answer with its image inline stays in memory until the client has read it. A client that does not read must not
/// make that memory grow: a request waits here, before its bytes are read, until there is room for them.
final class InlineGate: Sendable {
    private struct Waiter {
        let bytes: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// The bytes of admitted answers that are not yet handed to the writer.
        var admittedBytes = 0
        var waiting: [UInt64: Waiter] = [:]
        var lastID: UInt64 = 0
    }

    private let capacity: Int
    private let unsentBytes: @Sendable () -> Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - capacity: The largest sum of admitted and unsent bytes. A single answer may exceed it.
    ///   - unsentBytes: The number of bytes that the client has not read yet.
    init(capacity: Int, unsentBytes: @escaping @Sendable () -> Int) {
        self.capacity = capacity
        self.unsentBytes = unsentBytes
    }

    /// Waits until there is room for an image of `count` bytes; the room is released when the call ends.
    func enter(_ count: Int, for call: Call) async throws {
        // The size as base64 with its envelope.
        let bytes = (count + 2) / 3 * 4 + 1024
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.waiting[id] = Waiter(bytes: bytes, continuation: continuation) }
                admit()
                if Task.isCancelled { abandon(id) }
            }
        } onCancel: {
            abandon(id)
        }
        call.onEnd { [self] in
            state.withLock { $0.admittedBytes -= bytes }
            admit()
        }
    }

    /// Admits waiting requests in order of arrival as far as there is room; called when the client has read.
    func admit() {
        let unsent = unsentBytes()
        let admitted = state.withLock { state in
            var admitted: [Waiter] = []
            for id in state.waiting.keys.sorted() {
                guard let waiter = state.waiting[id] else { continue }
                let isAlone = state.admittedBytes == 0 && unsent <= capacity / 2
                guard isAlone || state.admittedBytes + unsent + waiter.bytes <= capacity else { break }
                state.admittedBytes += waiter.bytes
                state.waiting[id] = nil
                admitted.append(waiter)
            }
            return admitted
        }
        for waiter in admitted { waiter.continuation.resume() }
    }

    private func abandon(_ id: UInt64) {
        let waiter = state.withLock { $0.waiting.removeValue(forKey: id) }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
