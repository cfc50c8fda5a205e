internal import Platform

extension ImageCache {
    /// The options with the cache's own settings for what they leave open.
    ///
    /// - Parameter timeout: That of the downloader; left open when nil.
    func completed(_ options: ImageOptions, timeout: Double? = nil) -> ImageOptions {
        if options.lookup.revalidate != nil, options.lookup.negativeCache != nil, options.lookup.verifyDecode != nil,
            options.network.limits.timeout != nil || timeout == nil
        {
            return options
        }
        let defaults = RequestDefaults(
            revalidate: revalidation, negativeCache: negativeCache, verifiesDecode: verifiesDecode(options),
            timeout: timeout)
        return defaults.completed(options)
    }

    /// `true` when an image is answered only after it has been decoded completely.
    public func verifiesDecode(_ options: ImageOptions) -> Bool { options.lookup.verifyDecode ?? verifiesDecode }

    /// Whether and when a request revalidates a stored image.
    func revalidation(_ options: ImageOptions) -> Revalidation { options.lookup.revalidate ?? revalidation }

    /// What is loaded from `url`, with the key that it has here unless `key` says otherwise.
    public func resource(_ url: String, key text: String? = nil) -> Resource {
        Resource(url: url, cacheKey: key(of: text ?? url))
    }
}

/// The settings that complete the options of a request.
private struct RequestDefaults: Equatable {
    let revalidate: Revalidation
    let negativeCache: Int
    let verifiesDecode: Bool
    let timeout: Double?

    /// Most requests give no option; they share one copy of what comes of that. Nothing that a caller says is remembered.
    private static let last = LastValue<RequestDefaults, ImageOptions>()

    func completed(_ options: ImageOptions) -> ImageOptions {
        options.isStandard ? Self.last.value(for: self) { completing(options) } : completing(options)
    }

    private func completing(_ options: ImageOptions) -> ImageOptions {
        var options = options
        options.change { fields in
            fields.lookup.revalidate = fields.lookup.revalidate ?? revalidate
            fields.lookup.negativeCache = fields.lookup.negativeCache ?? Double(negativeCache)
            fields.lookup.verifyDecode = verifiesDecode
            fields.network.limits.timeout = fields.network.limits.timeout ?? timeout
        }
        return options
    }
}
