internal import ImageRecipes
internal import Platform

/// A stored image for a request, and its description from the view of the request.
struct StoredImage: Sendable {
    var candidate: ImageCache.Candidate
    var entry: RetrievalPolicy.Entry
}

/// The choice among the entries that a key has for several users.
extension CacheLookup {
    /// The stored image of a key from the view of a request: of the entries that may answer, the first that is neither
    /// foreign nor useless because it is expired; else one that its server may permit to be answered.
    func stored(
        _ resource: Resource, for request: OutgoingRequest, in cache: ImageCache, _ policy: RetrievalPolicy,
        find: (CacheKey) throws(ImageError) -> ImageCache.Candidate?
    ) throws(ImageError) -> StoredImage? {
        let keys = scopes.keys(resource.cacheKey, for: request)
        var (foreign, expired): (StoredImage?, StoredImage?)
        for key in keys {
            guard let found = try find(key) else { continue }
            let entry = entry(of: found, as: request, in: cache, policy, isForeign: key.partition.isEmpty ? nil : false)
            let stored = StoredImage(candidate: found, entry: entry)
            if entry.isForeign {
                foreign = foreign ?? stored
            } else if found.expiredFor == nil || policy.usesExpired {
                return stored
            } else {
                expired = expired ?? stored
            }
        }
        if let expired { return expired }
        if foreign?.entry.mayBePermitted == true { return foreign }
        // A request without a user whose URL is not http names the entry itself, whosever it is.
        let takesAny =
            !resource.isOnNetwork && policy.onlyFromCache && request.options.lookup.user == .credentials
            && !scopes.hasUser(request)
        let mayLoad = resource.isOnNetwork && !policy.isForced && !policy.isOffline && !policy.staysInCache
        guard takesAny || mayLoad && scopes.hasUser(request) || request.options.asksToModify else { return foreign }
        for key in try cache.disk.entriesOfUsers(CacheKey(resource.cacheKey)) where !keys.contains(key) {
            if takesAny {
                guard let found = try find(key) else { continue }
                let entry = entry(of: found, as: request, in: cache, policy, isForeign: false)
                return StoredImage(candidate: found, entry: entry)
            }
            guard let record = try cache.disk.recordEvenExpired(key) else { continue }
            let found = ImageCache.Candidate(hit: ImageCache.Hit(record: record))
            let other = StoredImage(
                candidate: found, entry: entry(of: found, as: request, in: cache, policy, isForeign: true))
            if other.entry.mayBePermitted { return other }
            foreign = foreign ?? other
        }
        return foreign
    }

    /// The entries that may hold the image that a recipe makes of a resource for a request.
    func madeKeys(_ resource: Resource, _ options: ImageOptions) -> [CacheKey] {
        keys(resource, options).map(options.processing.recipe.cacheKey)
    }

    func keys(_ resource: Resource, _ options: ImageOptions) -> [CacheKey] {
        scopes.keys(resource.cacheKey, for: OutgoingRequest(url: resource.url, options: options))
    }

    /// The entry that the response to a request for a resource goes to.
    func ownKey(_ resource: Resource, _ options: ImageOptions) -> CacheKey {
        scopes.ownKey(resource.cacheKey, of: OutgoingRequest(url: resource.url, options: options))
    }

    /// `true` when no entry that may answer a request is stored, as far as that is known without waiting.
    func lacks(_ keys: [CacheKey], in cache: ImageCache) throws(ImageError) -> Bool {
        for key in keys where !cache.isStillMissing(key) {
            if try !cache.cacheType(for: key, burst: 0, mayWait: false).isMissing { return false }
        }
        return true
    }

    /// `true` when no entry that may answer a request is stored. Waits for the disk where that is not known at once.
    func lacks(
        _ keys: [CacheKey], in cache: ImageCache, patience: Double, on pool: BlockingPool
    ) async throws -> Bool {
        for key in keys where !cache.isStillMissing(key) {
            var tier = try cache.cacheType(for: key, burst: 0, mayWait: false)
            if case .unsettled = tier {
                tier = try await pool.runIfWanted {
                    try cache.cacheType(for: key, burst: 0, mayWait: true, patience: patience)
                }
            }
            if !tier.isMissing { return false }
        }
        return true
    }

    /// `true` when an entry that may answer a request is stored, as far as that is known without waiting.
    func has(_ keys: [CacheKey], in cache: ImageCache) throws(ImageError) -> Bool {
        for key in keys where try cache.cacheType(for: key, burst: 0, mayWait: false).value != nil { return true }
        return false
    }

    /// `true` when no entry that may answer a request is stored, even an expired one. Waits for the disk.
    func lacksEvenExpired(_ keys: [CacheKey], in cache: ImageCache) throws(ImageError) -> Bool {
        for key in keys {
            if try !cache.cacheType(for: key, burst: 0, mayWait: true).isMissing { return false }
            if try cache.disk.recordEvenExpired(key) != nil { return false }
        }
        return true
    }
}
