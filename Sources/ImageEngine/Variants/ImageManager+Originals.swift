internal import ImageRecipes

/// What images are made from.
extension ImageManager {
    /// An original, ready to be worked on.
    struct Original: Sendable {
        let result: ImageResult
        /// The file that the worker reads.
        let path: String
        /// The file, if it is there for the worker alone.
        let scratch: ScratchFile?
        /// Of the bytes of the original, also when this is something that was made of it.
        let mark: String
        /// What is still to be done, when it is something that was made of the original; nil for the original itself.
        var rest: ImageRecipe?
        /// The format of the original.
        var format: ImageFormat
        /// What tells the file from all others that work is done on.
        var workMark: String
        /// Where the original came from, and who may have it.
        var origin: ImageOrigin

        init(result: ImageResult, path: String, scratch: ScratchFile?, mark: String) {
            self.result = result
            self.path = path
            self.scratch = scratch
            self.mark = mark
            format = result.record.header.format
            workMark = mark
            origin = result.record.origin
        }

        /// Whether work on it may have failed only because its file went on its way to the worker, or is damaged.
        func isToBlame(for error: ImageError) -> Bool {
            switch error {
            case .badData: true
            case .storageFailed: result.isGone
            default: false
            }
        }
    }

    /// The cache that keeps the originals of what is made for `cache`.
    func originals(for cache: ImageCache, _ options: ImageOptions) -> ImageCache {
        options.lookup.originalCache.flatMap { self.cache($0) } ?? cache
    }

    /// The original: from the cache, else from its source, whence it is cached if the options want that.
    @inline(never)
    func original(
        of resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ caller: ImageCaller
    ) async throws -> Original {
        let home = originals(for: cache, options)
        let loading = options.loadingOriginal(of: resource)
        let result = try await image(
            resource, in: home, options: loading, needs: loading.needsOfOriginal, caller: caller)
        return try await pool.run { [self, loading] in
            try original(result, in: home, loading, mark: sourceMark(resource))
        }
    }

    /// Does work on the original; if that goes while it is on its way to the worker, once more, on one that nobody else can
    /// take away (E2-65).
    ///
    /// - Parameter isSecondTry: Whether one has gone already.
    @inline(never)
    func withOriginal<Value: Sendable>(
        of resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ caller: ImageCaller,
        isSecondTry: Bool = false, _ work: (Original) async throws -> Value
    ) async throws -> Value {
        if !isSecondTry {
            let original = try await original(of: resource, in: cache, options, caller)
            try Task.checkCancellation()
            do { return try await work(original) } catch ImageError.storageFailed where original.result.isGone {}
        }
        let mayLoad = !options.staysInCache && !isOffline(options)
        let own = try await original(of: resource, in: cache, mayLoad ? options.keepingNoOriginal : options, caller)
        try Task.checkCancellation()
        return try await work(own)
    }

    /// The original as the answer, when nothing is to be done to it: kept as an image that is asked for as it is.
    func untouched(
        _ loaded: ImageResult, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds
    ) async throws -> ImageResult {
        let record = loaded.record
        guard record.path == nil, loaded.cacheType == .none || !options.storage.cacheMemoryOnly else { return loaded }
        if let known = loaded.entry?.record, known.path != nil {
            var found = loaded
            found.record = known
            return found
        }
        guard let content = loaded.bytes.map({ .bytes($0) }) ?? loaded.content else { return loaded }
        var keeping = options.keepingOnlyCacheOptions
        (keeping.lookup.integrity, keeping.lookup.verifyDecode) = (nil, nil)
        let kept = try await storeLoaded(
            PendingStore(
                content: content, key: record.key, cache: cache, source: record.key.key, origin: record.origin,
                options: keeping, needs: needs))
        var result = ImageResult(
            record: kept.record, cache: cache.name, cacheType: loaded.cacheType, bytes: kept.bytes)
        (result.content, result.entry, result.admission) = (kept.content, kept.entry, kept.admission)
        (result.isStale, result.isRevalidated) = (loaded.isStale, loaded.isRevalidated)
        return result
    }

    /// An original with a file that can be read from elsewhere.
    ///
    /// - Parameter mark: Of its bytes; found out when nil.
    func original(
        _ result: ImageResult, in home: ImageCache, _ options: ImageOptions, mark: String?
    ) throws -> Original {
        let record = result.record
        if let path = record.path ?? result.entry?.record.path,
            let mark = mark ?? record.checksum.map(VariantSource.mark)
        {
            return Original(result: result, path: path, scratch: nil, mark: mark)
        }
        let content: DiskStorage.Content =
            if let bytes = result.bytes {
                .bytes(bytes)
            } else if let content = result.content {
                content
            } else {
                .bytes(try home.loadBytes(of: result.entry?.record ?? record, options: options.storage).bytes)
            }
        do {
            let draft = try spool.write(content, for: "original", syncs: false)
            return Original(
                result: result, path: draft.path, scratch: ScratchFile(draft.path),
                mark: mark ?? VariantSource.mark(draft.checksum))
        } catch { throw ImageError.storage(error, folder: spool.path) }
    }
}

extension ImageOptions {
    /// The options with an original that is loaded for this alone, and goes with it.
    fileprivate var keepingNoOriginal: ImageOptions {
        var own = self
        own.change { own in
            own.lookup.forceRefresh = true
            own.processing.cacheOriginalImage = false
        }
        return own
    }
}
