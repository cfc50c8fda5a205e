internal import Platform

/// Images that have been loaded and are stored.
extension ImageStorer {
    /// Validates what was loaded and stores it as its ``StoragePlan`` says, so that the answer may go out.
    func storeLoaded(_ store: PendingStore) async throws -> ImageResult {
        let verified =
            store.options.lookup.verifyDecode == true ? try await DecodeVerifier(engine: engine).verified(store) : store
        return try await withCheckedThrowingContinuation { continuation in
            engine.pool.submit { [self] in
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
            engine.unawaited.begin()
            engine.pool.submit { [self] in
                storeLoaded(store, isAwaited: result.notStored != nil) { [unawaited = engine.unawaited] _ in
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
        store.run { [notStored = engine.counts.notStored] result in
            store.note(result, in: notStored, isAwaited: isAwaited)
            then(result)
        }
    }
}
