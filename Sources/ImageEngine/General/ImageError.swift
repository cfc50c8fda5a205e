/// Why an image could not be had.
///
/// Cancellation is no error of ours: it surfaces as `CancellationError`.
public enum ImageError: Error, Equatable, Sendable {
    /// The bytes are no image that we can read, or are cut off; `reason` is a sentence.
    case badData(reason: String, source: String)
    /// A 304 came to a request that carried no validator.
    case notModified(url: String)
    /// The server answered with a status that is not accepted.
    case invalidStatusCode(Int, url: String)
    /// Only the cache was to be asked, and it has nothing.
    case notCached(key: String)
    /// Nothing is to be loaded from the network, and the cache has nothing.
    case offline(key: String)
    /// A failure of before, which is remembered.
    indirect case remembered(ImageError)
    /// A processor could not do its work; `reason` is a sentence.
    case processingFailed(reason: String)
    /// A limit was passed; `limit` is the option or flag that raises it.
    case limitExceeded(limit: String, reason: String, source: String)
    /// The text is no URL we may load; `reason` is a sentence.
    case invalidURL(String, reason: String)
    /// The server could not be reached, or left early; `reason` is a sentence.
    case connectionFailed(url: String, reason: String)
    /// Nothing came for `timeout` seconds, or the whole took longer than `deadline` seconds.
    case timedOut(url: String, option: String, seconds: Double)
    /// The certificate or the handshake failed; `reason` is a sentence.
    case tlsFailed(url: String, reason: String)
    /// The configuration does not allow the host or network.
    case forbiddenAddress(url: String, reason: String)
    /// A request modifier vetoed the request.
    case downloadCancelledBeforeStarting(url: String)
    /// The cache folder cannot be used; `hint` says what to do about it.
    case storageFailed(reason: String, hint: String)
}

extension ImageError: CustomStringConvertible {
    /// What happened, to which thing, and what to change. Shown to users as it is.
    public var description: String {
        switch self {
        case .badData(let reason, let source): "\(source.excerpt) is no usable image: \(reason)"
        case .notModified(let url): "\(url.excerpt) answered 304 to a request without a validator."
        case .invalidStatusCode(let code, let url): "Cannot download \(url.excerpt): the server answered \(code)."
        case .notCached(let key): "\(key.excerpt) is not in the cache, and only the cache was to be asked."
        case .offline(let key):
            "\(key.excerpt) is not in the cache, and nothing is loaded while the option or setting offline is on."
        case .remembered(let error): error.description
        case .processingFailed(let reason): reason
        case .limitExceeded(let limit, let reason, let source): "\(source.excerpt): \(reason) (raise \(limit))."
        case .invalidURL(let text, let reason): "Cannot load \"\(text.excerpt)\": \(reason)"
        case .connectionFailed(let url, let reason): "Cannot download \(url.excerpt): \(reason)"
        case .timedOut(let url, let option, let seconds):
            option == "deadline"
                ? "Cannot download \(url.excerpt): it took longer than \(seconds.shortest) s (raise deadline)."
                : "Cannot download \(url.excerpt): nothing came for \(seconds.shortest) s (raise timeout)."
        case .tlsFailed(let url, let reason): "Cannot download \(url.excerpt) safely: \(reason)"
        case .forbiddenAddress(let url, let reason): "\(url.excerpt) may not be loaded: \(reason)"
        case .downloadCancelledBeforeStarting(let url): "The download of \(url.excerpt) was vetoed before it started."
        case .storageFailed(let reason, let hint): "The cache cannot be used: \(reason) \(hint)"
        }
    }

    /// Whether the same request may succeed later without a change.
    public var isRetryable: Bool {
        switch self {
        case .connectionFailed, .timedOut: true
        case .invalidStatusCode(let code, _): [408, 425, 429, 500, 502, 503, 504].contains(code)
        default: false
        }
    }
}

extension String {
    /// The text, shortened so that it can stand in a sentence; data URLs and keys may be megabytes long.
    var excerpt: String {
        utf8.count <= 200 ? self : String(decoding: utf8.prefix(160), as: UTF8.self) + "…"
    }
}

extension Double {
    /// The number without a fraction when it has none.
    var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int(self)) : description }
}
