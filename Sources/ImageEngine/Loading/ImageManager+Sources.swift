internal import Platform
internal import Synchronization

/// Several sources of one image, and several attempts at each.
extension ImageManager {
    /// Loads an image, or what is to be known of it, from one source; a failure of it is no error of ours yet.
    typealias SourceLoader<Value> = @Sendable (_ url: String, _ meter: AttemptMeter) async throws -> Value

    /// An attempt that was made before anything else was done for the request.
    struct FailedAttempt: Sendable {
        let attempt: ImageError.Attempt
        /// When the request began, on a clock that never goes back.
        let started: Int
    }

    private enum SourceEvent<Value: Sendable>: Sendable {
        case image(Value)
        case failure(source: Int, [ImageError.Attempt])
        case overdue(source: Int)
    }

    /// Tries the sources as the options say: in order, or beside each other when one keeps us waiting.
    ///
    /// - Parameter failed: The first attempt at the first source, if it has been made.
    /// - Throws: The first source's error, for the others only stood by, with all that failed.
    func loadAny<Value: Sendable>(
        of urls: [String], _ options: ImageOptions, after failed: ImageError.Attempt? = nil,
        _ load: @escaping SourceLoader<Value>
    ) async throws -> Value {
        if let pause = options.network.hedgeAfter, urls.count > 1 {
            return try await race(urls, pause, options, load)
        }
        var attempts: [ImageError.Attempt] = []
        for (index, url) in urls.enumerated() {
            switch try await attempt(url, options, after: index == 0 ? failed : nil, load) {
            case .success(let image): return image
            case .failure(let failure): attempts += failure.attempts
            }
        }
        throw ImageError.joined(attempts)
    }

    @inline(never)
    private func race<Value: Sendable>(
        _ urls: [String], _ pause: Double, _ options: ImageOptions, _ load: @escaping SourceLoader<Value>
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: SourceEvent<Value>.self) { group in
            var hedge = Hedge(count: urls.count)
            var failures: [Int: [ImageError.Attempt]] = [:]
            func begin(_ source: Int?) {
                guard let source else { return }
                group.addTask {
                    switch try await self.attempt(urls[source], options, load) {
                    case .success(let image): .image(image)
                    case .failure(let failure): .failure(source: source, failure.attempts)
                    }
                }
                guard source + 1 < urls.count else { return }
                group.addTask {
                    try await Task.sleep(for: .seconds(pause))
                    return .overdue(source: source)
                }
            }
            // The losers are cancelled, and a pause with nobody left to begin.
            defer { group.cancelAll() }
            begin(hedge.begin())
            while let event = try await group.next() {
                switch event {
                case .image(let image): return image
                case .overdue(let source): begin(hedge.overdue(source))
                case .failure(let source, let attempts):
                    failures[source] = attempts
                    let (next, isOver) = hedge.failed()
                    begin(next)
                    if isOver { throw ImageError.joined(failures.sorted { $0.key < $1.key }.flatMap(\.value)) }
                }
            }
            throw CancellationError()
        }
    }

    private struct SourceFailure: Error {
        var attempts: [ImageError.Attempt] = []
    }

    /// Tries one source as often as the options say.
    ///
    /// - Parameter failed: The first attempt, if it has been made.
    private func attempt<Value>(
        _ url: String, _ options: ImageOptions, after failed: ImageError.Attempt? = nil, _ load: SourceLoader<Value>
    ) async throws -> Result<Value, SourceFailure> {
        var failure = SourceFailure()
        var generator = SystemRandomNumberGenerator()
        var connectivity = ConnectivityWait(limit: options.network.waitForConnectivity)
        // The attempt that met no network is none of those that the options allow.
        var uncounted = 0
        var last = failed
        while true {
            if let attempt = last {
                failure.attempts.append(attempt)
                if ConnectivityWait.concerns(attempt.error), try await comesBack(&connectivity) {
                    uncounted = 1
                } else {
                    let count = failure.attempts.count - uncounted
                    guard
                        let delay = options.network.retry.delay(before: count, after: attempt.error, using: &generator)
                    else { return .failure(failure) }
                    try await Task.sleep(for: .seconds(delay))
                }
            }
            let meter = AttemptMeter()
            let started = configuration.clock.monotonic()
            do {
                return .success(try await load(url, meter))
            } catch let error as ImageError {
                let seconds = Double(configuration.clock.monotonic() - started) / 1e9
                last = ImageError.Attempt(url: url, error: error.first, seconds: seconds, bytes: meter.bytes)
            }
        }
    }
}

extension ImageManager {
    /// Waits for the network as long as `wait` says; returns whether it has come.
    private func comesBack(_ wait: inout ConnectivityWait) async throws -> Bool {
        while true {
            switch wait.next(hasNetwork: configuration.hasNetwork(), at: configuration.clock.monotonic()) {
            case .retry: return true
            case .giveUp: return false
            case .look(let nanoseconds): try await Task.sleep(for: .nanoseconds(nanoseconds))
            }
        }
    }
}

/// Counts the bytes of one attempt.
final class AttemptMeter: Sendable {
    private let received = Atomic(0)

    /// How many have come.
    var bytes: Int { received.load(ordering: .relaxed) }

    /// The same caller, counted.
    func counting(_ caller: ImageCaller) -> ImageCaller {
        var counted = caller
        counted.report = { [self, report = caller.report] progress in
            received.store(progress.received, ordering: .relaxed)
            report?(progress)
        }
        return counted
    }
}
