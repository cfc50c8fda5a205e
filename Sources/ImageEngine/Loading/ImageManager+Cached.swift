internal import Platform

/// Images that a cache has.
extension ImageManager {
    /// What a look into a cache tells at once.
    public enum Glance: Sendable {
        /// The image is there, and the options allow that answer.
        case found(ImageResult)
        /// Neither tier has it.
        case missing
        /// That takes longer to tell, or the options want more than what is there.
        case unknown
    }

    /// The image, if a cache has it and the options allow that answer; see ``glance(at:in:options:needsBytes:burst:)``.
    public func cachedImage(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> ImageResult? {
        switch try glance(at: resource, in: cache, options: options, needsBytes: needsBytes, burst: burst) {
        case .found(let image): image
        case .missing, .unknown: nil
        }
    }

    /// Whether a cache has the image. Takes no more than an index lookup.
    ///
    /// - Parameter needsBytes: Answers only if memory holds the bytes.
    public func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> Glance {
        if options.lookup.forceRefresh { return .unknown }
        let isMade = !options.processing.recipe.isEmpty
        let key = isMade ? options.processing.recipe.cacheKey(resource.cacheKey) : CacheKey(resource.cacheKey)
        let mode = resource.isOnNetwork ? cache.revalidation(options) : .never
        if isMade ? mode != .never : mode == .always { return .unknown }
        // Memory would take note of it here, and it would be answered from there when its server has been asked.
        if mode == .http, cache.memory.peek(key) == nil { return .unknown }
        // An image that has to be decoded first is not promoted here, and is counted when it is answered.
        let verifies = !isMade && cache.verifiesDecode(options)
        if verifies, cache.memory.peek(key)?.record.decodeVerdict != .sound { return .unknown }
        // Bytes that must be read take the other way from the start, so that the hit is counted once.
        if needsBytes, !cache.holdsBytes(key) { return .unknown }
        guard let seen = try cache.look(for: key, options: options.storage, burst: burst, mayWait: false) else {
            return .unknown
        }
        guard let hit = seen else { return isMade ? .unknown : .missing }
        // What memory held was of a file that another process has replaced.
        if needsBytes, hit.bytes == nil { return .unknown }
        // Only in memory, but wanted as a file from now on: that takes writing.
        if hit.record.path == nil, !options.storage.cacheMemoryOnly { return .unknown }
        if isMade {
            if !isCurrent(hit.record, of: resource, for: cache, options) { return .unknown }
        } else if verifies, hit.record.decodeVerdict != .sound {
            return .unknown
        }
        guard isFreshAnswer(hit, to: resource, in: cache, options, mode, isMade: isMade) else { return .unknown }
        count(hit.cacheType)
        return .found(result(hit, in: cache, options))
    }

    /// `true` when the decision about an image that has been found is to answer with it, as far as that can be told without
    /// reading its file.
    private func isFreshAnswer(
        _ hit: ImageCache.Hit, to resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ mode: Revalidation, isMade: Bool
    ) -> Bool {
        var isIntegral = true
        if let integrity = options.lookup.integrity {
            let told = isMade ? integrity.allowsOriginal(of: hit.record) : integrity.allowsAtOnce(hit)
            guard let told else { return false }
            isIntegral = told
        }
        let policy = RetrievalPolicy(mode: mode, wanted: mode == .http ? options.cacheControl : nil)
        let entry = entry(
            of: ImageCache.Candidate(hit: hit), as: OutgoingRequest(url: resource.url, options: options), in: cache,
            policy, isIntegral: isIntegral)
        return policy.decision(for: entry).isFreshAnswer
    }

    func result(_ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions) -> ImageResult {
        let record = options.storage.cacheMemoryOnly && hit.record.path != nil ? hit.record.withoutFile() : hit.record
        return ImageResult(
            record: record, cache: cache.name, cacheType: hit.cacheType, bytes: hit.bytes, entry: hit.entry)
    }

    /// The answer with what was found; writes its file if memory alone has it and the options want it on disk.
    func answer(
        _ hit: ImageCache.Hit, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds
    ) throws -> ImageResult {
        var result = result(hit, in: cache, options)
        if hit.record.path == nil, !options.storage.cacheMemoryOnly, let bytes = hit.bytes {
            var storing = ImageOptions()
            storing.storage = options.storage
            storing.storage.queryDataWhenInMemory = true
            let store = PendingStore(
                content: .bytes(bytes), key: hit.record.key, cache: cache, source: hit.record.key.key,
                origin: hit.record.origin, options: storing, needs: needs)
            (result, result.cacheType) = (try storeNow(store), hit.cacheType)
        } else if options.storage.queryDataWhenInMemory {
            // A reader to come finds them in memory; that they cannot be read now is its business.
            result.admission = (try? cache.loadBytes(of: hit.record, options: options.storage))?.kept.admission
        }
        return result
    }

    /// The result with the bytes of its image, read now if need be.
    public func loadingBytes(of result: ImageResult, in cache: ImageCache, options: ImageOptions) async throws
        -> ImageResult
    {
        if result.bytes != nil { return result }
        return try await pool.runIfWanted {
            var loaded = result
            if let content = result.content {
                loaded.bytes = try ImageCache.bytes(of: content)
                return loaded
            }
            // The record handed out may have no path although there is a file (`cacheMemoryOnly`).
            let record = result.entry?.record ?? result.record
            let (bytes, kept) = try cache.loadBytes(of: record, options: options.storage)
            (loaded.bytes, loaded.entry, loaded.admission) = (bytes, kept.entry, kept.admission)
            return loaded
        }
    }
}
