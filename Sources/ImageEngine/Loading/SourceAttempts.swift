internal import Platform
internal import Synchronization

/// A function that stops some work; without effect once the work has ended.
typealias Stop = @Sendable () -> Void

/// Runs `work` in a task.
///
/// - Parameter end: Receives the result, once.
/// - Returns: The function that cancels the task.
func inTask<Value: Sendable>(
    _ end: @escaping @Sendable (Result<Value, any Error>) -> Void, _ work: @escaping @Sendable () async throws -> Value
) -> Stop {
    let task = Task {
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        end(result)
    }
    return { task.cancel() }
}

/// Loads a value from the first source that has it: in order, each with retries as the options say, or several at the
/// same time when one does not answer for some time. Holds a task only during pauses.
final class SourceAttempts<Value: Sendable>: Sendable {
    typealias End = @Sendable (Result<Value, any Error>) -> Void
    /// Starts one attempt, which calls `end` once; returns the function that stops it.
    typealias Attempt = @Sendable (_ url: String, _ meter: AttemptMeter, _ end: @escaping End) -> Stop

    private struct Source {
        var tries: SourceTries
        /// The number of the current attempt or pause.
        var number = 0
        var stop: Stop?
        /// The attempt under way, and the time of its start.
        var running: (meter: AttemptMeter, started: Int)?
    }

    private struct State {
        var hedge: Hedge
        var sources: [Source]
        var pauses: [Stop] = []
        var end: End?
    }

    private let urls: [String]
    private let hedgeAfter: Double?
    private let clock: @Sendable () -> Int
    private let hasNetwork: @Sendable () -> Bool
    private let attempt: Attempt
    private let givenUp: @Sendable (_ url: String, _ error: any Error) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - givenUp: Called with the last error of a source that is not tried again.
    ///   - clock: A monotonic clock, in nanoseconds.
    ///   - hasNetwork: Returns `true` when this machine has a network.
    init(
        _ urls: [String], _ options: NetworkOptions, clock: @escaping @Sendable () -> Int,
        hasNetwork: @escaping @Sendable () -> Bool,
        givenUp: @escaping @Sendable (_ url: String, _ error: any Error) -> Void = { _, _ in },
        attempt: @escaping Attempt
    ) {
        (self.urls, self.clock, self.hasNetwork) = (urls, clock, hasNetwork)
        (self.attempt, self.givenUp) = (attempt, givenUp)
        hedgeAfter = urls.count > 1 ? options.hedgeAfter : nil
        let sources = urls.map { _ in Source(tries: SourceTries(options)) }
        state = Mutex(State(hedge: Hedge(count: urls.count), sources: sources))
    }

    /// Starts with the first source.
    ///
    /// - Parameters:
    ///   - deadline: The error of the deadline, and the time until then in nanoseconds.
    ///   - end: Receives the result once, on any thread: the value of the first source that has it, or the error of the
    ///     first source with all failed attempts, those that the deadline ended included.
    func start(deadline: (error: ImageError, nanoseconds: Int)? = nil, end: @escaping End) {
        let latest = deadline.map { clock() + $0.nanoseconds }
        state.withLock { state in
            state.end = end
            for source in state.sources.indices { state.sources[source].tries.deadline = latest }
        }
        if let (error, nanoseconds) = deadline {
            addPause(.nanoseconds(nanoseconds)) { [self] in expire(error) }
        }
        begin(state.withLock { $0.hedge.begin() })
    }

    /// The result, for a caller that waits in a task.
    func value(deadline: (error: ImageError, nanoseconds: Int)?) async throws -> Value {
        try await awaitResult {
            start(deadline: deadline, end: $0)
        } cancel: { [self] in
            stop()
        }
    }

    /// Stops all attempts; the result is a `CancellationError` unless there is one already.
    func stop() { finish(.failure(CancellationError())) }

    private func begin(_ source: Int?) {
        guard let source else { return }
        if let hedgeAfter, source + 1 < urls.count {
            addPause(.seconds(hedgeAfter)) { [self] in begin(state.withLock { $0.hedge.overdue(source) }) }
        }
        tryOnce(source)
    }

