/// An image that is to be fetched from the network: the request that is sent, and how its answer is stored.
struct FetchPlan: Sendable {
    let resource: Resource
    let key: CacheKey
    let cache: ImageCache
    let request: DownloadRequest
    /// The request with all its options.
    let outgoing: OutgoingRequest
    let needs: ImageNeeds
    /// The stored image that the server is asked about.
    let storedCandidate: ImageManager.StoredCandidate?
    /// The time of the first attempt: a request that fails again and again waits once for other processes.
    let started: Int
    /// `true` when the image is fetched in the background, and stored only if the stored one is still there.
    var isRefresh = false
    /// The options that decide how the image is accepted and stored.
    let storing: ImageOptions

    /// - Throws: ``ImageError`` when the URL is not valid.
    init(
        _ resource: Resource, in cache: ImageCache, _ outgoing: OutgoingRequest, needs: ImageNeeds,
        storedCandidate: ImageManager.StoredCandidate? = nil, started: Int
    ) throws(ImageError) {
        (self.resource, self.cache, self.outgoing, self.needs) = (resource, cache, outgoing, needs)
        (self.storedCandidate, self.started) = (storedCandidate, started)
        key = CacheKey(resource.cacheKey)
        request = try DownloadRequest(
            url: outgoing.url, options: outgoing.options.network, validators: storedCandidate?.validators)
        storing = outgoing.options.keepingOnlyCacheOptions
    }

    /// What makes others share the job.
    var jobKey: JobKey {
        .load(
            JobKey.Load(
                cache: cache.name, key: key, request: request, options: storing, needs: needs,
                variant: storedCandidate?.variant))
    }

    /// `true` when what comes is kept nowhere, and serves every request for the same as long as it is in use.
    var isHeldWhileUsed: Bool {
        let options = outgoing.options
        return options.storage.keepsNothing && !options.lookup.forceRefresh
            && options.network.merges && (options.lookup.revalidate ?? .never) == .never && storedCandidate == nil
            && request.delegates == nil && request.method == .get
    }
}
