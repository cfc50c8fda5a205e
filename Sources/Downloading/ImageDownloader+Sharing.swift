internal import ImageErrors
internal import Platform
internal import Synchronization

/// Transfers that several callers share, each within bounds of its own.
extension ImageDownloader {
    /// What makes callers share a transfer.
    package struct Sharing: Hashable, Sendable {
        let request: DownloadRequest
        /// Whether only those join who have the same bounds: what another one's have ended is begun anew.
        let isStrict: Bool
        let transferActivity = TransferActivity()

        init(_ request: DownloadRequest, isStrict: Bool = false) {
            self.request = request
            // A delegate decides with the bounds at hand, and for all alike.
            self.isStrict = isStrict || request.delegates != nil
        }

        package static func == (one: Sharing, other: Sharing) -> Bool {
            one.isStrict == other.isStrict && one.request.sent == other.request.sent
                && (!one.isStrict || one.request.limits == other.request.limits)
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(request.sent) }
    }

    /// Why a transfer failed, and within which bounds.
    struct BoundedFailure: Error {
        let error: ImageError
        let limits: DownloadLimits
    }

    /// A transfer has ended as the bounds of another caller wanted: it is to be begun anew.
    package struct EndedForAnother: Error {}

    /// Sees to the bounds of one who shares a transfer that another began within others.
    func watch(
        _ place: Coalescer<Sharing, Download>.Place, from seat: TransferWaiter,
        _ report: (@Sendable (DownloadProgress) -> Void)?
    ) {
        guard let leader = place.leader else { return seat.lead() }
        guard leader.request.limits != seat.request.limits else { return }
        let watch = LimitMonitor(seat.request, leader.transferActivity) { [coalescer] in coalescer.leave(place.ticket) }
        seat.put(watch)
        coalescer.hear(place.ticket) { progress in
            watch.check(progress)
            report?(progress)
        }
        if leader.request.limits.isMorePatient(than: seat.request.limits) { watch.follow() }
    }
}

/// The place of one who waits for a transfer that others may share.
final class TransferWaiter: Sendable {
    private struct State {
        var watch: LimitMonitor?
        var isOver = false
        var leads = false
    }

    let request: DownloadRequest
    private let state = Mutex(State())

    /// The place of the one who has sent `request`.
    init(_ request: DownloadRequest) { self.request = request }

    /// Notes that the transfer was begun for this one.
    func lead() { state.withLock { $0.leads = true } }

    /// Has somebody watch over the transfer until it is over.
    func put(_ watch: LimitMonitor) {
        let isOver = state.withLock { state in
            state.watch = watch
            return state.isOver
        }
        if isOver { watch.end() }
    }

    /// What has come of the transfer, for this one.
    ///
    /// - Throws: ``ImageDownloader/EndedForAnother``, or why there is nothing for it.
    func settle(_ result: Result<Download, any Error>) throws -> Download {
        let (watch, leads) = state.withLock { state in
            state.isOver = true
            return (state.watch, state.leads)
        }
        watch?.end()
        let limits = request.limits
        switch result {
        case .success(let download):
            if let other = download.limits, other != limits, let error = request.refusal(of: download) { throw error }
            return download
        case .failure(let failure as ImageDownloader.BoundedFailure):
            guard failure.limits != limits else { throw failure.error }
            if limits.mayAvoid(failure.error, of: failure.limits) { throw ImageDownloader.EndedForAnother() }
            throw limits.restated(failure.error, of: failure.limits)
        case .failure(is CancellationError): throw watch?.refusal ?? CancellationError()
        case .failure(let error as ImageError): throw error
        // What kept another from beginning says nothing to this one.
        case .failure(let error): throw leads ? error : ImageDownloader.EndedForAnother()
        }
    }
}

extension DownloadRequest {
    /// Why a body that was fetched within other bounds is not wanted; nil if it is.
    fileprivate func refusal(of download: Download) -> ImageError? {
        if let error = refusal(of: download.response, after: download.redirects) { return error }
        return download.body.count > limits.maxBytes ? limits.tooLarge(url) : nil
    }

    /// Why an answer that was accepted within other bounds is not wanted, as far as its head tells; nil if it is.
    func refusal(of response: DownloadResponse, after redirects: Int) -> ImageError? {
        redirects > limits.maxRedirects
            ? limits.tooManyRedirects(url) : refusal(of: response, accepted: nil)
    }
}

extension DownloadLimits {
    /// An error that would have come within these bounds too, in their terms.
    fileprivate func restated(_ error: ImageError, of other: DownloadLimits) -> ImageError {
        guard case .limitExceeded(_, _, let source) = error else { return error }
        return switch error {
        case other.tooLarge(source): tooLarge(source)
        case other.tooManyRedirects(source): tooManyRedirects(source)
        default: error
        }
    }
}
