internal import Platform

/// The reason why an image could not be delivered.
///
/// Cancellation is not among them: it surfaces as `CancellationError`.
public enum ImageError: Error, Equatable, Sendable {
    /// The bytes are not a readable image, or are truncated. `reason` is a sentence, `sample` the beginning of what was
    /// delivered.
    case badData(reason: String, source: String, sample: ContentSample? = nil)
    /// `dataModifier` could not decode the downloaded body. `reason` is a sentence.
    case dataModifyingFailed(reason: String, source: String)
    /// The server answered 304 to a request without validators.
    case notModified(url: String)
    /// The server answered with a status that is not accepted.
    ///
    /// `retryAfter` is the number of seconds to wait that the server asked for, if it did.
    case invalidStatusCode(Int, url: String, retryAfter: Double? = nil)
    /// The image is not in the cache; or, with the URL that it would have been loaded from, nothing there may answer the request.
    case notCached(key: String, url: String? = nil)
    /// The image is not in the cache, or must not answer the request, and the network is switched off.
    case offline(key: String, url: String)
    /// A failure of an earlier load that is still remembered.
    indirect case remembered(ImageError)
    /// A processor failed. `reason` is a sentence.
    case processingFailed(reason: String)
    /// A limit was exceeded. `limit` is the option or flag that raises it, or the name of a fixed limit.
    case limitExceeded(limit: String, reason: String, source: String)
    /// The text is not a URL that can be loaded. `reason` is a sentence.
    case invalidURL(String, reason: String)
    /// The file cannot be read: there is none, it may not be read, or it is not a regular file. `reason` is a sentence.
    case unreadableFile(url: String, reason: String)
    /// The server could not be reached, or closed the connection early. `reason` is a sentence.
    case connectionFailed(url: String, reason: String)
    /// The transfer was silent for `timeout` seconds, slower than `minBytesPerSecond`, or took longer than `deadline`
    /// seconds altogether.
    case timedOut(url: String, option: String, seconds: Double)
    /// The certificate was rejected, or the TLS handshake failed. `reason` is a sentence.
    case tlsFailed(url: String, reason: String)
    /// The configuration forbids the host or the network.
    case forbiddenAddress(url: String, reason: String)
    /// A delegate cancelled the download when it was asked about the request or for credentials.
    case downloadCancelledBeforeStarting(url: String)
    /// Several attempts or sources failed. The first error counts; the others only accompany it.
    case afterAttempts([Attempt])
    /// The cache folder cannot be used; `hint` says what to do about it.
    case storageFailed(reason: String, hint: String, cause: StorageCause = .lasting)
    /// The image was to be stored and no tier keeps it. The error says what happened.
    indirect case notStored(NotStoredReason, ImageError)
}

extension ImageError {
    /// One of several failed attempts.
    public struct Attempt: Sendable, Equatable {
        /// The URL of the source.
        public let url: String
        /// The reason of the failure.
        public let error: ImageError
        /// The duration in seconds, including the wait in the queue.
        public let seconds: Double
        /// The number of bytes of the body that had been received.
        public let bytes: Int

        /// Creates a failed attempt.
        public init(url: String, error: ImageError, seconds: Double = 0, bytes: Int = 0) {
            (self.url, self.error, self.seconds, self.bytes) = (url, error, seconds, bytes)
        }

        /// The status that was not accepted, if that is the reason of the failure.
        public var status: Int? { error.first.statusCode }
    }

    /// The error that counts: that of the first attempt when there are several.
    public var first: ImageError {
        if case .afterAttempts(let attempts) = self { attempts.first?.error.first ?? self } else { self }
    }

    /// Joins failed attempts into one error. A single attempt yields its own error.
    package static func joined(_ attempts: [Attempt]) -> ImageError {
        guard let first = attempts.first else { return .invalidURL("", reason: "There is no source.") }
        return attempts.count == 1 ? first.error : .afterAttempts(attempts)
    }

    /// The status code that was not accepted, if that is the error.
    package var statusCode: Int? {
        if case .invalidStatusCode(let status, _, _) = self { status } else { nil }
    }

    /// The reason why no tier keeps the image that one of the attempts has loaded; `nil` when none has.
    package var notStoredReason: NotStoredReason? {
        switch self {
        case .notStored(let reason, _): reason
        case .afterAttempts(let attempts): attempts.lazy.compactMap(\.error.notStoredReason).first
        default: nil
        }
    }

    /// The number of seconds to wait that the server asked for, if it did.
    public var retryAfter: Double? {
        if case .invalidStatusCode(_, _, let seconds) = self { seconds } else { nil }
    }

    /// The error when it is repeated so many seconds later: as much less is left of ``retryAfter``, in whole seconds.
    package func repeated(after seconds: Double) -> ImageError {
        guard case .invalidStatusCode(let status, let url, let wanted?) = self else { return self }
        return .invalidStatusCode(status, url: url, retryAfter: max(wanted - seconds, 0).rounded(.up))
    }
}

