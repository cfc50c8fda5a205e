internal import Platform

/// An image that a caller provides: it is stored, not loaded.
public enum GivenImage: Sendable {
    /// The bytes.
    case bytes([UInt8])
    /// A file of the user, by path.
    case file(String)

    /// `true` when the bytes are in memory and not more than ``BodySpool/memoryLimit``.
    var isSmall: Bool {
        if case .bytes(let bytes) = self { bytes.count <= BodySpool.memoryLimit } else { false }
    }
}

/// Stores given, loaded and made images.
struct ImageStorer: Sendable {
    let engine: EngineServices

    /// Stores an image under a key; see ``ImageManager/store(_:for:in:options:overwrites:metadata:then:)``.
    func store(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool,
        metadata: String?, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void
    ) {
        let attempt = { @Sendable [self] (then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void) in
            storeOnce(
                given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata, then: then)
        }
        attempt { result in
            // A file that was being replaced is whole now.
            if case .failure(.storageFailed(_, _, .changing)) = result { attempt(then) } else { then(result) }
        }
    }

    private func storeOnce(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool,
        metadata: String?, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void
    ) {
        let briefly = overwrites ? cache.ifBrief : nil
        engine.pool.submit(briefFor: given.isSmall ? briefly : nil, isLong: !given.isSmall) { [self] in
            let store: PendingStore
            do throws(ImageError) {
                store = try storing(given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata)
            } catch {
                return then(.failure(error))
            }
            // Reading a user's file may take long: it is done first, then the bytes are stored together with others.
            let count = StorageFolder.count(of: store.content)
            guard let briefly, !given.isSmall, store.content.isInMemory, count <= BodySpool.memoryLimit,
                engine.readAhead.take(count)
            else { return store.run { then($0.map(\.stored)) } }
            engine.pool.submit(briefFor: briefly, isLast: true) { [self] in
                store.run { result in
                    engine.readAhead.giveBack(count)
                    then(result.map(\.stored))
                }
            }
        }
    }

    /// A given image, prepared for storing.
    func storing(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, _ options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) throws(ImageError) -> PendingStore {
        let (content, source): (DiskStorage.Content, String)
        switch given {
        case .bytes(let bytes):
            guard bytes.count <= options.network.limits.maxBytes else { throw options.network.limits.tooLarge(key.key) }
            (content, source) = (.bytes(bytes), key.key)
        case .file(let path):
            let path = absolutePath(path)
            (content, source) = (try LocalFile(path: path, options: options).content(), FileURL.text(path))
        }
        // Bytes that are in memory are put into the memory tier too, as in Kingfisher.
        var store = PendingStore(
            content: content, key: key, cache: cache, source: source, origin: ImageOrigin(), options: options,
            needs: content.isInMemory ? [.file, .bytes] : [.file], overwrites: overwrites, metadata: metadata,
            isGiven: true)
        if case .file = given { store.isOfFile = true }
        return store
    }
}
