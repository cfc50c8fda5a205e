internal import Downloading
internal import Platform

extension ImageCache {
    /// The options, with the cache's settings for those that are not given.
    ///
    /// - Parameter downloader: The downloader of what is loaded, for its timeout and rules; `nil` leaves them open.
    func completed(_ options: ImageOptions, for downloader: ImageDownloader? = nil) -> ImageOptions {
        let rules = downloader?.rulesNumber ?? options.network.transfer.rulesNumber
        if options.lookup.revalidate != nil, options.lookup.negativeCache != nil, options.lookup.verifyDecode != nil,
            options.network.limits.timeout != nil || downloader == nil, options.network.transfer.rulesNumber == rules
        {
            return options
        }
        let defaults = RequestDefaults(
            revalidate: revalidation, negativeCache: negativeCache, verifiesDecode: verifiesDecode(options),
            timeout: downloader?.timeout, rulesNumber: rules)
        return defaults.completed(options)
    }

    /// `true` when images are answered only after complete decoding.
    public func verifiesDecode(_ options: ImageOptions) -> Bool { options.lookup.verifyDecode ?? verifiesDecode }

    func revalidation(_ options: ImageOptions) -> Revalidation { options.lookup.revalidate ?? revalidation }

    /// The resource of a URL, with the cache's key for it or for the given text.
    public func resource(_ url: String, key text: String? = nil) -> Resource {
        let resource = Resource(url: url)
        return Resource(url: resource.url, cacheKey: key(of: text ?? resource.url))
    }
}

/// The settings that complete the options of a request.
private struct RequestDefaults: Equatable {
    let revalidate: Revalidation
    let negativeCache: Int
    let verifiesDecode: Bool
    let timeout: Double?
    let rulesNumber: Int

    /// The last completed defaults, shared by the many requests without options; no caller's values are kept.
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
            fields.network.transfer.rulesNumber = rulesNumber
        }
        return options
    }
}
