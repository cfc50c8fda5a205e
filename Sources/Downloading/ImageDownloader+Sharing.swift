internal import ImageErrors
internal import Platform
internal import Synchronization

/// Transfers shared by several callers, each with its own limits.
extension ImageDownloader {
    /// The key by which callers share a transfer.
    package struct Sharing: Hashable, Sendable {
        let request: DownloadRequest
        /// `true` when only callers with equal limits join, because a transfer within other limits has ended too early.
        let isStrict: Bool
        let transferActivity = TransferActivity()

        init(_ request: DownloadRequest, isStrict: Bool = false) {
            self.request = request
            // A delegate decides with the limits at hand, and for all callers alike.
            self.isStrict = isStrict || request.delegates != nil
        }

        package static func == (one: Sharing, other: Sharing) -> Bool {
            one.isStrict == other.isStrict && one.request.sent == other.request.sent
                && (!one.isStrict || one.request.limits == other.request.limits)
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(request.sent) }
    }

    /// The error of a transfer, and the limits that it ran within.
    struct BoundedFailure: Error {
        let error: ImageError
        let limits: DownloadLimits
    }

    /// The error that a transfer ended because of another caller's limits: the caller has to start again.
    package struct EndedForAnother: Error {}

    /// Monitors the limits of a caller that shares a transfer which another caller started.
    func monitorLimits(
        _ ticket: JobTable<Sharing, Download>.Ticket, for waiter: TransferWaiter,
        _ report: (@Sendable (DownloadProgress) -> Void)?
    ) {
        guard let leader = ticket.leader else { return waiter.setStarter() }
        guard leader.request.limits != waiter.request.limits else { return }
        let monitor = LimitMonitor(waiter.request, leader.transferActivity) { [jobs] in jobs.leave(ticket) }
        waiter.setMonitor(monitor)
        jobs.setReport(ticket) { progress in
            monitor.check(progress)
            report?(progress)
        }
        if leader.request.limits.isMorePatient(than: waiter.request.limits) { monitor.checkTime() }
    }
}

/// One caller that waits for a transfer, which it may share with others.
final class TransferWaiter: Sendable {
    private struct State {
        var monitor: LimitMonitor?
        var isOver = false
        var isStarter = false
    }

    let request: DownloadRequest
    private let state = Mutex(State())

    /// Creates a waiter for the result of `request`.
    init(_ request: DownloadRequest) { self.request = request }

    /// Records that this caller started the transfer.
    func setStarter() { state.withLock { $0.isStarter = true } }

    /// Attaches a monitor until the transfer is over.
    func setMonitor(_ monitor: LimitMonitor) {
        let isOver = state.withLock { state in
            state.monitor = monitor
            return state.isOver
        }
        if isOver { monitor.end() }
    }

    /// Returns the result of the transfer as this caller's limits allow it.
    ///
    /// - Throws: ``ImageDownloader/EndedForAnother``, or the error for this caller.
    func outcome(of result: Result<Download, any Error>) throws -> Download {
        let (monitor, isStarter) = state.withLock { state in
            state.isOver = true
            return (state.monitor, state.isStarter)
        }
        monitor?.end()
        let limits = request.limits
        switch result {
        case .success(let download):
            if let other = download.limits, other != limits, let error = request.error(in: download) { throw error }
            return download
        case .failure(let failure as ImageDownloader.BoundedFailure):
            guard failure.limits != limits else { throw failure.error }
            if limits.mayAvoid(failure.error, of: failure.limits) { throw ImageDownloader.EndedForAnother() }
            throw limits.restated(failure.error, of: failure.limits)
        case .failure(is CancellationError): throw monitor?.error ?? CancellationError()
        case .failure(let error as ImageError): throw error
        // An error before another caller's start says nothing about this caller.
        case .failure(let error): throw isStarter ? error : ImageDownloader.EndedForAnother()
        }
    }
}

extension DownloadRequest {
    /// The error of a body that was fetched within other limits. `nil`: it is accepted.
    fileprivate func error(in download: Download) -> ImageError? {
        if let error = error(in: download.response, after: download.redirects) { return error }
        return download.body.count > limits.maxBytes ? limits.tooLarge(url) : nil
    }

    /// The error of a response that other limits accepted, by its status and headers. `nil`: it is accepted.
    func error(in response: DownloadResponse, after redirects: Int) -> ImageError? {
        redirects > limits.maxRedirects
            ? limits.tooManyRedirects(url) : error(in: response, accepted: nil)
    }
}

extension DownloadLimits {
    /// Restates an error that these limits would have caused too, with their numbers.
    fileprivate func restated(_ error: ImageError, of other: DownloadLimits) -> ImageError {
        guard case .limitExceeded(_, _, let source) = error else { return error }
        return switch error {
        case other.tooLarge(source): tooLarge(source)
        case other.tooManyRedirects(source): tooManyRedirects(source)
        default: error
        }
    }
}
