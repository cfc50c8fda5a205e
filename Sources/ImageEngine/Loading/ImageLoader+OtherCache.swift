extension ImageLoader {
    /// The image from the ``ImageOptions/originalCache``, stored in the request's own cache without a download.
    ///
    /// - Returns: `nil` when there is no such cache or it does not have the image: then it is loaded.
    func imageOfOtherCache(_ request: ImageRequest) async throws -> ImageResult? {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        guard let name = options.lookup.originalCache, name != cache.name, !options.lookup.forceRefresh,
            let original = engine.caches.cache(name)
        else { return nil }
        let keys = engine.lookup.keys(resource, options)
        var looking = ImageOptions()
        looking.storage.fromMemoryCacheOrRefresh = options.storage.fromMemoryCacheOrRefresh
        looking.storage.keepsInMemory = false
        // Errors of the other cache are ignored, because the image can still be loaded from its source.
        let found = try await engine.pool.run {
            [engine, looking] () -> (hit: ImageCache.Hit, content: DiskStorage.Content)? in
            let hits = keys.lazy.compactMap {
                try? original.hit(for: $0, options: looking.storage, patience: options.patience)
            }
            let found = hits.first {
                !$0.record.isLocalFile && engine.lookup.answers($0, to: resource, in: original, options)
            }
            guard let hit = found else { return nil }
            if hit.bytes == nil, let path = hit.record.path, hit.record.byteCount > BodySpool.memoryLimit {
                return (hit, .file(path))
            }
            return (try? hit.bytes ?? original.loadBytes(of: hit.record, options: looking.storage).bytes).map {
                (hit, .bytes($0))
            }
        }
        guard let (hit, content) = found else { return nil }
        let record = hit.record
        let store = PendingStore(
            content: content, key: engine.lookup.ownKey(resource, options), cache: cache, source: resource.name,
            origin: record.origin, options: options.keepingOnlyCacheOptions.ofAnySize, needs: request.needs,
            patience: options.patience)
        do {
            var result = try await ImageStorer(engine: engine).verifyAndStore(store)
            result.cacheType = hit.cacheType
            return result
        } catch  where !record.isIntact(burst: 0) {
            // The file was removed while it was copied.
            return nil
        }
    }
}
