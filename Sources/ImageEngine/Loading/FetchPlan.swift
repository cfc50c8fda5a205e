extension ImageManager {
    /// One image that is to be loaded from the network, for all who want the same.
    final class FetchPlan: Sendable {
        let resource: Resource
        let key: CacheKey
        let cache: ImageCache
        let request: DownloadRequest
        /// The request with all its options.
        let outgoing: OutgoingRequest
        let needs: ImageNeeds
        /// What was found in the cache, if that is to be asked about.
        let storedCandidate: StoredCandidate?
        /// When the request was begun: one that fails again and again waits once.
        let started: Int
        /// Who joins in.
        let jobKey: JobKey

        init(
            resource: Resource, key: CacheKey, cache: ImageCache, request: DownloadRequest, outgoing: OutgoingRequest,
            needs: ImageNeeds, storedCandidate: StoredCandidate? = nil, started: Int
        ) {
            (self.resource, self.key, self.cache, self.request) = (resource, key, cache, request)
            (self.outgoing, self.needs, self.storedCandidate, self.started) = (
                outgoing, needs, storedCandidate, started
            )
            jobKey = JobKey(
                cache: cache.name, key: key, request: request, options: outgoing.options.keepingOnlyCacheOptions,
                needs: needs, variant: storedCandidate?.variant)
        }
    }
}
