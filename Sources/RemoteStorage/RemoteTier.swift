package import Downloading
package import Platform
internal import Synchronization

/// The way a remote tier is used.
package enum RemoteMode: String, Sendable, CaseIterable {
    case readWrite = "read-write"
    case readOnly = "read-only"
    case writeOnly = "write-only"

    package var reads: Bool { self != .writeOnly }
    package var writes: Bool { self != .readOnly }
}

/// The tier behind the disk that several machines share: an engine that may be slow, wrong or gone, and whose failures no
/// request gets to see.
package final class RemoteTier: Sendable {
    package struct Configuration: Sendable {
        /// The address; `nil` for no remote tier.
        package var url: RemoteURL?
        package var mode = RemoteMode.readWrite
        /// The longest wait for the engine, in seconds.
        package var timeout = 0.3
        /// The largest image that is read or written, in bytes.
        package var maxBytes = 16 << 20
        /// The release of the program, for the names of what its codec makes.
        package var release = ""
        /// Where the credentials of AWS are.
        package var environment = AWSEnvironment()

        package init() {}
    }

    /// The most operations at the same time for which requests wait.
    private static let width = 32
    /// Nobody waits for an upload, which may take so many times as long.
    private static let uploadPatience = 10.0

    struct State: Sendable {
        var breaker = CircuitBreaker()
        /// The changes of the breaker that have not been reported, the oldest first.
        var changes: [(state: CircuitBreaker.State, cause: RemoteError?)] = []
        /// `true` while a thread reports them.
        var isReporting = false
        /// The state that was reported last.
        var reported = CircuitBreaker.State.closed
        var asking = 0
        /// The time of the last answer to an operation for which a request waited.
        var lastAnswer = Int.min
        /// Those who wait for a place, with the time when they have waited long enough.
        var waiting: [(place: CheckedContinuation<Bool, Never>, end: Int)] = []
        var uploads = UploadQueue()
        /// The tokens of claims that have not ended, by their names.
        var claims: [String: String] = [:]
        /// The number of claims that are being ended.
        var endingClaims = 0
        /// The number of claims that are asked for.
        var askedClaims = 0
        var counts = RemoteCounts()
        /// `true` when another tier is in use now.
        var isRetired = false

        var isBusy: Bool { uploads.count > 0 || !claims.isEmpty || endingClaims > 0 || askedClaims > 0 }

        /// Asks the breaker.
        mutating func admit(at moment: Int) -> CircuitBreaker.Admission {
            let admission = breaker.admit(at: moment)
            if admission == .probe { changes.append((.halfOpen, nil)) }
            return admission
        }

        /// The next change to report; `nil` when there is none, or another tier is in use, and then nobody reports any more.
        mutating func takeChange() -> (state: CircuitBreaker.State, cause: RemoteError?)? {
            if isRetired { changes = [] }
            isReporting = !changes.isEmpty
            guard let change = changes.first else { return nil }
            changes.removeFirst()
            reported = change.state
            return change
        }

        /// Drops the uploads that have not begun. They are released where no lock is held, because claims end with them.
        mutating func dropUploads() -> [RemoteUpload] {
            let dropped = uploads.drop { _ in true }
            counts.dropped += dropped.count
            return dropped
        }
    }

    package let configuration: Configuration
    let storage: any RemoteStorage
    let pool: BlockingPool
    let now: @Sendable () -> Int
    /// The longest times for what a request waits for, and for what none does.
    private let (limit, patience): (TimeLimit, TimeLimit)
    private let report: @Sendable (CircuitBreaker.State, RemoteError?) -> Void
    let state = Mutex(State())

    /// - Parameters:
    ///   - pool: Runs what waits for the disk.
    ///   - report: Receives each change of the breaker, with its cause.
    package init(
        _ storage: any RemoteStorage, _ configuration: Configuration, pool: BlockingPool,
        now: @escaping @Sendable () -> Int, report: @escaping @Sendable (CircuitBreaker.State, RemoteError?) -> Void
    ) {
        (self.storage, self.configuration, self.pool) = (storage, configuration, pool)
        (self.now, self.report) = (now, report)
        limit = TimeLimit(seconds: configuration.timeout)
        patience = TimeLimit(seconds: Self.uploadPatience * configuration.timeout)
    }

    /// The tier that the configuration names; `nil` when it names none.
    package convenience init?(
        _ configuration: Configuration, downloader: ImageDownloader.Configuration, pool: BlockingPool,
        now: @escaping @Sendable () -> Int,
        report: @escaping @Sendable (CircuitBreaker.State, RemoteError?) -> Void
    ) {
        guard let url = configuration.url else { return nil }
        let connectSeconds = configuration.timeout / 3
        let silenceSeconds = Self.uploadPatience * configuration.timeout
        let maxBytes = configuration.maxBytes
        let storage: any RemoteStorage =
            switch url.place {
            case .http(let base):
                HTTPStorage(
                    base, url,
                    HTTPClient(
                        downloader, to: base, maxBytes: maxBytes, connectSeconds: connectSeconds,
                        silenceSeconds: silenceSeconds, netrc: downloader.netrc))
            case .s3(let place):
                S3Storage(S3Target(place, url, configuration.environment)) {
                    HTTPClient(
                        downloader, to: $0, maxBytes: maxBytes, connectSeconds: connectSeconds,
                        silenceSeconds: silenceSeconds)
                }
            case .redis, .redisSocket:
                RedisStorage(
                    url, tls: downloader.tls, maxBytes: maxBytes, connectSeconds: connectSeconds,
                    timeout: configuration.timeout)
            }
        self.init(storage, configuration, pool: pool, now: now, report: report)
    }

    package var counts: RemoteCounts {
        state.withLock { state in
            var counts = state.counts
            (counts.queued, counts.breaker) = (state.uploads.count, state.breaker.state)
            return counts
        }
    }

    /// The number of operations that wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    // MARK: Reading

    /// The object; `nil` when there is none, or none that can be had in time.
    ///
    /// - Parameter isCounted: `false` when the object has been looked for before.
    package func object(_ name: String, isCounted: Bool = true) async -> RemoteObject? {
        guard !state.withLock({ $0.uploads.isRemoving(name) }),
            let found = await ask({ [storage] in try await storage.get(name) }), let bytes = found
        else {
            if isCounted, !Task.isCancelled { noteMiss() }
            return nil
        }
        let object =
            bytes.count > 1 << 18 ? try? await pool.run(isLong: true) { RemoteObject(bytes) } : RemoteObject(bytes)
        state.withLock { $0.counts.bytesRead += bytes.count }
        guard let object else {
            noteWrong(name, isCounted: isCounted)
            return nil
        }
        if object.image.count <= configuration.maxBytes { return object }
        if isCounted { noteMiss() }
        return nil
    }

    /// Counts a look-up without an object of use.
    package func noteMiss() { state.withLock { $0.counts.misses += 1 } }

    /// Counts an object that has answered a request.
    package func noteHit() { state.withLock { $0.counts.hits += 1 } }

    /// Counts an object that is not what its name says, and removes it in the background where that is allowed.
    ///
    /// - Parameter isCounted: `false` when the object has been looked for before, and may be the same.
    package func noteWrong(_ name: String, isCounted: Bool) {
        if isCounted { state.withLock { $0.counts.wrong += 1 } }
        // An upload replaces it.
        guard configuration.mode.writes, !state.withLock({ $0.uploads.names.contains(name) }) else { return }
        let removal = removal(of: [name])
        Task { try? await removal.remove(name) }
    }

    /// Runs an operation for which a request waits, within the time limit, which begins when the operation does.
    ///
    /// - Returns: `nil` when it failed, or the engine is left out.
    func ask<Value: Sendable>(
        isWrite: Bool = false, _ work: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        guard await enter() else { return nil }
        defer { leave() }
        let (start, began) = (now(), monotonicNanoseconds())
        do {
            let value = try await limit.run(work)
            state.withLock { state in
                state.lastAnswer = now()
                state.breaker.answered(at: state.lastAnswer)
            }
            return value
        } catch {
            // An engine that has answered others meanwhile, or is in the midst of that, is busy, and not gone.
            let isBusy =
                error as? RemoteError == .timedOut
                && (state.withLock { $0.lastAnswer > start } || storage.lastReceived ?? .min > began)
            if !Task.isCancelled { note(error, isOfWrite: isWrite, isBusy: isBusy) }
            return nil
        }
    }

    /// Waits for a place among those who ask the engine.
    ///
    /// - Returns: `false` when the engine is left out, or the wait took too long.
    private func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let (answer, probes) = state.withLock { state -> (Bool?, Bool) in
                switch state.admit(at: now()) {
                case .probe: return (false, true)
                case .refuse: return (false, false)
                case .pass: break
                }
                guard state.asking >= Self.width else {
                    state.asking += 1
                    return (true, false)
                }
                state.waiting.append((continuation, now() + Int(configuration.timeout * 1e9)))
                return (nil, false)
            }
            if probes { probe() }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Gives the place to the next one; those who have waited as long as an operation may take go without.
    private func leave() {
        let (late, next) = state.withLock { state in
            let moment = now()
            let late = state.waiting.prefix { $0.end <= moment }
            state.waiting.removeFirst(late.count)
            if state.waiting.isEmpty { state.asking -= 1 }
            return (late, state.waiting.isEmpty ? nil : state.waiting.removeFirst().place)
        }
        for one in late { one.place.resume(returning: false) }
        next?.resume(returning: true)
    }

    /// Asks for an object that is not there, or removes it where the engine is not read, to see whether it answers again.
    func probe() {
        reportChanges()
        Task { [self] in
            do {
                try await limit.run { [storage, reads = configuration.mode.reads] in
                    let name = RemoteObject.name(of: ["probe"])
                    if reads { _ = try await storage.get(name) } else { try await storage.remove(name) }
                }
                recover()
            } catch {
                note(error, isOfWrite: !configuration.mode.reads, isOfProbe: true)
            }
        }
    }

    private func recover() {
        state.withLock { state in
            state.breaker.recovered(at: now())
            state.changes.append((.closed, nil))
        }
        reportChanges()
    }

    /// Reports the changes of the breaker in their order, unless another tier is in use or another thread does it.
    private func reportChanges() {
        let begins = state.withLock { state in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard begins else { return }
        while let change = state.withLock({ $0.takeChange() }) { report(change.state, change.cause) }
    }

    /// Counts a failure, for which the engine is left out, unless it has too large an object, does not take one, or moves one to
    /// another node: it may well have others, and whether it is slow to read shows when it is read.
    func note(_ error: any Error, isOfWrite: Bool = false, isBusy: Bool = false, isOfProbe: Bool = false) {
        let error = error as? RemoteError ?? .refused("\(type(of: error))")
        let isOfEngine =
            switch error {
            case .refused: !isOfWrite
            case .timedOut: !isBusy && (!isOfWrite || !configuration.mode.reads)
            case .tooLarge, .rearranging: false
            default: true
            }
        let (asking, uploads) = state.withLock { state -> ([CheckedContinuation<Bool, Never>], [RemoteUpload]) in
            state.counts.errors += 1
            guard isOfEngine, state.breaker.failed(at: now()) else { return ([], []) }
            state.changes.append((.open, error))
            defer { state.waiting = [] }
            return (state.waiting.map(\.place), state.dropUploads())
        }
        reportChanges()
        if isOfProbe, !isOfEngine { recover() }
        for one in asking { one.resume(returning: false) }
        withExtendedLifetime(uploads) {}
    }

    /// Runs an operation for which nobody waits, or that may take longer than a request may wait.
    func patiently<Value: Sendable>(
        _ work: @escaping @Sendable (any RemoteStorage) async throws -> Value
    ) async throws -> Value {
        try await patience.run { [storage] in try await work(storage) }
    }
}
