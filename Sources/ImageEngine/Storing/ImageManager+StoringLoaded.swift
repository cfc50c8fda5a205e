internal import Logging
internal import Platform
internal import Synchronization

/// Images that have been loaded and are stored.
extension ImageManager {
    /// Validates what was loaded and stores it as its ``StoragePlan`` says, so that the answer may go out.
    func storeLoaded(_ store: PendingStore) async throws -> ImageResult {
        let verified = store.options.lookup.verifyDecode == true ? try await verified(store) : store
        return try await withCheckedThrowingContinuation { continuation in
            pool.submit { [self] in
                storeVerified(verified, holding: nil) { continuation.resume(with: $0) }
            }
        }
    }

    /// Stores what was loaded, and decoded if the options want that. Waits for the disk, but not for the index.
    ///
    /// - Parameters:
    ///   - owner: Lives until the image is stored.
    ///   - isAwaited: `false` when nobody is told the result; then the log tells what was not stored.
    ///   - then: Receives the answer once, on this thread or on another one; it must not wait, for other stores do.
    func storeVerified(
        _ store: PendingStore, holding owner: (any AnyObject & Sendable)?, isAwaited: Bool = true,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) {
        let plan = store.policy.answersFirst ? store.plan : nil
        guard let plan, plan.answersFirst else {
            return storeLoaded(store, isAwaited: isAwaited) { then($0.mapError { $0 }) }
        }
        do {
            let result = try store.withoutFile(plan.reason)
            unawaited.begin()
            pool.submit { [self] in
                storeLoaded(store, isAwaited: result.notStored != nil) { [unawaited] _ in
                    withExtendedLifetime(owner) {}
                    unawaited.end()
                }
            }
            then(.success(result))
        } catch {
            then(.failure(error))
        }
    }

    /// Stores an image that has been loaded; waits for the disk, but not for the index.
    ///
    /// - Parameter then: Is told the answer, once, on this thread or on another one; it must not wait, for other stores
    ///   do.
    func storeLoaded(
        _ store: PendingStore, isAwaited: Bool = true,
        then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void
    ) {
        store.run { [notStored] result in
            notStored.note(result, of: store, isAwaited: isAwaited)
            then(result)
        }
    }

    /// Stores an image that memory alone has; waits for the disk and for the index.
    func storeNow(_ store: PendingStore) throws(ImageError) -> ImageResult {
        let result = Result { () throws(ImageError) in try store.run() }
        notStored.note(result, of: store, isAwaited: true)
        return try result.get()
    }
}

/// The number of loaded images that no tier keeps although they were to be kept, by reason.
final class NotStoredCounts: Sendable {
    private let counts = Mutex<[NotStoredReason: Int]>([:])

    /// The numbers of all reasons that have occurred.
    var all: [NotStoredReason: Int] { counts.withLock { $0 } }

    /// Counts an image that was not stored. One that nobody is told about is named in the log by its hash, for URLs are
    /// private.
    func note(_ result: Result<ImageResult, ImageError>, of store: PendingStore, isAwaited: Bool) {
        let reason: NotStoredReason? =
            switch result {
            case .success(let image): image.notStored
            case .failure(let error): NotStoredReason(error).map { store.plan.reason ?? $0 }
            }
        guard let reason, reason != .notAsked else { return }
        counts.withLock { $0[reason, default: 0] += 1 }
        if isAwaited { return }
        Logger(label: "halcyon.images").warning(
            "an image was not stored, and nobody waits for it",
            metadata: [
                "cache": "\(store.cache.name)", "image": "\(store.cache.disk.name(of: store.key).hex)",
                "reason": "\(reason.rawValue)",
            ])
    }
}
