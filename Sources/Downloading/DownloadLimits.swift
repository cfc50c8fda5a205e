package import ImageErrors

/// The limits within which one caller wants a download.
///
/// A shared transfer runs within the loosest limits of its callers, and each caller's wait ends when its own are exceeded:
/// no one waits longer, or receives more or something else, than accepted, and no one suffers from another's limits.
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

    /// The default of the longest wait for the next bytes, in seconds.
    package static let defaultTimeout = 15.0

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
    package var timeoutSeconds: Double { timeout ?? Self.defaultTimeout }

    var patience: TransferPace.Patience {
        TransferPace.Patience(timeout: timeoutSeconds, minBytesPerSecond: minBytesPerSecond)
    }

    package func accepts(status: Int) -> Bool {
        validStatusCodes?.contains(status) ?? ((200..<400).contains(status) && status != 206)
    }

    /// `true` when a response that demands credentials is accepted as the answer. The request then is not repeated with
    /// credentials, so what is sent depends on it.
    var takesChallenges: Bool { validStatusCodes.map { $0.contains(401) || $0.contains(407) } ?? false }

    package func tooLarge(_ url: String) -> ImageError {
        DownloadLimitName.maxBytes.error("it is over the limit of \(maxBytes) bytes", source: url)
    }
}

package enum DownloadLimitName: String {
    case maxBytes, headerBytes, maxRedirects, redirect

    /// `true` when an equal request will exceed the limit again, so that the failure may be remembered.
    package var isExceededAgain: Bool {
        switch self {
        case .maxBytes, .maxRedirects, .redirect: true
        case .headerBytes: false
        }
    }

    func error(_ reason: String, source: String) -> ImageError {
        .limitExceeded(limit: rawValue, reason: reason, source: source)
    }
}
