internal import ImageErrors
internal import Platform
internal import Synchronization

/// Holds a transfer that another caller began to the bounds of one who shares it.
///
/// The one who shares it leaves when a bound of its own is passed, and the transfer goes on for the others.
final class LimitMonitor: Sendable {
    private struct State {
        var leave: (@Sendable () -> Void)?
        var refusal: (any Error)?
        var isOver = false
        var hasJudgedHead = false
        var clock: Task<Void, Never>?
    }

    /// How many looks at the time there are in one timeout.
    private static let looks = 8.0

    private let request: DownloadRequest
    private let transferActivity: TransferActivity
    private let state: Mutex<State>

    /// - Parameters:
    ///   - request: That of the one who shares the transfer.
    ///   - transferActivity: Of the transfer.
    ///   - leave: Ends its wait.
    init(_ request: DownloadRequest, _ transferActivity: TransferActivity, leave: @escaping @Sendable () -> Void) {
        self.request = request
        self.transferActivity = transferActivity
        state = Mutex(State(leave: leave))
    }

    /// Why the wait was ended, if it was.
    var refusal: (any Error)? { state.withLock { $0.refusal } }

    /// Takes note of how far the transfer is.
    func check(_ progress: DownloadProgress) {
        // What is accepted comes before how much of it, and does not change.
        if progress.received > 0, !state.withLock({ $0.hasJudgedHead }), let head = transferActivity.head {
            state.withLock { $0.hasJudgedHead = true }
            if let error = request.refusal(of: head.response, after: head.redirects) { return refuse(error) }
        }
        if max(progress.received, progress.total ?? 0) > request.limits.maxBytes {
            refuse(request.limits.tooLarge(request.url))
        }
    }

    /// Looks at the time until the end. A transfer that had been silent for too long when it was joined is left at once, to
    /// be begun anew: it has another caller's patience.
    func follow(now: @escaping @Sendable () -> Int = monotonicNanoseconds) {
        if Double(transferActivity.silence(at: now())) >= request.limits.timeoutSeconds * 1e9 {
            refuse(ImageDownloader.EndedForAnother())
        } else {
            look(now)
        }
    }

    private func look(_ now: @escaping @Sendable () -> Int) {
        let (limits, transferActivity) = (request.limits, transferActivity)
        let clock = Task { [weak self] in
            var pace = SharedPace(limits, transferActivity.state, now: now())
            while (try? await Task.sleep(for: .seconds(min(max(limits.timeoutSeconds / Self.looks, 0.001), 1)))) != nil
            {
                guard let self else { return }
                if let (option, seconds) = pace.look(transferActivity.state, at: now()) {
                    return refuse(ImageError.timedOut(url: request.url, option: option, seconds: seconds))
                }
            }
        }
        let isOver = state.withLock { state in
            state.clock = clock
            return state.isOver
        }
        if isOver { clock.cancel() }
    }

    /// The wait is over.
    func end() {
        let clock = state.withLock { state in
            (state.isOver, state.leave) = (true, nil)
            return state.clock
        }
        clock?.cancel()
    }

    private func refuse(_ error: any Error) {
        let leave = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isOver, state.refusal == nil else { return nil }
            state.refusal = error
            return state.leave
        }
        leave?()
    }
}

/// Whether a transfer comes along fast enough for one who only looks at it now and then: a plain value.
struct SharedPace: Sendable {
    private var pace: TransferPace
    private var state: TransferActivity.State

    /// - Parameters:
    ///   - state: How it stood when it was joined.
    ///   - now: When that was, in nanoseconds of a clock that never goes back.
    init(_ limits: DownloadLimits, _ state: TransferActivity.State, now: Int) {
        pace = TransferPace(timeout: limits.timeoutSeconds, minBytesPerSecond: limits.minBytesPerSecond, now: now)
        self.state = state
        if !state.isRunning { pace.hold() }
    }

    /// Takes note of how far the transfer is.
    ///
    /// - Returns: The option that ends the wait, and after how many seconds, if it is too slow.
    mutating func look(_ new: TransferActivity.State, at now: Int) -> (option: String, seconds: Double)? {
        // What it waited for between two looks was not its server.
        if new.starts != state.starts { pace.release(at: now) }
        if state.isRunning, !new.isRunning { pace.hold() }
        if new.bytes != state.bytes { pace.received(new.bytes - state.bytes, at: now) }
        state = new
        guard case .timedOut(let option, let seconds) = pace.verdict(at: now) else { return nil }
        return (option, seconds)
    }
}
