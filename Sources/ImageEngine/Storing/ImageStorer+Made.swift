internal import ImageRecipes
internal import Platform

/// Storing the processed forms of given images.
extension ImageStorer {
    /// Stores the result of the options' recipe; see
    /// ``ImageManager/storeVariant(of:for:in:options:overwrites:metadata:)``.
    func storeVariant(
        of given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) async throws -> ImageResult {
        let options = cache.completed(options)
        if options.lookup.verifyDecode == true || options.processing.recipe.isEmpty {
            var store = try await engine.pool.run(isLong: !given.isSmall) { [self] in
                try storing(
                    given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata)
            }
            if options.lookup.verifyDecode == true { store = try await DecodeVerifier(engine: engine).verified(store) }
            if options.processing.recipe.isEmpty {
                return try await engine.pool.run(isLong: store.isLong) { [store] in try store.run().stored }
            }
        }
        var keeping = options.keepingOnlyCacheOptions
        keeping.lookup.verifyDecode = nil
        keeping.processing.recipe = options.processing.recipe
        keeping.processing.limits = options.processing.limits
        let original = try await engine.pool.run(isLong: !given.isSmall) { [self] in
            try stored(
                given, for: key, in: engine.lookup.originals(for: cache, options), options, overwrites: overwrites)
        }
        if options.processing.recipe.isNothing(for: original.result.record.header),
            options.processing.cacheOriginalImage
        {
            return original.result.stored
        }
        var store = try await Renderer(engine: engine).rendered(
            original, options.processing.recipe.cacheKey(key), key.key, in: cache, keeping, needs: [.file, .bytes])
        store.overwrites = overwrites
        store.metadata = metadata
        store.isGiven = true
        return try await engine.pool.run(isLong: store.isLong) { [store] in try store.run().stored }
    }

    /// The original with a file for the worker; stored if the options keep originals.
    private func stored(
        _ given: GivenImage, for key: CacheKey, in home: ImageCache, _ options: ImageOptions, overwrites: Bool
    ) throws -> Original {
        var loading = options
        loading.processing.recipe = ImageRecipe()
        loading.storage.forcedCacheFileExtension = nil
        let store = try storing(given, for: key, in: home, loading, overwrites: overwrites, metadata: nil)
        var result: ImageResult
        if options.processing.cacheOriginalImage {
            // An existing original that was not replaced is the one that variants are made from.
            result = try store.run().stored
        } else {
            result = try store.withoutFile()
            result.content = store.content
        }
        return try Original(result, in: home, loading, spool: engine.spool)
    }
}
