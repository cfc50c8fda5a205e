internal import Platform

/// Storing loaded images.
extension ImageStorer {
    /// Validates a loaded image, stores it as its ``StoragePlan`` says, and returns the answer.
    func storeLoaded(_ store: PendingStore) async throws -> ImageResult {
        let verified =
            store.options.lookup.verifyDecode == true ? try await DecodeVerifier(engine: engine).verified(store) : store
        return try await withCheckedThrowingContinuation { continuation in
            engine.pool.submit(isLong: verified.isLong) { [self] in
                storeVerified(verified, holding: nil) { continuation.resume(with: $0) }
            }
        }
    }

    /// Stores a loaded image, already decoded if the options require that. Waits for the disk, but not for the index.
    ///
    /// - Parameters:
    ///   - owner: An object that is kept alive until the image is stored.
    ///   - isAwaited: `false` when no caller receives the result; an image that was not stored is then logged.
    ///   - then: Receives the answer once, on this or another thread; it must not block: other stores wait.
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
            engine.pool.submit(isLong: store.isLong) { [self] in
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

    /// Stores a loaded image. Waits for the disk, but not for the index.
    ///
    /// - Parameter then: Receives the answer once, on this or another thread; it must not block: other stores wait.
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
