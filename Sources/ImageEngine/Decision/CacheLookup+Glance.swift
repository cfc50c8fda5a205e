internal import Platform

/// What a look into a cache tells at once.
public enum CacheGlance: Sendable {
    /// The image is there, and the options allow that answer.
    case found(ImageResult)
    /// Neither tier has it.
    case missing
    /// That takes longer to tell, or the options want more than what is there.
    case unknown
}

/// Hits that take no more than an index look-up.
extension CacheLookup {
    /// Tells whether a cache has an image that may be answered. Takes no more than an index look-up.
    ///
    /// - Parameter needsBytes: `true` to find the image only if memory holds its bytes.
    func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needsBytes: Bool, burst: UInt64
    ) throws(ImageError) -> CacheGlance {
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
        var isIntegral = true
        if let integrity = options.lookup.integrity {
            let told = isMade ? integrity.allowsOriginal(of: hit.record) : integrity.allowsAtOnce(hit)
            guard let told else { return .unknown }
            isIntegral = told
        }
        let request = OutgoingRequest(url: resource.url, options: options)
        let policy = policy(resource, options, mode: mode)
        guard isFresh(hit, for: request, in: cache, policy, isIntegral: isIntegral) else { return .unknown }
        counts.count(hit.cacheType)
        return .found(ImageResult(hit, in: cache, options))
    }
}
