internal import ImageRecipes
internal import Platform

/// The steps around a load: the allowed source, the request as changed by its delegate, and the failure image.
struct ImageLoader: Sendable {
    let engine: EngineServices

    /// The source of a URL, if its scheme is allowed. Of a request that a delegate or the rules of mirrors change, the
    /// downloader judges the scheme that is really requested.
    func source(of url: String, _ options: ImageOptions) throws(ImageError) -> ImageSource {
        let source = try ImageSource(url: url)
        guard let reason = engine.configuration.downloader.policy.refusal(scheme: URLParts.scheme(of: url) ?? "")
        else {
            return source
        }
        if case .network(let url) = source {
            if options.asksToModify { return source }
            let web = try WebURL(url)
            if try engine.downloader.rules.rewritten(HTTPRequest(web, RequestContent())).url.text != web.text {
                return source
            }
        }
        throw .invalidURL(url, reason: reason)
    }

    /// The error of a request for a URL whose scheme is switched off, whether or not its image is cached; `nil` for every other
    /// request, and for one that has other sources.
    func refusal(of resource: Resource, _ options: ImageOptions) -> ImageError? {
        guard engine.configuration.downloader.policy.allowedSchemes.count < NetworkPolicy.schemes.count,
            options.network.alternativeSources.isEmpty, let scheme = URLParts.scheme(of: resource.url),
            NetworkPolicy.schemes.contains(scheme)
        else { return nil }
        do throws(ImageError) { _ = try source(of: resource.url, options) } catch { return error }
        return nil
    }

    /// Throws for a request that must not be sent: offline, or with a remembered failure.
    func admit(
        _ request: DownloadRequest, key: String, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) {
        if engine.lookup.isOffline(options) { throw .offline(key: key, url: request.url) }
        try engine.failures.check(request, in: cache, options)
    }

    /// The request as changed by its delegate. Jobs are shared by the changed request; the cache key is the caller's.
    ///
    /// Each caller's delegate is asked before the caller may join a job, so that no caller waits for another delegate.
    ///
    /// - Throws: ``ImageError/downloadCancelledBeforeStarting(url:)`` when the delegate cancels it,
    ///   ``ImageError/invalidURL(_:reason:)`` when the new URL is not http.
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
        return OutgoingRequest(url: wanted.url, options: options, wasAsked: true)
    }

    /// The failure image, for an image that could not be loaded.
    ///
    /// - Throws: The original error when the failure image cannot be loaded either.
    func placeholder(
        _ name: String, for request: ImageRequest, after error: ImageError
    ) async throws -> ImageResult {
        let standIn = standIn(name, for: request.resource.url, request.options)
        do {
            var result = try await RequestPipeline(engine: engine).image(
                ImageRequest(
                    request.cache.resource(standIn.url), in: request.cache, options: standIn.options,
                    needs: request.needs, caller: request.caller))
            result.isPlaceholder = true
            return result
        } catch is ImageError {
            throw error
        }
    }

    /// The URL of the failure image for an image, and the options that count for it.
    func standIn(_ name: String, for original: String, _ options: ImageOptions) -> (url: String, options: ImageOptions)
    {
        let isURL = name.contains("://") || ["data", "file"].contains(URLParts.scheme(of: name))
        let url = isURL ? name : FileURL.text(absolutePath(name))
        var options = options.scoped(from: original, to: url)
        options.change { options in
            options.network.onFailureImage = nil
            options.network.alternativeSources = []
            options.network.dataModifier = nil
            (options.network.request.method, options.network.request.body) = (.get, nil)
            // The caller's `Cache-Control` is about the image, not about the failure image.
            options.network.request.headers = options.network.request.headers.filter {
                $0.key.lowercased() != "cache-control"
            }
            if !Resource(url: url).isOnNetwork { options.lookup.onlyFromCache = false }
            options.lookup.integrity = nil
            options.processing.recipe = ImageRecipe()
        }
        return (url, options)
    }
}
