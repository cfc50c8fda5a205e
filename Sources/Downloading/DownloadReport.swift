public import ImageErrors

/// What became of one transfer, and how long its parts took: what `download/didFinish` tells.
///
/// Made for every transfer that ended, well or not, once each: callers that shared one share its report.
public struct DownloadReport: Sendable, Equatable {
    /// The URL as it was asked for.
    public var url: String
    /// The URL that answered, after all redirects.
    public var finalURL: String
    /// The status of the last answer; nil when there was none.
    public var status: Int?
    /// Bytes of the body.
    public var bytes = 0
    /// Bytes of the body that were kept from an earlier transfer, and not fetched again.
    public var resumedBytes = 0
    /// Seconds from the start to the end.
    public var seconds = 0.0
    /// Seconds for finding addresses, over all redirects.
    public var dns = 0.0
    /// Seconds for connecting, over all redirects.
    public var connect = 0.0
    /// Seconds for TLS handshakes, over all redirects.
    public var tls = 0.0
    /// Seconds from the start to the first byte of the last answer; nil when there was none.
    public var firstByte: Double?
    /// Whether the last request went over a connection that was open already.
    public var isReused = false
    /// How many redirects were followed.
    public var redirects = 0
    /// The version of HTTP that answered last: `1.0`, `1.1`, `2` or `3`; nil when there was no answer.
    public var httpVersion: String?
    /// Why it failed; nil when it did not, or was cancelled.
    public var error: ImageError?
    /// Whether it was cancelled, by the last caller who waited for it.
    public var isCancelled = false

    /// A report about `url`, to be filled in.
    public init(url: String) {
        self.url = url
        finalURL = url
    }

    /// Whether the server confirmed what was had already, and sent no body.
    public var fromRevalidation: Bool { status == 304 && error == nil && !isCancelled }

    /// The stable name of what went wrong, as on the wire; nil when nothing did.
    public var errorName: String? { isCancelled ? "requestCancelled" : error?.name }
}
