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

/// Who waits for a reply; told once.
final class RedisCaller: Sendable {
    private let report: @Sendable (Result<RESPValue, any Error>) -> Void
    private let over = Atomic(false)

    init(_ report: @escaping @Sendable (Result<RESPValue, any Error>) -> Void = { _ in }) { self.report = report }

    /// `true` when it waits no more.
    var isOver: Bool { over.load(ordering: .relaxed) }

    func end(_ result: Result<RESPValue, any Error>) {
        if !over.exchange(true, ordering: .relaxed) { report(result) }
    }
}
