internal import Platform

/// Images that are given, not loaded.
extension ImageManager {
    /// Stores an image under a key. A large file is copied piece by piece.
    ///
    /// - Parameter then: Is told the result, once and from another thread; it must not wait, for other stores do.
    public func store(
        _ given: Given, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void
    ) {
        let briefly = overwrites ? cache.ifBrief : nil
        pool.submit(briefFor: given.isSmall ? briefly : nil) { [self] in
            let store: PendingStore
            do throws(ImageError) {
                store = try storing(given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata)
            } catch {
                return then(.failure(error))
            }
            let run = { @Sendable (done: @escaping @Sendable () -> Void) in
                store.run { result in
                    done()
                    then(result.map(\.stored))
                }
            }
            // Reading a file of the user's may take as long as it likes; what it held is stored together with others'.
            let count = StorageFolder.count(of: store.content)
            guard let briefly, !given.isSmall, store.content.isInMemory, count <= BodySpool.memoryLimit,
                readAhead.take(count)
            else { return run {} }
            pool.submit(briefFor: briefly) { run { [self] in readAhead.giveBack(count) } }
        }
    }

    /// The same, and waits for the disk.
    func store(
        _ given: Given, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) throws(ImageError) -> ImageResult {
        try storing(given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata).run().stored
    }

    /// How something that is given is stored.
    func storing(
        _ given: Given, for key: CacheKey, in cache: ImageCache, _ options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) throws(ImageError) -> PendingStore {
        let content: DiskStorage.Content
        switch given {
        case .bytes(let bytes):
            guard bytes.count <= options.network.limits.maxBytes else { throw Self.tooLarge(key.key, options) }
            content = .bytes(bytes)
        case .file(let path):
            content = try LocalFile(path: absolutePath(path), options: options).content()
        }
        // Bytes that are in hand are held by memory too, as by Kingfisher's.
        return PendingStore(
            content: content, key: key, cache: cache, source: key.key, origin: ImageOrigin(), options: options,
            needs: content.isInMemory ? [.file, .bytes] : [.file], overwrites: overwrites, metadata: metadata,
            isGiven: true)
    }
}
