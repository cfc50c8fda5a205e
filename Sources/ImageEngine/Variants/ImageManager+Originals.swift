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

    /// Does work on the original, from the cache or from its source.
    ///
    /// - Parameter isSecondTry: `true` when an original has gone already: this one is loaded so that nobody else can take it
    ///   away.
    func stepWithOriginal(
        _ request: ImageRequest, isSecondTry: Bool = false,
        _ work: @escaping @Sendable (Original) async throws -> ImageResult
    ) async throws -> RequestStep {
        let home = originals(for: request.cache, request.options)
        let isOwn = isSecondTry && !request.options.staysInCache && !isOffline(request.options)
        let loading = (isOwn ? request.with(request.options.keepingNoOriginal) : request).loadingOriginal(in: home)
        return try await firstStep(loading).then { [self] loaded in
            try await stepWithOriginal(loaded, by: loading, request, isSecondTry: isSecondTry, work)
        }
    }

    /// Does work on an original that was loaded. If its file goes on the way to the worker, the original is loaded once more.
    func stepWithOriginal(
        _ loaded: ImageResult, by loading: ImageRequest, _ request: ImageRequest, isSecondTry: Bool = false,
        _ work: @escaping @Sendable (Original) async throws -> ImageResult
    ) async throws -> RequestStep {
        let original = try await pool.run { [self] in
            try self.original(loaded, in: loading.cache, loading.options, mark: sourceMark(request.resource))
        }
        try Task.checkCancellation()
        do {
            return .answer(try await work(original))
        } catch ImageError.storageFailed where loaded.isGone && !isSecondTry {
            return try await stepWithOriginal(request, isSecondTry: true, work)
        }
    }

    /// The original as the answer, when nothing is to be done to it: kept as an image that is asked for as it is.
    func untouched(_ loaded: ImageResult, _ request: ImageRequest) async throws -> ImageResult {
        let (record, cache, options) = (loaded.record, request.cache, request.options)
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
                options: keeping, needs: request.needs))
        var result = kept
        result.cacheType = loaded.cacheType
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
