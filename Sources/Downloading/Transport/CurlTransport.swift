internal import CCurl
internal import ImageErrors
internal import Platform
internal import Synchronization

/// HTTP over libcurl's multi interface: one thread drives all transfers.
///
/// The thread starts with the first transfer. Other threads send it commands; the only function of libcurl that they
/// call is the wake-up, which is made for that.
package final class CurlTransport: Sendable {
    /// Receives the outcome of a request, on the transport's thread.
    typealias Finish = @Sendable (HTTPOutcome) -> Void

    /// What another thread wants done on the transport's.
    private typealias Command = @Sendable (Loop) -> Void

    private struct State {
        var commands: [Command] = []
        var waker: hc_waker?
        var hasThread = false
        /// `true` while the thread waits for its connections and sees new commands only after a wake-up.
        var isPolling = false
        var lastID: UInt64 = 0
    }

    package let settings: TransportSettings
    package let spool: SpoolPlace
    private let names: ResolvedNames
    private let state = Mutex(State())
    /// Receives a report about every ended download.
    let ended = EventHook<DownloadReport>()

    init(_ settings: TransportSettings, spool: SpoolPlace) {
        (self.settings, self.spool, names) = (settings, spool, ResolvedNames(spool.names))
    }

    /// Sends a request and waits for its outcome. Cancelling the task drops its connection.
    func perform(_ prepared: PreparedRequest) async throws -> HTTPOutcome {
        try await awaitResult { [self] end in
            start(prepared) { end(.success($0)) }
        } cancel: { [self] in
            cancel($0)
        }
    }

    /// Sends a request. Returns the argument of ``cancel(_:)``.
    func start(_ prepared: PreparedRequest, _ finish: @escaping Finish) -> UInt64 {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        send { $0.start(id, prepared, finish) }
        return id
    }

    /// Drops a request's connection, unless the request has ended.
    func cancel(_ id: UInt64) { send { $0.cancel(id) } }

    /// Ends the thread, and closes the connections, when no transfer runs any more.
    func close() { send(startsThread: false) { $0.isClosing = true } }

    /// Ends all transfers, and waits until what may be resumed of their bodies is kept.
    func interrupt() {
        guard state.withLock({ $0.hasThread }) else { return }
        BlockingWait<Void>.wait { _, then in
            send {
                $0.interrupt()
                then(())
            }
        }
    }

    /// Runs `work`, which must not block, on the transport's thread.
    func run(_ work: @escaping @Sendable () -> Void) { send { _ in work() } }

    /// Delivers a delegate's decision about a head to its transfer.
    func decide(_ id: UInt64, _ verdict: Result<Bool?, any Error>) { send { $0.decide(id, verdict) } }

    /// - Parameter startsThread: `false` for what is of no use where there is no thread.
    private func send(startsThread: Bool = true, _ command: @escaping Command) {
        let isFirst = state.withLock { state in
            if !startsThread, !state.hasThread { return false }
            state.commands.append(command)
            // Later commands need not wake the thread again. Under the lock, because the thread may give up the handle.
            if state.isPolling, let waker = state.waker { hc_wake(waker) }
            defer { (state.hasThread, state.isPolling) = (true, false) }
            return !state.hasThread
        }
        if isFirst { startThread { [self] in run() } }
    }

    private func run() {
        let loop = Loop(settings, names: names)
        while true {
            var pause: Int?
            Afterwards.gather {
                execute(loop)
                pause = loop.turn()
            }
            guard let multi = loop.multi, let pause else {
                // There is no transfer to wait for: the next command starts another thread.
                let goesOn = state.withLock { state in
                    state.hasThread = !state.commands.isEmpty
                    return state.hasThread
                }
                guard goesOn else { return }
                continue
            }
            let polls = state.withLock { state in
                state.waker = hc_waker(multi: multi)
                state.isPolling = state.commands.isEmpty
                return state.isPolling
            }
            // A command that arrives now wakes up the poll.
            if polls { hc_multi_poll(multi, Int32(pause)) }
        }
    }

    /// Executes all commands, including those that they cause.
    private func execute(_ loop: Loop) {
        while true {
            let commands = state.withLock { state in
                state.isPolling = false
                defer { state.commands = [] }
                return state.commands
            }
            if commands.isEmpty { return }
            for command in commands { command(loop) }
        }
    }
}

/// The running transfers, confined to the transport's thread.
private final class Loop {
    /// libcurl's multi handle. `nil`: there has been no transfer, or no memory for one.
    private(set) var multi: UnsafeMutableRawPointer?
    private var transfers: [UInt64: Transfer] = [:]
    private var byHandle: [UnsafeMutableRawPointer: Transfer] = [:]
    private let shared: TransferContext
    private var nextCheck = 0
    /// The time since when there has been no transfer.
    private var idleSince: Int?
    /// `true` when there may be idle connections.
    private var hasConnections = false
    /// `true` when no more transfers are expected.
    var isClosing = false

