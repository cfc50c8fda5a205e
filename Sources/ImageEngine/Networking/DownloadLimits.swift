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
    /// The statuses that are accepted; when nil, 200…399 but 206 and 304.
    let validStatusCodes: Set<Int>?
    /// Media types of which the server must name one, if it names any.
    let acceptContentTypes: Set<String>?

    /// What the options say.
    init(_ options: ImageOptions) {
        timeout = Self.bounded(options.timeout ?? ImageDownloader.Configuration.defaultTimeout)
        minBytesPerSecond = Self.bounded(options.minBytesPerSecond)
        maxBytes = options.maxBytes
        maxRedirects = options.maxRedirects
        validStatusCodes = options.validStatusCodes
        acceptContentTypes = options.acceptContentTypes
    }

    /// A number that can be calculated with; what is none counts as 0.
    private static func bounded(_ number: Double) -> Double { number > 0 ? min(number, 1e8) : 0 }

    func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// Whether a transfer within other bounds would be given up later than one within these.
    func isMorePatient(than other: DownloadLimits) -> Bool {
        timeout > other.timeout || minBytesPerSecond < other.minBytesPerSecond
    }

    /// Whether a transfer within `other` bounds may have failed with `error` only because of them.
    func mayAvoid(_ error: ImageError, of other: DownloadLimits) -> Bool {
        switch error {
        case .timedOut: isMorePatient(than: other)
        case .limitExceeded(let limit, _, _):
            limit == "maxBytes" && maxBytes > other.maxBytes
                || limit == "maxRedirects" && maxRedirects > other.maxRedirects
        case .invalidStatusCode(let status, _, _): accepts(status: status)
        case .notModified: validStatusCodes?.contains(304) == true
        case .badData: acceptContentTypes != other.acceptContentTypes
        default: false
        }
    }

    /// The error that a body is larger than wanted.
    func tooLarge(_ url: String) -> ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "the body is over the limit of \(maxBytes) bytes", source: url)
    }

    /// The error that there are more redirects than wanted.
    func tooManyRedirects(_ url: String) -> ImageError {
        .limitExceeded(limit: "maxRedirects", reason: "it redirects more than \(maxRedirects) times", source: url)
    }
}