extension ImageError: CustomStringConvertible {
    /// The sentence shown to users: what happened, to which image, and what to change.
    public var description: String {
        switch self {
        case .badData(let reason, let source, _): "\(source.excerpt) is not a usable image: \(reason)"
        case .dataModifyingFailed(let reason, let source):
            "\(source.excerpt) is not what dataModifier expects: \(reason)"
        case .notModified(let url):
            "\(url.excerpt) answered 304, not modified, to a request without conditions (leave If-None-Match and the like out of headers)."
        case .invalidStatusCode(let code, let url, let seconds?):
            "Cannot download \(url.excerpt): the server answered \(code), and asks for no request in the next \(seconds.shortest) s."
        case .afterAttempts(let attempts):
            attempts.isEmpty ? "Nothing was tried." : "\(first) (\(attempts.count) attempts failed.)"
        case .invalidStatusCode(401, let url, nil):
            "Cannot download \(url.excerpt): the server answered 401: it requires credentials, or rejects these (set authorization)."
        case .invalidStatusCode(407, let url, nil):
            "Cannot download \(url.excerpt): a proxy answered 407: it requires credentials, or rejects these (set them in the URL of the setting proxy)."
        case .invalidStatusCode(let code, let url, nil): "Cannot download \(url.excerpt): the server answered \(code)."
        case .notCached(let key, nil): "\(key.excerpt) is not in the cache."
        case .notCached(let key, _?):
            "\(key.excerpt) is not in the cache, or must not answer this request, which allows only the cache."
        case .offline(let key, _):
            "\(key.excerpt) is not in the cache, or must not answer this request, and nothing is loaded while the option or setting offline is on."
        case .remembered(let error), .notStored(_, let error): error.description
        case .processingFailed(let reason): reason
        case .limitExceeded("redirect", let reason, let source): "\(source.excerpt): \(reason)."
        case .limitExceeded(_, let reason, let source) where reason.hasPrefix(Self.redirectsInCircle):
            "\(source.excerpt): \(reason)."
        case .limitExceeded("headerBytes", let reason, let source),
            .limitExceeded(Self.decompressionRatio, let reason, let source):
            "\(source.excerpt): \(reason). That limit is fixed."
        case .limitExceeded(let limit, let reason, let source): "\(source.excerpt): \(reason) (raise \(limit))."
        case .invalidURL(let text, let reason): "Cannot load \(text.quotedExcerpt): \(reason)"
        case .unreadableFile(let url, let reason): "Cannot read \(url.excerpt): \(reason)"
        case .connectionFailed(let url, let reason): "Cannot download \(url.excerpt): \(reason)"
        case .timedOut(let url, "deadline", let seconds):
            "Cannot download \(url.excerpt): it took longer than \(seconds.shortest) s (raise deadline)."
        case .timedOut(let url, "minBytesPerSecond", let seconds):
            "Cannot download \(url.excerpt): for \(seconds.shortest) s it was too slow (lower minBytesPerSecond)."
        case .timedOut(let url, _, let seconds):
            "Cannot download \(url.excerpt): no bytes came for \(seconds.shortest) s (raise timeout)."
        case .tlsFailed(let url, let reason): "Cannot download \(url.excerpt) safely: \(reason)"
        case .forbiddenAddress(let url, let reason): "\(url.excerpt) may not be loaded: \(reason)"
        case .downloadCancelledBeforeStarting(let url):
            "The download of \(url.excerpt) was cancelled by the client's answer."
        case .storageFailed(let reason, let hint, _): "The cache cannot be used: \(reason) \(hint)"
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
        case .remembered(let error), .notStored(_, let error): error.name
        case .processingFailed: "processingFailed"
        case .limitExceeded: "limitExceeded"
        case .invalidURL: "invalidURL"
        case .unreadableFile: "unreadableFile"
        case .connectionFailed: "connectionFailed"
        case .timedOut: "timedOut"
        case .tlsFailed: "tlsFailed"
        case .forbiddenAddress: "forbiddenAddress"
        case .downloadCancelledBeforeStarting: "downloadCancelledBeforeStarting"
        case .storageFailed: "storageFailed"
        case .afterAttempts(let attempts): attempts.isEmpty ? "connectionFailed" : first.name
        }
    }

    /// The beginning of the reason when redirects lead back to an earlier URL. No limit helps then, so the sentence
    /// names none.
    package static let redirectsInCircle = "it redirects in a circle"

    /// The fixed limit of what is made of a compressed body.
    package static let decompressionRatio = "decompressionRatio"

    /// `true` when the same request may succeed later without a change.
    public var isRetryable: Bool {
        switch self {
        case .connectionFailed, .timedOut: true
        case .afterAttempts(let attempts): !attempts.isEmpty && first.isRetryable
        case .notStored(_, let error): error.isRetryable
        case .storageFailed(_, _, let cause): cause != .lasting
        case .invalidStatusCode(let code, _, _): [408, 425, 429, 500, 502, 503, 504].contains(code)
        default: false
        }
    }
}

/// The beginning of bytes that are not a usable image. It shows whoever receives the error what was delivered instead.
public struct ContentSample: Sendable, Equatable {
    /// The media type by signature; nil when there are no bytes.
    public let type: String?
    /// The first bytes, at most 32.
    public let firstBytes: [UInt8]
    /// The media type that the server declared.
    public let contentType: String?

    package init(type: String? = nil, firstBytes: [UInt8] = [], contentType: String?) {
        (self.type, self.firstBytes, self.contentType) = (type, firstBytes, contentType)
    }
}
