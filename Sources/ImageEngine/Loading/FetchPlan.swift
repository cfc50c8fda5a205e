internal import Platform

/// The plan to fetch an image: the request that is sent, and the storage of the response.
///
/// A class, because the job and its key share it while they wait.
final class FetchPlan: Sendable {
    let resource: Resource
    let key: CacheKey
    let cache: ImageCache
    let request: DownloadRequest
    /// All options of the request.
    let options: ImageOptions
    /// `true` when a delegate has been asked about the request.
    let wasAsked: Bool
    let needs: ImageNeeds
    /// `true` when the image is fetched in the background, and stored only if the stored one still exists.
    let isRefresh: Bool
    /// The stored image to revalidate.
    let storedCandidate: StoredCandidate?
    /// The time of the first attempt, in nanoseconds; the attempts of a request wait for other processes once in total.
    let started: Int
    /// The options that decide on acceptance and storage.
    let storing: ImageOptions
    let hash: Int

    /// The request as it is sent.
    var outgoing: OutgoingRequest { OutgoingRequest(url: request.url, options: options, wasAsked: wasAsked) }

    /// - Parameter key: The entry that the response goes to, unless the download is asked for further credentials.
    /// - Throws: ``ImageError`` when the URL is not valid.
    init(
        _ resource: Resource, _ key: CacheKey, in cache: ImageCache, _ outgoing: OutgoingRequest, needs: ImageNeeds,
        storedCandidate: StoredCandidate? = nil, started: Int, isRefresh: Bool = false
    ) throws(ImageError) {
        (self.resource, self.cache, self.needs) = (resource, cache, needs)
        (options, wasAsked) = (outgoing.options, outgoing.wasAsked)
        (self.storedCandidate, self.started, self.isRefresh) = (storedCandidate, started, isRefresh)
        self.key = key
        request = try DownloadRequest(
            url: outgoing.url, options: outgoing.options.network, validators: storedCandidate?.validators)
        storing = outgoing.options.keepingOnlyCacheOptions
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(request)
        hash = hasher.finalize()
    }

    /// `true` when the image is not stored, and answers equal requests as long as it is in use.
    var isHeldWhileUsed: Bool {
        options.storage.keepsNothing && !options.lookup.forceRefresh
            && options.network.merges && (options.lookup.revalidate ?? .never) == .never && storedCandidate == nil
            && request.delegates == nil && request.method == .get
    }

    /// Removes the entries of URLs whose resources the request, which is not a GET, has changed (RFC 9111, 4.4), if the
    /// request follows HTTP. Waits for the disk.
    ///
    /// - Parameter keepsOwn: `true` when the entry with the request's own key stays until the response replaces it.
    func forget(_ urls: [String], keepsOwn: Bool) throws {
        guard !urls.isEmpty, options.lookup.followsHTTP else { return }
        let keys = Set(urls.map { CacheKey(cache.resource($0).cacheKey) })
        for key in keys where !keepsOwn || ExactText(key.key) != ExactText(self.key.key) {
            _ = try cache.remove(key, allVariants: true)
        }
    }
}

extension DownloadRequest {
    /// The identity, among all processes, of the download of an image for a key.
    ///
    /// - Parameter inMemory: `true` when only memory stores the image; callers that need a file do not find it there.
    func flight(to key: CacheKey, inMemory: Bool = false) -> Digest {
        identity(
            at: [key.key, key.identifier] + (key.partition.isEmpty ? [] : [key.partition]),
            marks: inMemory ? ["MEMORY"] : [])
    }
}

extension ImageOptions {
    /// The request's own `Cache-Control`.
    var cacheControl: CacheControl? {
        self.network.request.headers.isEmpty ? nil : CacheControl(of: self.network.request.headers)
    }
}
