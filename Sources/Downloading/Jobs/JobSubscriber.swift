/// One of those who wait for a ``Job``. Thousands may wait: whoever has an object for its wait makes that its subscriber.
package protocol JobSubscriber<Value>: AnyObject, Sendable {
    /// What the job brings.
    associatedtype Value: Sendable

    /// The caller with its own limits, if the job is a download.
    var caller: (any DownloadCaller)? { get }
    /// Receives the progress, on any thread.
    func jobReported(_ progress: DownloadProgress)
    /// Receives the result, once, on any thread; a `CancellationError` when it has left.
    func jobEnded(_ result: Result<Value, any Error>)
}

extension JobSubscriber {
    /// None: the job is no download.
    package var caller: (any DownloadCaller)? { nil }
    /// Does nothing.
    package func jobReported(_ progress: DownloadProgress) {}
}

/// A subscriber with functions for what it receives.
final class JobCallbacks<Value: Sendable>: JobSubscriber {
    private let report: (@Sendable (DownloadProgress) -> Void)?
    private let end: @Sendable (Result<Value, any Error>) -> Void

    init(
        report: (@Sendable (DownloadProgress) -> Void)?, end: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        (self.report, self.end) = (report, end)
    }

    func jobReported(_ progress: DownloadProgress) { report?(progress) }

    func jobEnded(_ result: Result<Value, any Error>) { end(result) }
}
