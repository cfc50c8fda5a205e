/// Images that have been loaded and are stored.
extension ImageManager {
    /// Validates what was loaded and stores it, so that the answer may go out.
    ///
    /// - Parameter claim: Ends when the image is stored.
    func storeLoaded(_ store: PendingStore, _ claim: DownloadClaim? = nil) async throws -> ImageResult {
        if store.isToBeForgotten {
            if store.options.lookup.verifyDecode == true { _ = try await verified(store) }
            return try await pool.run { try store.forgetting() }
        }
        var store = store.options.lookup.verifyDecode == true ? try await verified(store) : store
        store.allowsOversize = store.needs.contains(.file)
        return try await storeLoaded(asked: store, claim)
    }

    private func storeLoaded(asked store: PendingStore, _ claim: DownloadClaim?) async throws -> ImageResult {
        if !store.options.storage.waitForCache, !store.needs.contains(.file) {
            // Nobody waits for the file: the answer goes out first.
            let result = try await pool.run { try store.withoutFile() }
            unawaited.begin()
            pool.submit { [unawaited] in
                store.run { _ in
                    withExtendedLifetime(claim) {}
                    unawaited.end()
                }
            }
            return result
        }
        return try await withCheckedThrowingContinuation { continuation in
            pool.submit {
                Self.storeLoaded(store) { continuation.resume(with: $0) }
            }
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
