extension ImageLoader {
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
}