    init(_ settings: TransportSettings, names: ResolvedNames) {
        shared = TransferContext(settings, names: names)
    }

    func start(_ id: UInt64, _ prepared: PreparedRequest, _ finish: @escaping CurlTransport.Finish) {
        func fail(_ error: any Error) { finish(HTTPOutcome(kind: .failure(error))) }
        guard let multi = multi ?? makeMulti(), let easy = hc_easy_init() else {
            let reason = "libcurl has no memory or no descriptors for it (raise the limit of the process, ulimit -n)."
            return fail(ImageError.connectionFailed(url: prepared.request.url, reason: reason))
        }
        let transfer = Transfer(id: id, easy: easy, prepared, shared: shared, finish: finish)
        transfers[id] = transfer
        byHandle[easy] = transfer
        hasConnections = true
        hc_multi_add(multi, easy)
        check(transfer, monotonicNanoseconds())
    }

    private func makeMulti() -> UnsafeMutableRawPointer? {
        multi = shared.settings.makeMulti()
        if let multi { hc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, DescriptorBudget.ofProcess.idleConnections) }
        return multi
    }

    /// Continues or ends a transfer that waited for a delegate.
    func decide(_ id: UInt64, _ verdict: Result<Bool?, any Error>) {
        guard let transfer = transfers[id] else { return }
        if transfer.decide(by: verdict) { release(transfer) }
        nextCheck = 0
    }

    func cancel(_ id: UInt64) {
        // It may have ended.
        guard let transfer = transfers[id] else { return }
        transfer.fail(CancellationError())
        release(transfer)
    }

    func interrupt() { for id in Array(transfers.keys) { cancel(id) } }

    /// Drives all transfers. Returns the number of milliseconds that the thread may sleep. `nil`: there is nothing to
    /// wait for.
    func turn() -> Int? {
        guard let multi else { return nil }
        var running: Int32 = 0
        shared.beginTurn()
        hc_multi_perform(multi, &running)
        let receivers = shared.receivers
        shared.receivers = []
        for transfer in receivers { transfer.reportProgress() }
        var code = CURLE_OK
        while let easy = hc_multi_next_done(multi, &code) {
            guard let transfer = byHandle[easy] else { continue }
            // The transfer reads its numbers before its handle is removed.
            if transfer.complete(code) { release(transfer) }
        }
        // Before the bodies begin, which may never happen.
        for transfer in receivers where transfers[transfer.id] != nil && !transfer.isDecided {
            if transfer.handleHead() { release(transfer) } else if transfer.isDiscarding { nextCheck = 0 }
        }
        let now = monotonicNanoseconds()
        guard !transfers.isEmpty else { return idle(now) }
        idleSince = nil
        if now >= nextCheck { checkTimes(now) }
        let yielding = receivers.filter { $0.isYielding && transfers[$0.id] != nil }
        for transfer in yielding where transfer.resume() { release(transfer) }
        if !yielding.isEmpty { return 0 }
        return min(max((nextCheck - now) / 1_000_000 + 1, 1), 1000)
    }

    /// Closes the connections when nothing has been loaded for a while: their servers may have closed them long ago,
    /// which libcurl notices only with the next transfer.
    private func idle(_ now: Int) -> Int? {
        if isClosing {
            if let multi { hc_multi_cleanup(multi) }
            multi = nil
            return nil
        }
        let since = idleSince ?? now
        idleSince = since
        if !hasConnections { return 60_000 }
        let rest = since + shared.settings.idleSpan - now
        if rest > 0 { return min(rest / 1_000_000 + 1, 60_000) }
        hasConnections = false
        if let multi { hc_multi_cleanup(multi) }
        return makeMulti() == nil ? nil : 60_000
    }

    private func checkTimes(_ now: Int) {
        nextCheck = .max
        for transfer in transfers.values.map(\.self) { check(transfer, now) }
    }

    private func check(_ transfer: Transfer, _ now: Int) {
        if let due = transfer.check(now: now) { nextCheck = min(nextCheck, due) } else { release(transfer) }
    }

    /// Removes an ended transfer. libcurl does not wait for a pending name resolution: its thread ends by itself (see
    /// `CURLOPT_QUICK_EXIT` in ``Transfer``).
    private func release(_ transfer: Transfer) {
        transfers[transfer.id] = nil
        byHandle[transfer.easy] = nil
        if let multi { hc_multi_remove(multi, transfer.easy) }
        // Handles are not reused: before 8.1 libcurl keeps a pointer to the last header of a handle's earlier response,
        // and writes through it when the next response begins with a folded line. A new handle costs 5 µs; connections
        // stay.
        hc_easy_cleanup(transfer.easy)
    }
}
