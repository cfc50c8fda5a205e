internal import Synchronization

/// A command of Redis, and the task that waits for its reply.
struct RedisCommand: Sendable {
    /// The command in RESP.
    let bytes: [UInt8]
    /// `true` when it may be sent again after a connection was lost before its reply.
    let isRepeatable: Bool
    /// The number of replies, of which the last one counts.
    let replyCount: Int
    /// `nil` when nobody waits for the reply.
    let caller: RedisCaller?
    /// `true` when it has been sent over a connection that was lost.
    var isRepeated = false

    /// - Parameter isAsking: `true` for the command to a node that its key is on the way to.
    init(_ words: [[UInt8]], isRepeatable: Bool, isAsking: Bool = false, caller: RedisCaller? = nil) {
        var bytes = Array(isAsking ? "*1\r\n$6\r\nASKING\r\n*\(words.count)\r\n".utf8 : "*\(words.count)\r\n".utf8)
        bytes.reserveCapacity(words.reduce(64) { $0 + $1.count + 24 })
        for word in words {
            bytes += "$\(word.count)\r\n".utf8
            bytes += word
            bytes += [13, 10]
        }
        (self.bytes, self.isRepeatable, self.caller) = (bytes, isRepeatable, caller)
        replyCount = isAsking ? 2 : 1
    }
}

/// The task that waits for a reply; it is told once.
final class RedisCaller: Sendable {
    private struct State: Sendable {
        var continuation: CheckedContinuation<RESPValue, any Error>?
        var isOver = false
    }

    private let state = Mutex(State())

    /// `true` when the task waits no more.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Returns `false` when the task has been cancelled already.
    func wait(_ continuation: CheckedContinuation<RESPValue, any Error>) -> Bool {
        state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return !state.isOver
        }
    }

    func end(_ result: Result<RESPValue, any Error>) {
        let continuation = state.withLock { state in
            state.isOver = true
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }
}