    private func tryOnce(_ source: Int) {
        let (meter, started) = (AttemptMeter(), clock())
        run(source, (meter, started)) {
            attempt(urls[source], meter) { [self] result in
                guard case .failure(let error as ImageError) = result else { return finish(result) }
                let failed = failed(source, (meter, started), error.first)
                proceed(source) { [hasNetwork, clock] in
                    var generator = SystemRandomNumberGenerator()
                    return $0.failed(failed, hasNetwork: hasNetwork(), at: clock(), using: &generator)
                }
            }
        }
    }

    private func failed(
        _ source: Int, _ running: (meter: AttemptMeter, started: Int), _ error: ImageError
    ) -> ImageError.Attempt {
        let seconds = Double(clock() - running.started) / 1e9
        return ImageError.Attempt(url: urls[source], error: error, seconds: seconds, bytes: running.meter.bytes)
    }

    /// Ends at the deadline, with the errors of the failed attempts and `error` for those under way.
    private func expire(_ error: ImageError) {
        let attempts = state.withLock { state in
            state.sources.enumerated().flatMap { place, source in
                source.tries.failures + (source.running.map { [failed(place, $0, error)] } ?? [])
            }
        }
        finish(.failure(attempts.isEmpty ? error : ImageError.joined(attempts)))
    }

    private func proceed(_ source: Int, _ next: (inout SourceTries) -> SourceTries.Next) {
        let step = state.withLock { state in
            state.sources[source].running = nil
            return next(&state.sources[source].tries)
        }
        switch step {
        case .attempt(let seconds): run(source) { pause(.seconds(seconds)) { [self] in tryOnce(source) } }
        case .lookForNetwork(let nanoseconds):
            run(source) {
                pause(.nanoseconds(nanoseconds)) { [self] in
                    proceed(source) { [hasNetwork, clock] in
                        var generator = SystemRandomNumberGenerator()
                        return $0.looked(hasNetwork: hasNetwork(), at: clock(), using: &generator)
                    }
                }
            }
        case .giveUp:
            if let last = state.withLock({ $0.sources[source].tries.failures.last }) {
                givenUp(urls[source], last.error)
            }
            let (next, failures) = state.withLock { state in
                (state.hedge.failed(), state.sources.flatMap(\.tries.failures))
            }
            if next.isOver { finish(.failure(ImageError.joined(failures))) } else { begin(next.next) }
        }
    }

    /// Starts an attempt at a source or the pause before it; either may end before `start` returns its stop function.
    private func run(_ source: Int, _ attempt: (AttemptMeter, Int)? = nil, _ start: () -> Stop) {
        let number = state.withLock { state -> Int? in
            guard state.end != nil else { return nil }
            state.sources[source].number += 1
            state.sources[source].stop = nil
            state.sources[source].running = attempt
            return state.sources[source].number
        }
        guard let number else { return }
        let stop = start()
        let isOver = state.withLock { state in
            guard state.end != nil else { return true }
            if state.sources[source].number == number { state.sources[source].stop = stop }
            return false
        }
        if isOver { stop() }
    }

    private func pause(_ duration: Duration, then: @escaping @Sendable () -> Void) -> Stop {
        let task = Task {
            if duration > .zero { try await Task.sleep(for: duration) }
            if !Task.isCancelled { then() }
        }
        return { task.cancel() }
    }

    private func addPause(_ duration: Duration, then: @escaping @Sendable () -> Void) {
        let stop = pause(duration, then: then)
        let isOver = state.withLock { state in
            if state.end != nil { state.pauses.append(stop) }
            return state.end == nil
        }
        if isOver { stop() }
    }

    private func finish(_ result: Result<Value, any Error>) {
        let (end, stops) = state.withLock { state -> (End?, [Stop]) in
            let stops = state.pauses + state.sources.compactMap(\.stop)
            for source in state.sources.indices { state.sources[source].stop = nil }  // Else none is ever freed.
            state.pauses = []
            return (state.end.take(), stops)
        }
        guard let end else { return }
        for stop in stops { stop() }
        end(result)
    }
}

/// Counts the bytes of one attempt.
final class AttemptMeter: Sendable {
    private let received = Atomic(0)

    var bytes: Int { received.load(ordering: .relaxed) }

    func note(_ progress: DownloadProgress) { received.store(progress.received, ordering: .relaxed) }
}
