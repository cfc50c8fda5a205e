internal import Glibc

/// A connection that is there, with the commands whose replies it owes, in their order. A plain value but for its socket;
/// nothing of it waits.
struct RedisLink: Sendable {
    /// The end of a connection.
    struct Loss: Error, Equatable {
        let error: RemoteError
        /// `true` when the connection was closed, as an idle one may be, and not for something that the server sent.
        let isClosed: Bool
    }

    /// What happened in a turn.
    struct Turn: Sendable {
        var replies: [(caller: RedisCaller, value: RESPValue)] = []
        var loss: Loss?
        /// What to wait for before the next turn; `nil` when there may be more to read.
        var wait: Wait?
    }

    /// What a thread waits for: the socket, for so many milliseconds, or without limit if negative.
    struct Wait: Sendable {
        let descriptor: Int32
        let events: Int16
        let milliseconds: Int32
    }

    private let socket: RedisSocket
    private var reader: RESPReader
    /// The commands without reply.
    private(set) var commands: [RedisCommand] = []
    /// The number of those that have been sent, and the bytes of the next one that have.
    private var sent = (commands: 0, bytes: 0)
    /// The number of replies to the first command, but for the last one.
    private var replies = 0
    private var closing: RemoteError?
    /// The longest silence of a server that owes a reply, in nanoseconds.
    private var silence: Int
    /// When something was sent or received, or began to be waited for.
    private var lastProgress: Int
    /// When something was received.
    private(set) var lastReceived = Int.min
    /// `true` once a reply has come.
    private(set) var isUsed = false

    init(_ socket: RedisSocket, maxBytes: Int, silence: Int, now: Int) {
        (self.socket, self.silence, lastProgress) = (socket, silence, now)
        reader = RESPReader(maxBytes: maxBytes)
    }

    /// The link after its greeting.
    func begun(silence: Int, now: Int) -> RedisLink {
        var link = self
        (link.silence, link.lastProgress, link.isUsed) = (silence, now, false)
        return link
    }

    mutating func append(_ command: RedisCommand, now: Int) {
        if commands.isEmpty { lastProgress = now }
        commands.append(command)
    }

    /// Sends what can be sent.
    ///
    /// - Returns: `true` when that was all.
    mutating func write(now: Int) -> Bool {
        while closing == nil, sent.commands < commands.count {
            let command = commands[sent.commands]
            if sent.bytes == 0, command.caller?.isOver == true {
                commands.remove(at: sent.commands)
                continue
            }
            let result = command.bytes.withUnsafeBytes { bytes in
                socket.send(UnsafeRawBufferPointer(rebasing: bytes[sent.bytes...]))
            }
            switch result {
            case .success(0): return false
            case .success(let count):
                lastProgress = now
                sent.bytes += count
                if sent.bytes == command.bytes.count { sent = (sent.commands + 1, 0) }
            // The server may have said why before it closed the connection.
            case .failure(let error): closing = error
            }
        }
        return closing == nil
    }

    /// Sends what can be sent, and reads once.
    mutating func turn(now: Int) -> Turn {
        var turn = Turn()
        let isWritten = write(now: now)
        do throws(Loss) {
            if try read(into: &turn, now: now) { return turn }
            if let closing { throw Loss(error: closing, isClosed: true) }
            let rest = lastProgress + silence - now
            if !commands.isEmpty, rest <= 0 { throw Loss(error: .timedOut, isClosed: false) }
            turn.wait = Wait(
                descriptor: socket.descriptor, events: Int16(POLLIN | (isWritten ? 0 : POLLOUT)),
                // One that owes nothing is looked after without limit, but not at once, because a limit costs less than to
                // wake the thread for each command.
                milliseconds: rest <= 0 ? -1 : Int32(clamping: rest / 1_000_000 + 1))
        } catch {
            turn.loss = error
        }
        return turn
    }

    /// Returns `false` when all has been read.
    private mutating func read(into turn: inout Turn, now: Int) throws(Loss) -> Bool {
        var asked = 0
        var result = Result<Int?, RemoteError>.success(nil)
        reader.fill { bytes in
            asked = bytes.count
            result = socket.receive(bytes)
            return (try? result.get()) ?? 0
        }
        let count: Int?
        do throws(RemoteError) { count = try result.get() } catch { throw Loss(error: error, isClosed: true) }
        guard let count else { return false }
        (lastProgress, lastReceived) = (now, now)
        do throws(RemoteError) {
            while let value = try reader.next() { try accept(value, &turn) }
        } catch {
            throw Loss(error: error, isClosed: false)
        }
        return socket.isSecure || count == asked
    }

    private mutating func accept(_ value: RESPValue, _ turn: inout Turn) throws(RemoteError) {
        guard sent.commands > 0 else {
            // It says that it takes no connection, or none any more.
            if case .error(let text) = value { throw .redis(text) }
            throw .malformed
        }
        isUsed = true
        replies += 1
        if replies < commands[0].replyCount { return }
        (replies, sent.commands) = (0, sent.commands - 1)
        let command = commands.removeFirst()
        if let caller = command.caller { turn.replies.append((caller, value)) }
    }
}
