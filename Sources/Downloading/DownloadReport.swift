public import ImageErrors

/// The result and timing of one transfer, as `download/didFinish` reports it.
///
/// Made once for every ended transfer, successful or not. Callers that share a transfer share its report.
public struct DownloadReport: Sendable, Equatable {
    /// The URL as it was requested.
    public var url: String
    /// The URL of the last response, after all redirects.
    public var finalURL: String
    /// The status of the last response. `nil`: there was none.
    public var status: Int?
    /// The size of the body in bytes.
    public var bytes = 0
    /// The number of bytes of the body that came from an earlier transfer.
    public var resumedBytes = 0
    /// The duration in seconds.
    public var seconds = 0.0
    /// The seconds spent on name resolution, over all redirects.
    public var dns = 0.0
    /// The seconds spent on connecting, over all redirects.
    public var connect = 0.0
    /// The seconds spent on TLS handshakes, over all redirects.
    public var tls = 0.0
    /// The seconds from the start to the first byte of the last response. `nil`: there was none.
    public var firstByte: Double?
    /// `true` when the last request used an existing connection.
    public var isReused = false
    /// The number of followed redirects.
    public var redirects = 0
    /// The HTTP version of the last response: `1.0`, `1.1`, `2` or `3`. `nil`: there was none.
    public var httpVersion: String?
    /// The error of a failed transfer. `nil`: it succeeded or was cancelled.
    public var error: ImageError?
    /// `true` when its last caller cancelled it.
    public var isCancelled = false

    /// Creates an empty report about `url`.
    public init(url: String) {
        self.url = url
        finalURL = url
    }

    /// `true` when the server confirmed the stored body and sent none.
    public var fromRevalidation: Bool { status == 304 && error == nil && !isCancelled }

    /// A report that the results of all callers of one download share.
    public final class Shared: Sendable {
        /// The report.
        public let report: DownloadReport

        init(_ report: DownloadReport) { self.report = report }
    }

    /// The stable name of the error, as on the wire. `nil`: there was none.
    public var errorName: String? { isCancelled ? "requestCancelled" : error?.name }
}
