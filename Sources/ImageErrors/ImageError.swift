internal import Platform

/// Why an image could not be had.
///
/// Cancellation is no error of ours: it surfaces as `CancellationError`.
public enum ImageError: Error, Equatable, Sendable {
    /// The bytes are no image that we can read, or are cut off; `reason` is a sentence, and `sample` what came instead.
    case badData(reason: String, source: String, sample: ContentSample? = nil)
    /// What was downloaded could not be turned into what `dataModifier` is to make of it; `reason` is a sentence.
    case dataModifyingFailed(reason: String, source: String)
    /// A 304 came to a request that carried no validator.
    case notModified(url: String)
    /// The server answered with a status that is not accepted.
    ///
    /// `retryAfter` is the number of seconds that it asked to be left alone, if it did.
    case invalidStatusCode(Int, url: String, retryAfter: Double? = nil)
    /// Only the cache was to be asked, and it has nothing.
    case notCached(key: String)
    /// Nothing is to be loaded from the network, and the cache has nothing.
    case offline(key: String)
    /// A failure of before, which is remembered.
    indirect case remembered(ImageError)
    /// A processor could not do its work; `reason` is a sentence.
    case processingFailed(reason: String)
    /// A limit was passed; `limit` is the option or flag that raises it, or the name of one that is fixed.
    case limitExceeded(limit: String, reason: String, source: String)
    /// The text is no URL we may load; `reason` is a sentence.
    case invalidURL(String, reason: String)
    /// The server could not be reached, or left early; `reason` is a sentence.
    case connectionFailed(url: String, reason: String)
    /// Nothing came for `timeout` seconds, or too little in so many; or the whole took longer than `deadline` seconds.
    case timedOut(url: String, option: String, seconds: Double)
    /// The certificate or the handshake failed; `reason` is a sentence.
    case tlsFailed(url: String, reason: String)
    /// The configuration does not allow the host or network.
    case forbiddenAddress(url: String, reason: String)
    /// A delegate, asked about the request or for credentials, called it off.
    case downloadCancelledBeforeStarting(url: String)
    /// Several attempts or sources failed; the first counts, and the others only stood by.
    case afterAttempts([Attempt])
    /// The cache folder cannot be used; `hint` says what to do about it.
    case storageFailed(reason: String, hint: String)
}

extension ImageError {
    /// One of several attempts that failed.
    public struct Attempt: Sendable, Equatable {
        /// The source.
        public let url: String
        /// Why it failed.
        public let error: ImageError
        /// How long it took, waits for a turn included.
        public let seconds: Double
        /// How many bytes of a body had come.
        public let bytes: Int

        /// A failed attempt.
        public init(url: String, error: ImageError, seconds: Double = 0, bytes: Int = 0) {
            self.url = url
            self.error = error
            self.seconds = seconds
            self.bytes = bytes
        }

        /// The status that was not accepted, if that is why it failed.
        public var status: Int? {
            if case .invalidStatusCode(let status, _, _) = error.first { status } else { nil }
        }
    }

    /// The one error that counts: of several attempts, the first's.
    public var first: ImageError {
        if case .afterAttempts(let attempts) = self { attempts.first?.error.first ?? self } else { self }
    }

    /// What several failed attempts come to; a single one is its own error.
    package static func joined(_ attempts: [Attempt]) -> ImageError {
        guard let first = attempts.first else { return .invalidURL("", reason: "There is no source.") }
        return attempts.count == 1 ? first.error : .afterAttempts(attempts)
    }

    /// The seconds that the server asked to be left alone, if it did.
    public var retryAfter: Double? {
        if case .invalidStatusCode(_, _, let seconds) = self { seconds } else { nil }
    }
}

