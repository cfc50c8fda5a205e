internal import Platform

/// An image that is to be fetched from the network: the request that is sent, and how its answer is stored.
///
/// A reference, for the job and its key hold it while they wait.
final class FetchPlan: Sendable {
    let resource: Resource
    let key: CacheKey
    let cache: ImageCache
    let request: DownloadRequest
    /// The request with all its options.
    let outgoing: OutgoingRequest
    let needs: ImageNeeds
    /// The stored image that the server is asked about.
    let storedCandidate: StoredCandidate?
    /// The time of the first attempt: a request that fails again and again waits once for other processes.
    let started: Int
    /// `true` when the image is fetched in the background, and stored only if the stored one is still there.
    let isRefresh: Bool
    /// The options that decide how the image is accepted and stored.
    let storing: ImageOptions

    /// - Throws: ``ImageError`` when the URL is not valid.
    init(
        _ resource: Resource, in cache: ImageCache, _ outgoing: OutgoingRequest, needs: ImageNeeds,
        storedCandidate: StoredCandidate? = nil, started: Int, isRefresh: Bool = false
    ) throws(ImageError) {
        (self.resource, self.cache, self.outgoing, self.needs) = (resource, cache, outgoing, needs)
        (self.storedCandidate, self.started, self.isRefresh) = (storedCandidate, started, isRefresh)
        key = CacheKey(resource.cacheKey)
        request = try DownloadRequest(
            url: outgoing.url, options: outgoing.options.network, validators: storedCandidate?.validators)
        storing = outgoing.options.keepingOnlyCacheOptions
    }

    /// The key by which others share the job.
    var jobKey: JobKey { .load(JobKey.Load(plan: self)) }

    /// `true` when what comes is kept nowhere, and serves every request for the same as long as it is in use.
    var isHeldWhileUsed: Bool {
        let options = outgoing.options
        return options.storage.keepsNothing && !options.lookup.forceRefresh
            && options.network.merges && (options.lookup.revalidate ?? .never) == .never && storedCandidate == nil
            && request.delegates == nil && request.method == .get
    }

    /// Forgets what is stored for URLs at which the request, which is no GET, has changed something (RFC 9111, 4.4), if the
    /// request goes by HTTP. Waits for the disk.
    ///
    /// - Parameter keepsOwn: `true` when the entry under the request's own key is left for the answer that replaces it.
    func forget(_ urls: [String], keepsOwn: Bool) throws {
        guard !urls.isEmpty, outgoing.options.lookup.revalidate == .http else { return }
        let keys = Set(urls.map { CacheKey(cache.resource($0).cacheKey) })
        for key in keys where !keepsOwn || key != self.key { _ = try cache.remove(key, allVariants: true) }
    }
}

extension DownloadRequest {
    /// The identity of the download of an image for a key, among all processes.
    ///
    /// - Parameter inMemory: `true` when the image goes to memory alone, where callers that want a file do not find it.
    func flight(to key: CacheKey, inMemory: Bool = false) -> Digest {
        identity(at: [key.key, key.identifier], marks: inMemory ? ["MEMORY"] : [])
    }
}

extension ImageOptions {
    /// The request's own `Cache-Control`.
    var cacheControl: CacheControl? {
        self.network.request.headers.isEmpty ? nil : CacheControl(of: self.network.request.headers)
    }

    /// `true` when nothing may be loaded from the network, as the options or, where header fields count, the request says.
    var staysInCache: Bool {
        self.lookup.onlyFromCache || self.lookup.revalidate == .http && cacheControl?.onlyIfCached == true
    }
}
