internal import Platform

/// The answer that a request would get, and why: a plain value.
public struct Explanation: Sendable, Equatable {
    /// What would be done.
    public enum Verdict: String, Sendable, CaseIterable {
        /// What is stored is answered.
        case answer
        /// What is stored is answered, though the request would have it checked: offline.
        case answerStale
        /// What is stored is answered, and loaded anew behind that.
        case answerAndRefresh
        /// The server is asked whether what is stored has changed.
        case revalidate
        /// The image is loaded.
        case load
        /// The request fails.
        case fail
    }

    /// The key under which the image is kept.
    public var key: String
    /// Where the image is on disk, or would be.
    public var path: String
    /// Which tier has an image of the key whose time is not over.
    public var cacheType = CacheType.none
    /// When what is stored was stored, in seconds since 1970; nil when nothing is.
    public var storedAt: Int?
    /// When its time on disk is over; nil for never.
    public var expiresAt: Int?
    /// Whether what is stored is not as fresh as the request wants it; nil when nothing is.
    public var isStale: Bool?
    /// What would be done.
    public var verdict = Verdict.load
    /// Whether the network would be used.
    public var usesNetwork = false
    /// The URL that would be asked first; nil when none would.
    public var url: String?
    /// Why, step by step, each a sentence.
    public var reasons: [String] = []
    /// What the request would fail with, as far as that is known without asking anybody.
    public var error: ImageError?

    /// Nothing is known yet but the key.
    init(_ resource: Resource, path: String) {
        (key, self.path) = (resource.cacheKey, path)
        if ExactText(resource.url) != ExactText(resource.cacheKey) {
            reasons.append("The key is not the URL: it was given, or made by keyRules.")
        }
    }

    /// Takes over what is known of a stored image.
    mutating func note(_ record: ImageRecord, in cache: ImageCache) {
        path = record.path ?? path
        (storedAt, expiresAt) = (cache.disk.clock.wall(record.storedAt), record.expiresAt)
    }

    /// The same, but the request fails.
    func failing(_ error: ImageError, _ reason: String) -> Explanation {
        var failing = self
        (failing.verdict, failing.error) = (.fail, error)
        failing.reasons.append(reason)
        return failing
    }
}
