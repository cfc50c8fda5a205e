internal import Downloading
internal import Glibc
internal import Platform
internal import Synchronization

/// One connection to a server of Redis, made for the first command, and again for the next one after it was lost.
///
/// Commands are sent without waiting for the replies before them, by the thread that has them if the connection takes them at
/// once. A thread that lives as long as the connection makes it and reads the replies.
final class RedisConnection: Sendable {
    struct Settings: Sendable {
        var place: RemoteURL.Place
        var user: String?
        var password: String?
        var database: Int
        var tls: TLSSettings
        /// The most bytes of one reply.
        var maxBytes: Int
        /// The longest time for the name, TCP and TLS together, in seconds.
        var connectSeconds: Double
        /// The longest silence of a server that owes a reply, in seconds.
        var silenceSeconds: Double
    }

    /// The most commands without reply, and their bytes. A single one may be larger.
    static let limits = (commands: 1024, bytes: 64 << 20)

    private struct State: Sendable {
        var link: RedisLink?
        /// The commands for the next link.
        var waiting: [RedisCommand] = []
        var hasThread = false
        /// `true` when the thread waits without limit.
        var isAsleep = false
    }

    private let settings: Settings
    private let wake = WakeEvent()
    private let state = Mutex(State())

    init(_ settings: Settings) { self.settings = settings }

    /// Nobody waits for a reply any more. The thread ends.
    deinit { wake.signal() }

    /// When the server last sent something over the connection that is there.
    var lastReceived: Int? { state.withLock { $0.link?.lastReceived } }

    /// The reply to a command. Ends with an error when the task is cancelled; the reply is then dropped when it comes.
    func answer(to words: [[UInt8]], isRepeatable: Bool, isAsking: Bool = false) async throws -> RESPValue {
        defer { withExtendedLifetime(self) {} }
        return try await awaitResult {
            let caller = RedisCaller($0)
            send(RedisCommand(words, isRepeatable: isRepeatable, isAsking: isAsking, caller: caller))
            return caller
        } cancel: {
            $0.end(.failure(CancellationError()))
        }
    }

    /// Sends a command.
    func send(_ command: RedisCommand) {
        enum Next { case nothing, wake, start, refuse }
        let next = state.withLock { state -> Next in
            let commands = state.link?.commands ?? state.waiting
            guard
                commands.isEmpty
                    || commands.count < Self.limits.commands
                        && commands.reduce(command.bytes.count, { $0 + $1.bytes.count }) <= Self.limits.bytes
            else { return .refuse }
            guard state.link != nil else {
                state.waiting.append(command)
                defer { state.hasThread = true }
                return state.hasThread ? .nothing : .start
            }
            let now = monotonicNanoseconds()
            state.link?.append(command, now: now)
            if state.link?.write(now: now) == true, !state.isAsleep { return .nothing }
            state.isAsleep = false
            return .wake
        }
        switch next {
        case .nothing: break
        case .wake: wake.signal()
        case .start:
            let hasThread = startOptionalThread { [weak self, wake] in
                while let wait = self?.turn() { wake.wait(with: wait) }
            }
            if !hasThread { endWaiting(.unreachable("there can be no further thread")) }
        case .refuse: command.caller?.end(.failure(RemoteError.unreachable("too many commands wait for its replies")))
        }
    }

    // MARK: On the thread

    /// Goes on until there is nothing to do but to wait.
    ///
    /// - Returns: `nil` when there is no connection, and nothing that wants one.
    private func turn() -> RedisLink.Wait? {
        while connect() {
            let turn = state.withLock { state in
                guard let turn = state.link?.turn(now: monotonicNanoseconds()) else { return RedisLink.Turn() }
                if let wait = turn.wait { state.isAsleep = wait.milliseconds < 0 }
                return turn
            }
            for (caller, value) in turn.replies { caller.end(.success(value)) }
            if let loss = turn.loss { lose(loss) }
            if let wait = turn.wait { return wait }
        }
        return nil
    }

    /// Makes the connection, unless it is there.
    ///
    /// - Returns: `false` when nothing wants one any more.
    private func connect() -> Bool {
        while true {
            let (hasLink, isWanted) = state.withLock { state in
                state.waiting.removeAll { $0.caller?.isOver == true }
                state.hasThread = state.link != nil || !state.waiting.isEmpty
                return (state.link != nil, state.hasThread)
            }
            if hasLink || !isWanted { return hasLink }
            do throws(RemoteError) {
                let link = try settings.link()
                state.withLock { state in
                    state.link = link
                    let now = monotonicNanoseconds()
                    for command in state.waiting { state.link?.append(command, now: now) }
                    state.waiting = []
                }
                return true
            } catch { endWaiting(error, keepsThread: true) }
        }
    }

    /// Ends the commands that wait for a link.
    private func endWaiting(_ error: RemoteError, keepsThread: Bool = false) {
        let commands = state.withLock { state in
            defer { (state.waiting, state.hasThread) = ([], keepsThread) }
            return state.waiting
        }
        for command in commands { command.caller?.end(.failure(error)) }
    }

    /// Ends the connection. Those commands that may be are sent again, once: an idle connection may have been closed, as
    /// servers do.
    private func lose(_ loss: RedisLink.Loss) {
        let failed = state.withLock { state -> [RedisCommand] in
            guard let link = state.link.take() else { return [] }
            let mayRepeat = loss.isClosed && link.isUsed
            for var command in link.commands where mayRepeat && command.isRepeatable && !command.isRepeated {
                command.isRepeated = true
                state.waiting.append(command)
            }
            return link.commands.filter { !(mayRepeat && $0.isRepeatable && !$0.isRepeated) }
        }
        for command in failed { command.caller?.end(.failure(loss.error)) }
    }
}

extension RedisConnection.Settings {
    /// A new connection that has been greeted: a user or a database that is refused is the failure of the connection, because
    /// the commands after it would go to another database. The calling thread waits.
    fileprivate func link() throws(RemoteError) -> RedisLink {
        let socket = try RedisSocket(place, tls: tls, seconds: connectSeconds)
        var greeting: [[String]] = []
        if let password = password { greeting.append(["AUTH"] + (user.map { [$0] } ?? []) + [password]) }
        if database != 0 { greeting.append(["SELECT", "\(database)"]) }
        let now = monotonicNanoseconds()
        var link = RedisLink(socket, maxBytes: maxBytes, silence: nanoseconds(connectSeconds), now: now)
        let wake = WakeEvent()
        for words in greeting {
            let caller = RedisCaller()
            link.append(RedisCommand(words.map { Array($0.utf8) }, isRepeatable: false, caller: caller), now: now)
        }
        while !link.commands.isEmpty {
            let turn = link.turn(now: monotonicNanoseconds())
            for (_, value) in turn.replies {
                if case .error(let text) = value { throw .redis(text, isGreeting: true) }
            }
            if let loss = turn.loss { throw loss.error }
            if let wait = turn.wait, !link.commands.isEmpty { wake.wait(with: wait) }
        }
        return link.begun(silence: nanoseconds(silenceSeconds), now: monotonicNanoseconds())
    }

    private func nanoseconds(_ seconds: Double) -> Int { Int(min(seconds, 86_400) * 1_000_000_000) }
}

extension WakeEvent {
    /// Waits for the event, or for a connection.
    fileprivate func wait(with wait: RedisLink.Wait) {
        var places = [place, pollfd(fd: wait.descriptor, events: wait.events, revents: 0)]
        poll(&places, wait.milliseconds)
    }
}
