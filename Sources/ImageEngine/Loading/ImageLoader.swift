internal import ImageRecipes
internal import Platform

/// The questions around a load: where an image may come from, what its delegate makes of the request, what stands in for it.
struct ImageLoader: Sendable {
    let engine: EngineServices

    /// The source that a URL names, if its scheme may be loaded from.
    func source(of url: String) throws(ImageError) -> ImageSource {
        let source = try ImageSource(url: url)
        if let reason = engine.configuration.downloader.policy.refusal(scheme: ImageSource.scheme(of: url)) {
            throw .invalidURL(url, reason: reason)
        }
        return source
    }

    /// Refuses a request that is not to be sent.
    func admit(
        _ request: DownloadRequest, _ key: CacheKey, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) {
        if engine.lookup.isOffline(options) { throw .offline(key: key.key) }
        try engine.failures.check(request, in: cache, options)
    }

    /// A request as its delegate wants it sent: where to and with which options. Merging sees only that; the cache key
    /// stays the caller's.
    ///
    /// Every caller is asked for itself, before it may join others: nobody waits for somebody else's delegate.
    ///
    /// - Throws: ``ImageError/downloadCancelledBeforeStarting(url:)`` when the delegate wants none,
    ///   ``ImageError/invalidURL(_:reason:)`` when it wants one that is not http.
    func modified(_ url: String, _ options: ImageOptions) async throws -> OutgoingRequest {
        guard let delegates = options.network.delegates, delegates.questions.contains(.modifyRequest) else {
            return OutgoingRequest(url: url, options: options)
        }
        let draft = DownloadDraft(
            url: url, headers: options.network.request.headers, method: options.network.request.method,
            body: options.network.request.body)
        guard let wanted = try await delegates.delegate.modify(draft) else {
            throw ImageError.downloadCancelledBeforeStarting(url: url)
        }
        try Task.checkCancellation()
        guard case .network = try ImageSource(url: wanted.url) else {
            throw ImageError.invalidURL(
                wanted.url, reason: "A request can only be changed to another of http or https.")
        }
        var options = options
        options.network.request.authorization = options.scoped(from: url, to: wanted.url).network.request.authorization
        options.network.request.headers = wanted.headers
        (options.network.request.method, options.network.request.body) = (wanted.method, wanted.body)
        options.network.delegates = delegates.without(.modifyRequest)
        return OutgoingRequest(url: wanted.url, options: options)
    }

    /// The image that stands in for one that could not be had.
    ///
    /// - Throws: The original error if the stand-in cannot be had either.
    func placeholder(
        _ standIn: String, for request: ImageRequest, after error: ImageError
    ) async throws -> ImageResult {
        let isURL = standIn.contains("://") || standIn.hasPrefix("data:") || standIn.hasPrefix("file:")
        let url = isURL ? standIn : FileURL.text(absolutePath(standIn))
        var options = request.options.scoped(from: request.resource.url, to: url)
        options.change { options in
            options.network.onFailureImage = nil
            options.network.alternativeSources = []
            options.network.dataModifier = nil
            (options.network.request.method, options.network.request.body) = (.get, nil)
            // What was asked of answers was asked of the image's.
            options.network.request.headers = options.network.request.headers.filter {
                $0.key.lowercased() != "cache-control"
            }
            options.lookup.onlyFromCache = false
            options.lookup.integrity = nil
            options.processing.recipe = ImageRecipe()
        }
        do {
            var result = try await RequestPipeline(engine: engine).image(
                ImageRequest(
                    request.cache.resource(url), in: request.cache, options: options, needs: request.needs,
                    caller: request.caller))
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }
}
