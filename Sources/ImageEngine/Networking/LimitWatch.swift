internal import Platform
internal import Synchronization

/// Holds a transfer that another caller began to the bounds of one who shares it.
///
/// The one who shares it leaves when a bound of its own is passed, and the transfer goes on for the others.
final class LimitWatch: Sendable {
    private struct State {
        var leave: (@Sendable () -> Void)?
        var refusal: ImageError?
        var isOver = false
        var clock: Task<Void, Never>?
    }

    /// How many looks at the time there are in one timeout.
    private static let looks = 8.0

    private let request: DownloadRequest
    private let state: Mutex<State>

    /// - Parameters:
    ///   - request: That of the one who shares the transfer.
    ///   - leave: Ends its wait.
    init(_ request: DownloadRequest, leave: @escaping @Sendable () -> Void) {
        self.request = request
        state = Mutex(State(leave: leave))
    }

    /// Why the wait was ended, if it was.
    var refusal: ImageError? { state.withLock { $0.refusal } }

    /// Takes note of how far the transfer is.
    func check(_ progress: DownloadProgress) {
        guard max(progress.received, progress.total ?? 0) > request.limits.maxBytes else { return }
        refuse(request.limits.tooLarge(request.url))
    }

    /// Looks at the time until the end.
    func follow(_ pulse: TransferPulse, now: @escaping @Sendable () -> Int = monotonicNanoseconds) {
        let limits = request.limits
        let clock = Task { [weak self] in
            var pace = SharedPace(limits, pulse.bytes, now: now())
            while (try? await Task.sleep(for: .seconds(min(max(limits.timeout / Self.looks, 0.001), 1)))) != nil {
                guard let self else { return }
                if let (option, seconds) = pace.look(isRunning: pulse.isRunning, pulse.bytes, at: now()) {
                    return refuse(.timedOut(url: request.url, option: option, seconds: seconds))
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

    private func refuse(_ error: ImageError) {
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
    private var bytes: Int
    private var isRunning = true

    /// - Parameters:
    ///   - bytes: What had come when it was joined.
    ///   - now: When that was, in nanoseconds of a clock that never goes back.
    init(_ limits: DownloadLimits, _ bytes: Int, now: Int) {
        pace = TransferPace(timeout: limits.timeout, minBytesPerSecond: limits.minBytesPerSecond, now: now)
        self.bytes = bytes
    }

    /// Takes note of how far the transfer is.
    ///
    /// - Parameter isRunning: Whether it waits for its server.
    /// - Returns: The option that ends the wait, and after how many seconds, if it is too slow.
    mutating func look(isRunning: Bool, _ bytes: Int, at now: Int) -> (option: String, seconds: Double)? {
        switch (self.isRunning, isRunning) {
        case (true, false): pace.hold()
        case (false, true): pace.release(at: now)
        default: break
        }
        self.isRunning = isRunning
        if bytes != self.bytes { pace.received(bytes - self.bytes, at: now) }
        self.bytes = bytes
        guard case .timedOut(let option, let seconds) = pace.verdict(at: now) else { return nil }
        return (option, seconds)
    }
}
