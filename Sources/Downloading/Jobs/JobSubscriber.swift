package import Platform

/// What a job brings, of a type that its key determines.
package typealias JobResult = Result<any Sendable, any Error>

/// The error when the value of a job does not fit its key.
private struct UnexpectedJobValue: Error {}

extension JobResult {
    /// The result of a job that brings values of one type.
    package func of<Value>(_ type: Value.Type) -> Result<Value, any Error> {
        switch self {
        case .success(let value as Value): .success(value)
        case .success: .failure(UnexpectedJobValue())
        case .failure(let error): .failure(error)
        }
    }
}

/// One of those who wait for a ``Job``. Thousands may wait: whoever has an object for its wait makes that its subscriber.
package protocol JobSubscriber: AnyObject, Sendable {
    /// The caller with its own limits, if the job is a download.
    var caller: (any DownloadCaller)? { get }
    /// Receives the progress, on any thread.
    func jobReported(_ progress: DownloadProgress)
    /// Receives the result, once, on any thread; a `CancellationError` when it has left.
    func jobEnded(_ result: JobResult)
    /// Told before the result when it has left as the last one, and the job goes on: until the end of `work`.
    func jobGoesOn(_ work: Backlog)
}

extension JobSubscriber {
    /// None: the job is no download.
    package var caller: (any DownloadCaller)? { nil }
    /// Does nothing.
    package func jobReported(_ progress: DownloadProgress) {}
    /// Does nothing.
    package func jobGoesOn(_ work: Backlog) {}
}

/// A subscriber with functions for what it receives.
final class JobCallbacks: JobSubscriber {
    private let report: (@Sendable (DownloadProgress) -> Void)?
    private let end: @Sendable (JobResult) -> Void

    init(report: (@Sendable (DownloadProgress) -> Void)?, end: @escaping @Sendable (JobResult) -> Void) {
        (self.report, self.end) = (report, end)
    }

    func jobReported(_ progress: DownloadProgress) { report?(progress) }

    func jobEnded(_ result: JobResult) { end(result) }
}
