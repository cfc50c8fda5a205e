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

/// Passes changes of images on to the receiver of the moment. Callable from any thread.
final class ChangeHook: Sendable {
    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (ImageChange) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    /// Sets the receiver; `nil` for none.
    func set(_ receiver: (@Sendable (ImageChange) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    /// Calls the receiver, outside of the lock.
    func report(_ change: ImageChange) { receiver.withLock { $0 }?.call(change) }
}

extension ImageManager {
    /// Sets the receiver, which is called from any thread, of images that turned out to be others when they were refreshed
    /// in the background; `nil` for none.
    public func onChange(_ receiver: (@Sendable (ImageChange) -> Void)?) { changes.set(receiver) }

    /// The number of images that are refreshed in the background.
    var refreshCount: Int { jobs.runningCount { if case .refresh = $0 { true } else { false } } }

    /// Loads a stored image again in the background, unless that is under way. What comes is stored unless the image has been
    /// removed or replaced meanwhile; a failure changes nothing.
    func refresh(
        _ resource: Resource, _ storedCandidate: StoredCandidate, _ cache: ImageCache, _ outgoing: OutgoingRequest
    ) {
        var options = outgoing.options
        options.storage.waitForCache = true
        guard
            var plan = try? FetchPlan(
                resource, in: cache, OutgoingRequest(url: outgoing.url, options: options), needs: [],
                storedCandidate: storedCandidate, started: configuration.clock.monotonic())
        else { return }
        plan.isRefresh = true
        let old = storedCandidate.hit
        jobs.startAlone(.refresh(JobKey.Refresh(cache.name, old.record))) { [plan] in
            FetchJob(plan, self, $0).start()
        } end: { [changes] result in
            guard case .success(.image(let new)) = result, new.isAnother(than: old) else { return }
            changes.report(
                ImageChange(cache: cache.name, key: resource.cacheKey, url: resource.url, path: new.record.path))
        }
    }
}

extension ImageResult {
    /// `true` when the bytes are others than those of `old`, as far as that is known without reading a file.
    fileprivate func isAnother(than old: ImageCache.Hit) -> Bool {
        if isRevalidated { return false }
        if let one = old.record.checksum, let other = record.checksum { return one != other }
        guard let one = old.bytes, let other = entry?.bytes ?? bytes else { return true }
        return one != other
    }
}
