/// Images that are given, not loaded.
extension ImageManager {
    /// Stores bytes under a key. Waits for the disk.
    public func store(
        _ bytes: [UInt8], for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) throws -> ImageResult {
        try Self.checked(
            storing(.bytes(bytes), for: key, in: cache, options, overwrites: overwrites, metadata: metadata).run()
        ).stored
    }

    /// Stores the content of a file under a key. A large file is copied piece by piece. Waits for the disk.
    public func store(
        contentsOf path: String, for key: CacheKey, in cache: ImageCache, options: ImageOptions,
        overwrites: Bool = true, metadata: String? = nil
    ) throws -> ImageResult {
        try Self.checked(
            storing(.file(path), for: key, in: cache, options, overwrites: overwrites, metadata: metadata).run()
        ).stored
    }

    /// How something that is given is stored.
    func storing(
        _ given: Given, for key: CacheKey, in cache: ImageCache, _ options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) throws -> Storing {
        let content: DiskStorage.Content
        switch given {
        case .bytes(let bytes):
            guard bytes.count <= options.maxBytes else { throw Self.tooLarge(key.key, options) }
            content = .bytes(bytes)
        case .file(let path):
            content = try LocalFile(path: absolutePath(path), options: options).content()
        }
        // Bytes that are in hand are held by memory too, as by Kingfisher's.
        return Storing(
            content: content, key: key, cache: cache, source: key.key, origin: ImageOrigin(), options: options,
            needs: content.isInMemory ? [.file, .bytes] : [.file], overwrites: overwrites, metadata: metadata)
    }
}
