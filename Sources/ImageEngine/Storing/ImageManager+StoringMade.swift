internal import ImageRecipes
internal import Platform

extension ImageManager {
    /// What is given to be stored.
    public enum Given: Sendable {
        /// The bytes.
        case bytes([UInt8])
        /// A file of the user's, by path.
        case file(String)

        /// Whether it is in hand and no longer than what is held in memory anyway.
        var isSmall: Bool { if case .bytes(let bytes) = self { bytes.count <= BodySpool.memoryLimit } else { false } }
    }

    /// Stores what the recipe of the options makes of an image, and the image itself if the options want originals kept;
    /// without a recipe the image itself. It is decoded whole before, if the options or the cache want that.
    ///
    /// - Parameter overwrites: Whether what is there is replaced: the one that is made, and the original.
    /// - Returns: What was made, from where it is now.
    public func storeVariant(
        of given: Given, for key: String, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) async throws -> ImageResult {
        let options = cache.completed(options)
        if options.lookup.verifyDecode == true || options.processing.recipe.isEmpty {
            var store = try await pool.run { [self] in
                try storing(
                    given, for: CacheKey(key), in: cache, options, overwrites: overwrites, metadata: metadata)
            }
            if options.lookup.verifyDecode == true { store = try await verified(store) }
            if options.processing.recipe.isEmpty {
                return try await pool.run { [store] in try store.run().stored }
            }
        }
        var keeping = options.keepingOnlyCacheOptions
        keeping.lookup.verifyDecode = nil
        keeping.processing.recipe = options.processing.recipe
        keeping.processing.limits = options.processing.limits
        let original = try await pool.run { [self] in
            try stored(given, for: key, in: originals(for: cache, options), options, overwrites: overwrites)
        }
        if options.processing.recipe.isNothing(for: original.result.record.header),
            options.processing.cacheOriginalImage
        {
            return original.result.stored
        }
        var store = try await rendered(
            original, options.processing.recipe.cacheKey(key), key, in: cache, keeping, needs: [.file, .bytes])
        store.overwrites = overwrites
        store.metadata = metadata
        store.isGiven = true
        return try await pool.run { [store] in try store.run().stored }
    }

    /// The original, stored if it is to be kept, with a file for the worker.
    private func stored(
        _ given: Given, for key: String, in home: ImageCache, _ options: ImageOptions, overwrites: Bool
    ) throws -> Original {
        var loading = options
        loading.processing.recipe = ImageRecipe()
        loading.storage.forcedCacheFileExtension = nil
        let cacheKey = CacheKey(key)
        if options.processing.cacheOriginalImage {
            let result = try store(given, for: cacheKey, in: home, options: loading, overwrites: overwrites)
            // One that is there and was not replaced is what the others are made from.
            return try original(result, in: home, loading, mark: nil)
        }
        let content: DiskStorage.Content
        switch given {
        case .bytes(let bytes):
            guard bytes.count <= options.network.limits.maxBytes else { throw Self.tooLarge(key, options) }
            content = .bytes(bytes)
        case .file(let path):
            let path = absolutePath(path)
            _ = try LocalFile(path: path, options: loading).size()
            content = .file(path)
        }
        var result = try PendingStore(
            content: content, key: cacheKey, cache: home, source: key, origin: ImageOrigin(), options: loading,
            needs: []
        ).withoutFile()
        result.content = content
        return try original(result, in: home, loading, mark: nil)
    }
}
