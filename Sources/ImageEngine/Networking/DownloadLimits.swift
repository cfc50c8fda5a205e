/// The bounds within which one caller wants a download: a plain value.
///
/// A transfer keeps to those of the caller who began it. Whoever shares it is held to its own: no one waits longer, or gets
/// more or else, than agreed to, and no one suffers from another's bounds.
struct DownloadLimits: Hashable, Sendable {
    /// Seconds to wait for the next bytes.
    let timeout: Double
    /// The slowest that is put up with, over two timeouts; 0 for any.
    let minBytesPerSecond: Double
    let maxBytes: Int
    let maxRedirects: Int
    /// The statuses that are accepted; when nil, 200…399 but 206. A 304 to an unconditional request is an error of its own.
    let validStatusCodes: Set<Int>?
    /// Media types of which the server must name one, if it names any.
    let acceptContentTypes: Set<String>?

    /// What the options say.
    init(_ options: ImageOptions) {
        timeout = Self.bounded(options.timeout ?? ImageDownloader.Configuration.defaultTimeout)
        minBytesPerSecond = Self.bounded(options.minBytesPerSecond, most: 1e9)
        maxBytes = options.maxBytes
        maxRedirects = options.maxRedirects
        validStatusCodes = options.validStatusCodes
        acceptContentTypes = options.acceptContentTypes
    }

    /// Sets what it is made of to what that is in `defaults`.
    static func reset(_ options: inout ImageOptions.Fields, to defaults: ImageOptions.Fields) {
        options.timeout = defaults.timeout
        options.minBytesPerSecond = defaults.minBytesPerSecond
        options.maxBytes = defaults.maxBytes
        options.maxRedirects = defaults.maxRedirects
        options.validStatusCodes = defaults.validStatusCodes
        options.acceptContentTypes = defaults.acceptContentTypes
    }

    /// A number that can be calculated with; what is none counts as 0.
    private static func bounded(_ number: Double, most: Double = 1e8) -> Double { number > 0 ? min(number, most) : 0 }

    func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// Whether a transfer within other bounds would be given up later than one within these.
    func isMorePatient(than other: DownloadLimits) -> Bool {
        timeout > other.timeout || minBytesPerSecond < other.minBytesPerSecond
    }

    /// Whether a transfer within `other` bounds may have failed with `error` only because of them, or failed otherwise
    /// within these: what comes of a head is judged by its status first.
    func mayAvoid(_ error: ImageError, of other: DownloadLimits) -> Bool {
        switch error {
        // Whoever shared it has not waited as long as it did.
        case .timedOut: return true
        case .limitExceeded(_, _, let source):
            let isRedirect = error == other.tooManyRedirects(source) && maxRedirects > other.maxRedirects
            return isRedirect
                || error == other.tooLarge(source)
                    && (maxBytes > other.maxBytes || validStatusCodes != other.validStatusCodes)
        case .invalidStatusCode(let status, _, _): return accepts(status: status)
        case .notModified: return validStatusCodes?.contains(304) == true
        case .badData(_, _, let sample):
            if validStatusCodes != other.validStatusCodes { return true }
            guard let type = sample?.contentType, let types = acceptContentTypes else { return sample != nil }
            return MediaType.matches(type, types)
        default: return false
        }
    }

    /// Whether an answer that wants credentials is taken for the answer: then what is sent depends on it.
    var takesChallenges: Bool { validStatusCodes.map { $0.contains(401) || $0.contains(407) } ?? false }

    /// The error that a body is larger than wanted.
    func tooLarge(_ url: String) -> ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "the body is over the limit of \(maxBytes) bytes", source: url)
    }

    /// The error that there are more redirects than wanted.
    func tooManyRedirects(_ url: String) -> ImageError {
        .tooManyRedirects(maxRedirects, source: url)
    }
}
