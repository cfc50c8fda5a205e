internal import Platform
internal import Synchronization

/// An image that turned out to be another one when it was loaded anew behind an answer.
public struct ImageChange: Sendable, Equatable {
    /// The name of its cache.
    public let cache: String
    /// Its key.
    public let key: String
    /// The URL it was asked for with.
    public let url: String
    /// Where its file is now; nil when it is only in memory.
    public let path: String?

    /// A change of an image.
    public init(cache: String, key: String, url: String, path: String? = nil) {
        self.cache = cache
        self.key = key
        self.url = url
        self.path = path
    }
}

/// Images that are loaded anew behind an answer: each once at a time.
final class Refreshes: Sendable {
    /// What is refreshed: the image as it was found. One that has been stored or confirmed since is another, which may be
    /// old again before the refresh that brought it has ended.
    struct Subject: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let storedAt: Int
        let confirmedAt: Int?

        init(_ cache: String, _ record: ImageRecord) {
            (self.cache, key, storedAt) = (cache, record.key, record.storedAt)
            confirmedAt = record.answer?.metadata.receivedAt
        }
    }

    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (ImageChange) -> Void }

    private let running = Mutex<Set<Subject>>([])
    private let receiver = Mutex<Receiver?>(nil)

    /// How many images are being refreshed.
    var runningCount: Int { running.withLock { $0.count } }

    /// Whether nobody is refreshing it; from now on somebody is.
    func begin(_ subject: Subject) -> Bool { running.withLock { $0.insert(subject).inserted } }

    /// The image has been refreshed, or could not be.
    func end(_ subject: Subject) { running.withLock { _ = $0.remove(subject) } }

    /// Sets who hears of images that have changed; nil for nobody.
    func set(_ receiver: (@Sendable (ImageChange) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    /// Tells the receiver, outside of the lock.
    func report(_ change: ImageChange) { receiver.withLock { $0 }?.call(change) }
}

extension ImageManager {
    /// Sets who hears, from any thread, of images that turned out to be others when they were refreshed behind an answer;
    /// nil for nobody.
    public func onChange(_ receiver: (@Sendable (ImageChange) -> Void)?) { refreshes.set(receiver) }

    /// Loads an image anew behind its answer, unless that is under way; a failure changes nothing.
    func refresh(
        _ resource: Resource, _ storedCandidate: StoredCandidate, _ cache: ImageCache, _ outgoing: OutgoingRequest
    ) {
        let subject = Refreshes.Subject(cache.name, storedCandidate.hit.record)
        guard refreshes.begin(subject) else { return }
        var options = outgoing.options
        options.storage.waitForCache = true
        Task { [outgoing = OutgoingRequest(url: outgoing.url, options: options)] in
            defer { refreshes.end(subject) }
            guard let new = try? await refreshed(resource, storedCandidate, cache, outgoing) else { return }
            refreshes.report(
                ImageChange(cache: cache.name, key: resource.cacheKey, url: resource.url, path: new.path))
        }
    }

    /// Asks the server, and stores what it answers unless the image has been removed or replaced meanwhile.
    ///
    /// - Returns: The image, if it has become another one.
    private func refreshed(
        _ resource: Resource, _ storedCandidate: StoredCandidate, _ cache: ImageCache, _ outgoing: OutgoingRequest
    ) async throws -> ImageRecord? {
        let key = CacheKey(resource.cacheKey)
        let options = outgoing.options
        let request = try DownloadRequest(
            url: outgoing.url, options: options.network, validators: storedCandidate.validators)
        let plan = FetchPlan(
            resource: resource, key: key, cache: cache, request: request, outgoing: outgoing, needs: [],
            storedCandidate: storedCandidate, started: configuration.clock.monotonic())
        let claim = claim(of: plan)
        defer { withExtendedLifetime(claim) {} }
        let priority = CallPriority(CallPriority.background)
        // Another process may have done it.
        let effort = Coalescer<JobKey, ImageResult>.Effort(report: { _ in }, priority: priority)
        guard let download = try await download(plan, claim, effort).download else { return nil }
        let arrival = arrival(of: download, plan)
        if try await revive(storedCandidate, arrival) != nil { return nil }
        let whole = try await modified(wholeArrival(arrival, priority, nil))
        guard try await pool.run({ cache.holds(storedCandidate.hit) }) else { return nil }
        let new = try await storeLoaded(store(whole), claim)
        let old = storedCandidate.hit
        if let one = old.record.checksum, let other = new.record.checksum { return one != other ? new.record : nil }
        if let one = old.bytes, let other = new.entry?.bytes ?? new.bytes, one == other { return nil }
        return new.record
    }
}
