internal import Platform
internal import Synchronization

/// How far a piece of shared work is, and who wants to hear of it.
final class ProgressBoard: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void

    private struct State {
        var latest: DownloadProgress?
        var reports = OneOrMany<UInt64, Report>()
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Tells `report` from now on.
    ///
    /// - Returns: How far the work is, if that is known.
    func add(_ report: @escaping Report, as id: UInt64) -> DownloadProgress? {
        state.withLock { state in
            state.reports[id] = report
            return state.latest
        }
    }

    /// Tells a reporter nothing more.
    func remove(_ id: UInt64) { state.withLock { $0.reports[id] = nil } }

    /// Tells everybody how far the work is. Called for every piece that comes.
    func post(_ progress: DownloadProgress) {
        let reports = state.withLock { state in
            if state.isClosed { return OneOrMany<UInt64, Report>() }
            state.latest = progress
            return state.reports
        }
        reports.forEach { $0(progress) }
    }

    /// The work is over: nothing is told any more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.reports = OneOrMany()
        }
    }
}
