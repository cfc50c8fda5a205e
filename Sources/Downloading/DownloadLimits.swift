internal import HTTPSemantics
package import ImageErrors

/// The limits within which one caller wants a download.
///
/// A transfer runs within the limits of the caller who started it. Every caller who shares it is held to its own
/// limits: no one waits longer, or receives more or something else, than accepted, and no one suffers from another's
/// limits.
public struct DownloadLimits: Hashable, Sendable {
    /// The longest wait for the next bytes, in seconds. `nil`: as the downloader is configured.
    public var timeout: Double?
    /// The lowest accepted speed over two timeouts, in bytes per second. 0 disables the check.
    public var minBytesPerSecond = 100.0
    /// The largest accepted body, in bytes.
    public var maxBytes = 128 << 20
    /// The number of redirects that are followed.
    public var maxRedirects = 10
    /// The accepted status codes. `nil`: 200…399 except 206. A 304 to an unconditional request is an error of its own.
    public var validStatusCodes: Set<Int>?
    /// The accepted media types in lower case, such as `image/png` or `image/*`, for a server that names one. `nil`: any, because
    /// the bytes decide.
    public var acceptContentTypes: Set<String>?

    /// The default limits.
    public init() {}

    /// The limits with a timeout and in computable ranges. NaN counts as 0.
    var bounded: DownloadLimits {
        func bounded(_ number: Double, most: Double) -> Double { number > 0 ? min(number, most) : 0 }
        var limits = self
        limits.timeout = bounded(timeoutSeconds, most: 1e8)
        limits.minBytesPerSecond = bounded(minBytesPerSecond, most: 1e9)
        return limits
    }

    /// The longest wait for the next bytes, in seconds.
    package var timeoutSeconds: Double { timeout ?? ImageDownloader.Configuration.defaultTimeout }

    package func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// `true` when a transfer within these limits may be given up later than one within `other`.
    func isMorePatient(than other: DownloadLimits) -> Bool {
        timeoutSeconds > other.timeoutSeconds || minBytesPerSecond < other.minBytesPerSecond
    }

    /// `true` when a transfer within `other` limits may have failed with `error` only because of them, or would have
    /// failed differently within these. The status of a response is checked first.
    func mayAvoid(_ error: ImageError, of other: DownloadLimits) -> Bool {
        switch error {
        // A caller who joined later has not waited as long as the transfer did.
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

    /// `true` when a response that demands credentials is accepted as the answer. The request then is not repeated with
    /// credentials, so what is sent depends on it.
    var takesChallenges: Bool { validStatusCodes.map { $0.contains(401) || $0.contains(407) } ?? false }

    /// The error that a body is larger than accepted.
    package func tooLarge(_ url: String) -> ImageError {
        .limitExceeded(
            limit: "maxBytes", reason: "it is over the limit of \(maxBytes) bytes", source: url)
    }

    /// The error that there are more redirects than accepted.
    func tooManyRedirects(_ url: String) -> ImageError {
        .tooManyRedirects(maxRedirects, source: url)
    }
}
