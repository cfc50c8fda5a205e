internal import Platform

/// The answer that a request would get, and why: a plain value.
public struct Explanation: Sendable, Equatable {
    /// The kinds of action.
    public enum Verdict: String, Sendable, CaseIterable {
        /// The stored image is answered.
        case answer
        /// The stored image is answered although the request wanted it revalidated or loaded, for example offline.
        case answerStale
        /// The stored image is answered, and refreshed in the background.
        case answerAndRefresh
        /// The server is asked whether the stored image has changed.
        case revalidate
        /// The image is loaded.
        case load
        /// The request fails.
        case fail
    }

    /// The cache key of the image.
    public var key: String
    /// The path of the image's file, whether or not it exists.
    public var path: String
    /// The tier that has an unexpired image with the key.
    public var cacheType = CacheType.none
    /// The time when the image was stored, in seconds since 1970; `nil` when none is.
    public var storedAt: Int?
    /// The time when it expires on disk, in seconds since 1970; `nil` for never.
    public var expiresAt: Int?
    /// `true` when the stored image is not as fresh as the request wants; `nil` when none is stored.
    public var isStale: Bool?
    /// The action of the request.
    public var verdict = Verdict.load
    /// `true` when the network would be used.
    public var usesNetwork = false
    /// The first URL that would be requested; `nil` for none.
    public var url: String?
    /// The reasons, step by step, each a sentence.
    public var reasons: [String] = []
    /// The error of the request, as far as it is known without asking a server.
    public var error: ImageError?

    init(_ resource: Resource, path: String) {
        (key, self.path) = (resource.cacheKey, path)
        if !resource.url.isEmpty, ExactText(resource.url) != ExactText(resource.cacheKey) {
            reasons.append("The key is not the URL: it was given, or made by keyRules.")
        }
    }

    mutating func note(_ record: ImageRecord, in cache: ImageCache) {
        path = record.path ?? cache.disk.path(for: record.key)
        (storedAt, expiresAt) = (cache.disk.clock.wall(record.storedAt), record.expiresAt)
    }

    func failing(_ error: ImageError, _ reason: String) -> Explanation {
        var failing = self
        (failing.verdict, failing.error) = (.fail, error)
        failing.reasons.append(reason)
        return failing
    }
}
