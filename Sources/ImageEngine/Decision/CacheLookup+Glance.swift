internal import Platform

/// The immediate result of a cache look-up.
public enum CacheGlance: Sendable {
    /// The image is cached, and the options allow it as the answer.
    case found(ImageResult)
    /// Neither tier has the image.
    case missing
    /// The look-up would take longer, or the options need more than the cache has at hand.
    case unknown
}

extension CacheLookup {
    /// See ``ImageManager/glance(at:in:options:needs:burst:)``.
    func glance(
        at resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds, burst: UInt64
    ) throws(ImageError) -> CacheGlance {
        if options.lookup.forceRefresh { return .unknown }
        let isMade = !options.processing.recipe.isEmpty
        let request = OutgoingRequest(url: resource.url, options: options)
        let isPlain = scopes.isPlain(request)
        let own = isPlain ? CacheKey(resource.cacheKey) : scopes.ownKey(resource.cacheKey, of: request)
        // An image of a remembered login is answered first.
        if !isPlain, scopes.keys(resource.cacheKey, for: request).first != own { return .unknown }
        let key = isMade ? options.processing.recipe.cacheKey(own) : own
        let mode = resource.isOnNetwork ? cache.revalidation(options) : .never
        if isMade ? mode != .never : mode == .always { return .unknown }
        let verifies = !isMade && cache.verifiesDecode(options)
        let needsBytes = needs.contains(.bytes) || options.storage.queryDataWhenInMemory
        // If bytes must be read, the slow path handles all of it, so that the hit is counted once.
        if needsBytes, !cache.holdsBytes(key) { return .unknown }
        let seen: Lookup<ImageCache.Hit>
        do throws(ImageError) {
            seen = try cache.look(for: key, options: options.storage, burst: burst, mayWait: false)
        } catch .storageFailed { return .unknown }
        let hit: ImageCache.Hit
        switch seen {
        case .found(let found): hit = found
        case .missing: return isMade || !isPlain ? .unknown : .missing
        case .unsettled: return .unknown
        }
        // The bytes in memory belonged to a file that another process has replaced.
        if needsBytes, hit.bytes == nil { return .unknown }
        // Its file must be written.
        if needs.wantsFile, hit.lacksFile(for: options.storage) { return .unknown }
        if isMade {
            if !isCurrent(hit.record, of: resource, own, for: cache, options, burst: burst) { return .unknown }
        } else if verifies, hit.record.decodeVerdict != .sound {
            return .unknown
        }
        var isIntegral = true
        if let integrity = options.lookup.integrity {
            let told = isMade ? integrity.allowsOriginal(of: hit.record) : integrity.allowsAtOnce(hit)
            guard let told else { return .unknown }
            isIntegral = told
        }
        let policy = policy(resource, options, mode: mode)
        let isForeign = key.partition.isEmpty ? nil : false
        guard isFresh(hit, for: request, in: cache, policy, isForeign: isForeign, isIntegral: isIntegral) else {
            return .unknown
        }
        counts.count(hit.cacheType)
        return .found(ImageResult(cache.used(hit, options.storage), in: cache, options))
    }
}