extension ImageError: CustomStringConvertible {
    /// What happened, to which thing, and what to change. Shown to users as it is.
    public var description: String {
        switch self {
        case .badData(let reason, let source, _): "\(source.excerpt) is no usable image: \(reason)"
        case .dataModifyingFailed(let reason, let source):
            "\(source.excerpt) is not what dataModifier takes it for: \(reason)"
        case .notModified(let url):
            "\(url.excerpt) answered 304, not modified, to a request in which the cache had asked nothing of the kind (leave conditions, like If-None-Match, out of headers)."
        case .invalidStatusCode(let code, let url, let seconds?):
            "Cannot download \(url.excerpt): the server answered \(code), and asks to be left alone for \(seconds.shortest) s."
        case .afterAttempts(let attempts):
            attempts.isEmpty ? "Nothing was tried." : "\(first) (\(attempts.count) attempts failed.)"
        case .invalidStatusCode(401, let url, nil):
            "Cannot download \(url.excerpt): the server answered 401; it wants credentials, or others (set authorization)."
        case .invalidStatusCode(407, let url, nil):
            "Cannot download \(url.excerpt): a proxy answered 407; it wants credentials, or others (set them in the URL of the setting proxy)."
        case .invalidStatusCode(let code, let url, nil): "Cannot download \(url.excerpt): the server answered \(code)."
        case .notCached(let key): "\(key.excerpt) is not in the cache, and only the cache was to be asked."
        case .offline(let key):
            "\(key.excerpt) is not in the cache, and nothing is loaded while the option or setting offline is on."
        case .remembered(let error): error.description
        case .processingFailed(let reason): reason
        case .limitExceeded(_, let reason, let source) where reason.hasPrefix(Self.redirectsInCircle):
            "\(source.excerpt): \(reason)."
        case .limitExceeded("redirect", let reason, let source):
            "\(source.excerpt): \(reason) (set redirect to \"follow\")."
        case .limitExceeded("headerBytes", let reason, let source): "\(source.excerpt): \(reason). That limit is fixed."
        case .limitExceeded(let limit, let reason, let source): "\(source.excerpt): \(reason) (raise \(limit))."
        case .invalidURL(let text, let reason): "Cannot load \"\(text.excerpt)\": \(reason)"
        case .connectionFailed(let url, let reason): "Cannot download \(url.excerpt): \(reason)"
        case .timedOut(let url, "deadline", let seconds):
            "Cannot download \(url.excerpt): it took longer than \(seconds.shortest) s (raise deadline)."
        case .timedOut(let url, "minBytesPerSecond", let seconds):
            "Cannot download \(url.excerpt): for \(seconds.shortest) s it was too slow (lower minBytesPerSecond)."
        case .timedOut(let url, _, let seconds):
            "Cannot download \(url.excerpt): nothing came for \(seconds.shortest) s (raise timeout)."
        case .tlsFailed(let url, let reason): "Cannot download \(url.excerpt) safely: \(reason)"
        case .forbiddenAddress(let url, let reason): "\(url.excerpt) may not be loaded: \(reason)"
        case .downloadCancelledBeforeStarting(let url):
            "The download of \(url.excerpt) was called off by the client, which was asked about it."
        case .storageFailed(let reason, let hint): "The cache cannot be used: \(reason) \(hint)"
        }
    }

    /// The stable name of the error, as on the wire.
    public var name: String {
        switch self {
        case .badData: "badData"
        case .dataModifyingFailed: "dataModifyingFailed"
        case .notModified: "notModified"
        case .invalidStatusCode: "invalidStatusCode"
        case .notCached, .offline: "notCached"
        case .remembered(let failure): failure.name
        case .processingFailed: "processingFailed"
        case .limitExceeded: "limitExceeded"
        case .invalidURL: "invalidURL"
        case .connectionFailed: "connectionFailed"
        case .timedOut: "timedOut"
        case .tlsFailed: "tlsFailed"
        case .forbiddenAddress: "forbiddenAddress"
        case .downloadCancelledBeforeStarting: "downloadCancelledBeforeStarting"
        case .storageFailed: "storageFailed"
        case .afterAttempts(let attempts): attempts.isEmpty ? "connectionFailed" : first.name
        }
    }

    /// How the reason begins when redirects lead back to an earlier URL: no limit helps, so none is named.
    package static let redirectsInCircle = "it redirects in a circle"

    /// Whether the same request may succeed later without a change.
    public var isRetryable: Bool {
        switch self {
        case .connectionFailed, .timedOut: true
        case .afterAttempts(let attempts): !attempts.isEmpty && first.isRetryable
        case .invalidStatusCode(let code, _, _): [408, 425, 429, 500, 502, 503, 504].contains(code)
        default: false
        }
    }
}
