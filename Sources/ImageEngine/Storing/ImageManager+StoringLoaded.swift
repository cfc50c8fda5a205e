/// Images that have been loaded and are stored.
extension ImageManager {
    /// Validates what was loaded and stores it, so that the answer may go out.
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
    ///   - then: Receives the answer once, on this thread or on another one; it must not wait, for other stores do.
    func storeVerified(
        _ store: PendingStore, holding owner: (any AnyObject & Sendable)?,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) {
        do throws(ImageError) {
            if store.isToBeForgotten { return then(.success(try store.forgetting())) }
            var store = store
            store.allowsOversize = store.needs.contains(.file)
            if !store.options.storage.waitForCache, !store.needs.contains(.file) {
                // Nobody waits for the file: the answer goes out first.
                let result = try store.withoutFile()
                unawaited.begin()
                pool.submit { [unawaited, store] in
                    store.run { _ in
                        withExtendedLifetime(owner) {}
                        unawaited.end()
                    }
                }
                return then(.success(result))
            }
            Self.storeLoaded(store) { then($0.mapError { $0 }) }
        } catch {
            then(.failure(error))
        }
    }

    /// Stores an image that has been loaded; waits for the disk, but not for the index.
    ///
    /// - Parameter then: Is told the answer, once, on this thread or on another one; it must not wait, for other stores
    ///   do.
    static func storeLoaded(_ store: PendingStore, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void)
    {
        store.run { result in
            do throws(ImageError) { then(.success(try answer(to: store, result))) } catch { then(.failure(error)) }
        }
    }

    private static func answer(
        to store: PendingStore, _ result: Result<ImageResult, ImageError>
    ) throws(ImageError) -> ImageResult {
        do {
            let result = try result.get()
            return store.needs.contains(.bytes) ? result : try checked(result)
        } catch {
            switch error {
            // An image larger than the disk tier is answered and not cached.
            case .limitExceeded("bytesLimit", _, _) where !store.needs.contains(.file): break
            // The disk is no reason to keep from the caller what has been loaded.
            case .storageFailed where store.needs.contains(.bytes): break
            default: throw error
            }
            return try store.withoutFile()
        }
    }

    /// The result, unless neither tier nor the caller has the image.
    static func checked(_ result: ImageResult) throws(ImageError) -> ImageResult {
        guard result.record.path == nil, let admission = result.admission, admission != .occupied,
            let setting = admission.setting,
            let reason = admission.reason
        else { return result }
        throw .limitExceeded(
            limit: setting, reason: "it was to be kept in memory only: \(reason)", source: result.record.key.key)
    }
}
