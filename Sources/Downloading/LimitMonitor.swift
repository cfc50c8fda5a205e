internal import ImageErrors
internal import Platform
internal import Synchronization

/// Enforces the limits of a caller that shares a transfer which another caller started.
///
/// The caller leaves when the transfer exceeds one of its limits, and the transfer continues for the others.
final class LimitMonitor: Sendable {
    private struct State {
        var leave: (@Sendable () -> Void)?
        var error: (any Error)?
        var isOver = false
        var hasCheckedHead = false
        var clock: Task<Void, Never>?
    }

    /// The number of time checks per timeout.
    private static let looks = 8.0

    private let request: DownloadRequest
    private let transferActivity: TransferActivity
    private let state: Mutex<State>

    /// - Parameters:
    ///   - request: The request of the caller.
    ///   - transferActivity: The activity of the transfer.
    ///   - leave: Ends the caller's wait.
    init(_ request: DownloadRequest, _ transferActivity: TransferActivity, leave: @escaping @Sendable () -> Void) {
        self.request = request
        self.transferActivity = transferActivity
        state = Mutex(State(leave: leave))
    }

    /// The error that ended the wait, if any.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Checks the response and the progress against the limits.
    func check(_ progress: DownloadProgress) {
        // The response is checked once and before its size: it does not change.
        if progress.received > 0, !state.withLock({ $0.hasCheckedHead }), let head = transferActivity.head {
            state.withLock { $0.hasCheckedHead = true }
            if let error = request.error(in: head.response, after: head.redirects) { return fail(with: error) }
        }
        if max(progress.received, progress.total ?? 0) > request.limits.maxBytes {
            fail(with: request.limits.tooLarge(request.url))
        }
    }

    /// Checks the time until the end. A transfer that was silent for longer than the timeout when the caller joined is
    /// left at once, so that the caller starts its own: the other caller may be more patient.
    func checkTime(now: @escaping @Sendable () -> Int = monotonicNanoseconds) {
        if Double(transferActivity.silence(at: now())) >= request.limits.timeoutSeconds * 1e9 {
            fail(with: ImageDownloader.EndedForAnother())
        } else {
            startClock(now)
        }
    }

    private func startClock(_ now: @escaping @Sendable () -> Int) {
        let (limits, transferActivity) = (request.limits, transferActivity)
        let clock = Task { [weak self] in
            var pace = SharedPace(limits, transferActivity.state, now: now())
            while (try? await Task.sleep(for: .seconds(min(max(limits.timeoutSeconds / Self.looks, 0.001), 1)))) != nil
            {
                guard let self else { return }
                if let (option, seconds) = pace.look(transferActivity.state, at: now()) {
                    return fail(with: ImageError.timedOut(url: request.url, option: option, seconds: seconds))
                }
            }
        }
        let isOver = state.withLock { state in
            state.clock = clock
            return state.isOver
        }
        if isOver { clock.cancel() }
    }

    /// Ends the monitoring.
    func end() {
        let clock = state.withLock { state in
            (state.isOver, state.leave) = (true, nil)
            return state.clock
        }
        clock?.cancel()
    }

    private func fail(with error: any Error) {
        let leave = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isOver, state.error == nil else { return nil }
            state.error = error
            return state.leave
        }
        leave?()
    }
}

/// The speed check of a caller who looks at a transfer only now and then.
struct SharedPace: Sendable {
    private var pace: TransferPace
    private var state: TransferActivity.State

    /// - Parameters:
    ///   - state: The activity when the caller joined.
    ///   - now: That moment, in nanoseconds of a monotonic clock.
    init(_ limits: DownloadLimits, _ state: TransferActivity.State, now: Int) {
        pace = TransferPace(timeout: limits.timeoutSeconds, minBytesPerSecond: limits.minBytesPerSecond, now: now)
        self.state = state
        if !state.isRunning { pace.pause() }
    }

    /// Checks the speed since the last look.
    ///
    /// - Returns: The option that ends the wait, and its number of seconds, if the transfer is too slow.
    mutating func look(_ new: TransferActivity.State, at now: Int) -> (option: String, seconds: Double)? {
        // A wait between two requests is not the server's fault.
        if new.starts != state.starts { pace.resume(at: now) }
        if state.isRunning, !new.isRunning { pace.pause() }
        if new.bytes != state.bytes { pace.received(new.bytes - state.bytes, at: now) }
        state = new
        guard case .timedOut(let option, let seconds) = pace.verdict(at: now) else { return nil }
        return (option, seconds)
    }
}
