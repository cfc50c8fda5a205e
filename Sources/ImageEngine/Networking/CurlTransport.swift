internal import CCurl
internal import Platform
internal import Synchronization

/// HTTP by libcurl's multi interface: one thread moves all transfers.
///
/// The thread starts with the first transfer. Others speak to it by commands; nothing of libcurl is touched elsewhere
/// but the wake-up, which is made for that.
final class CurlTransport: Sendable {
    private typealias Command = @Sendable (Loop) -> Void

    private struct State {
        var commands: [Command] = []
        /// The multi handle as a number, once the thread runs: for waking it up.
        var handle: UInt = 0
        var hasThread = false
        var lastID: UInt64 = 0
    }

    let settings: TransportSettings
    let spool: SpoolPlace
    private let onFinish: @Sendable (DownloadReport) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - spool: Where bodies too large for memory are gathered.
    ///   - onFinish: Hears of every download that has ended.
    init(
        _ settings: TransportSettings, spool: SpoolPlace, onFinish: @escaping @Sendable (DownloadReport) -> Void
    ) {
        self.settings = settings
        self.spool = spool
        self.onFinish = onFinish
    }

    /// Performs one download and tells about it; cancelling the task drops its connection.
    func perform(
        _ request: DownloadRequest, report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Download {
        var exchange = Exchange(request, over: self, report: report)
        defer { onFinish(exchange.ending) }
        return try await exchange.run()
    }

    /// Sends one request and waits for what comes of it.
    ///
    /// - Parameter order: Makes the order from its number and whom it is to tell.
    func perform(
        _ order: @escaping @Sendable (UInt64, @escaping @Sendable (HopOutcome) -> Void) -> TransferOrder
    ) async -> HopOutcome {
        if Task.isCancelled { return HopOutcome(kind: .failure(CancellationError())) }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let order = order(id) { continuation.resume(returning: $0) }
                send { [settings] loop in loop.start(id, order, settings) }
            }
        } onCancel: {
            send { $0.cancel(id) }
        }
    }

    /// Tells a transfer what was said of its head.
    func judge(_ id: UInt64, _ verdict: Result<Bool?, any Error>) { send { $0.judge(id, verdict) } }

    private func send(_ command: @escaping Command) {
        let (startsThread, handle) = state.withLock { state in
            state.commands.append(command)
            defer { state.hasThread = true }
            return (!state.hasThread, state.handle)
        }
        if startsThread {
            startThread { [self] in run() }
        } else if let handle = UnsafeMutableRawPointer(bitPattern: handle) {
            hc_multi_wakeup(handle)
        }
    }

    private func run() {
        guard let multi = hc_multi_init() else { return }
        hc_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 64)
        let loop = Loop(multi)
        state.withLock { $0.handle = UInt(bitPattern: multi) }
        while true {
            let commands = state.withLock { state in
                defer { state.commands = [] }
                return state.commands
            }
            for command in commands { command(loop) }
            let pause = loop.turn()
            // A command that comes now finds the handle and wakes the poll up.
            hc_multi_poll(multi, Int32(pause))
        }
    }
}

/// The transfers under way, confined to the transport's thread.
private final class Loop {
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt64: Transfer] = [:]
    private let names = NameBook()
    private var nextCheck = 0
    /// Transfers cancelled before they were started: the two commands may come in either order.
    private var cancelledEarly: Set<UInt64> = []

    init(_ multi: UnsafeMutableRawPointer) { self.multi = multi }

    func start(_ id: UInt64, _ order: TransferOrder, _ settings: TransportSettings) {
        if cancelledEarly.remove(id) != nil { return order.finish(HopOutcome(kind: .failure(CancellationError()))) }
        guard let easy = hc_easy_init() else {
            let error = ImageError.connectionFailed(url: order.request.url, reason: "there is no memory for it.")
            return order.finish(HopOutcome(kind: .failure(error)))
        }
        let transfer = Transfer(id: id, easy: easy, order: order, settings: settings, names: names)
        transfers[id] = transfer
        hc_multi_add(multi, easy)
        nextCheck = 0
    }

    /// Goes on with a transfer that waited for somebody's word, or ends it.
    func judge(_ id: UInt64, _ verdict: Result<Bool?, any Error>) {
        guard let transfer = transfers[id] else { return }
        if let error = transfer.judge(verdict) {
            transfer.fail(error)
            release(transfer)
        }
        nextCheck = 0
    }

    func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else {
            // Either it has ended, or its start is still to come.
            cancelledEarly.insert(id)
            if cancelledEarly.count > 4096 { cancelledEarly.removeAll() }
            return
        }
        transfer.fail(CancellationError())
        release(transfer)
    }

    /// Moves everything on; returns for how many milliseconds the thread may sleep.
    func turn() -> Int {
        var running: Int32 = 0
        hc_multi_perform(multi, &running)
        var code = CURLE_OK
        while let easy = hc_multi_next_done(multi, &code) {
            guard let transfer = transfers.values.first(where: { $0.easy == easy }) else { continue }
            // Its numbers are read before the handle is used again.
            transfer.complete(code)
            release(transfer)
        }
        guard !transfers.isEmpty else { return 60_000 }
        let now = monotonicNanoseconds()
        if now >= nextCheck { checkTimes(now) }
        return min(max((nextCheck - now) / 1_000_000 + 1, 1), 1000)
    }

    private func checkTimes(_ now: Int) {
        nextCheck = .max
        for transfer in transfers.values.map(\.self) {
            let (due, error) = transfer.check(now: now)
            if let error {
                transfer.fail(error)
                release(transfer)
            } else {
                nextCheck = min(nextCheck, due)
            }
        }
    }

    private func release(_ transfer: Transfer) {
        transfers[transfer.id] = nil
        hc_multi_remove(multi, transfer.easy)
        // Never used again: before 8.1 libcurl keeps a pointer to the last header of a handle's earlier answer, and writes
        // through it when the next answer begins with a folded line. A new handle costs 5 µs; connections stay.
        hc_easy_cleanup(transfer.easy)
    }
}
