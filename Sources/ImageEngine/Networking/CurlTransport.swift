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

    private let userAgent: String
    private let spoolPath: @Sendable () throws -> String
    private let onFinish: @Sendable (DownloadReport) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - spoolPath: Gives a new path for each body too large for memory.
    ///   - onFinish: Hears of every transfer that has ended.
    init(
        userAgent: String, spoolPath: @escaping @Sendable () throws -> String,
        onFinish: @escaping @Sendable (DownloadReport) -> Void
    ) {
        self.userAgent = userAgent
        self.spoolPath = spoolPath
        self.onFinish = onFinish
    }

    /// Performs one transfer and tells about it; cancelling the task drops its connection.
    func perform(
        _ request: DownloadRequest, report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Download {
        let started = monotonicNanoseconds()
        var ending = DownloadReport(url: request.url)
        defer {
            ending.seconds = Double(monotonicNanoseconds() - started) / 1e9
            onFinish(ending)
        }
        do {
            let download = try await transfer(request, report: report)
            ending.finalURL = download.response.url
            ending.status = download.response.status
            ending.bytes = download.body.count
            return download
        } catch {
            ending.error = error as? ImageError
            ending.isCancelled = error is CancellationError
            throw error
        }
    }

    private func transfer(
        _ request: DownloadRequest, report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> Download {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                send { [userAgent, spoolPath] loop in
                    loop.start(id, request, userAgent, spoolPath, report) { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            send { $0.cancel(id) }
        }
    }

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
    private var idle: [UnsafeMutableRawPointer] = []
    private var nextCheck = 0
    /// Transfers cancelled before they were started: the two commands may come in either order.
    private var cancelledEarly: Set<UInt64> = []

    init(_ multi: UnsafeMutableRawPointer) { self.multi = multi }

    func start(
        _ id: UInt64, _ request: DownloadRequest, _ userAgent: String,
        _ spoolPath: @escaping @Sendable () throws -> String, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ finish: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) {
        if cancelledEarly.remove(id) != nil { return finish(.failure(CancellationError())) }
        guard let easy = idle.popLast() ?? hc_easy_init() else {
            return finish(.failure(ImageError.connectionFailed(url: request.url, reason: "there is no memory for it.")))
        }
        let transfer = Transfer(
            id: id, easy: easy, request: request, userAgent: userAgent, spool: BodySpool(makePath: spoolPath),
            report: report, finish: finish)
        transfers[id] = transfer
        hc_multi_add(multi, easy)
        nextCheck = 0
    }

    func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else {
            // Either it has ended, or its start is still to come.
            cancelledEarly.insert(id)
            if cancelledEarly.count > 4096 { cancelledEarly.removeAll() }
            return
        }
        release(transfer)
        transfer.fail(CancellationError())
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
                release(transfer)
                transfer.fail(error)
            } else {
                nextCheck = min(nextCheck, due)
            }
        }
    }

    private func release(_ transfer: Transfer) {
        transfers[transfer.id] = nil
        hc_multi_remove(multi, transfer.easy)
        if idle.count < 64 {
            hc_easy_reset(transfer.easy)
            idle.append(transfer.easy)
        } else {
            hc_easy_cleanup(transfer.easy)
        }
    }
}
