internal import Platform
internal import Synchronization

/// The latest progress of shared work, and the callers who want to hear of it.
final class ProgressBoard: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void

    private struct State {
        var latest: DownloadProgress?
        var reports = OneOrMany<UInt64, Report>()
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Adds a receiver of progress.
    ///
    /// - Returns: The latest progress, if any.
    func add(_ report: @escaping Report, as id: UInt64) -> DownloadProgress? {
        state.withLock { state in
            state.reports[id] = report
            return state.latest
        }
    }

    /// Removes a receiver.
    func remove(_ id: UInt64) { state.withLock { $0.reports[id] = nil } }

    /// Reports progress to all receivers. Called for every received piece.
    func post(_ progress: DownloadProgress) {
        let reports = state.withLock { state in
            if state.isClosed { return OneOrMany<UInt64, Report>() }
            state.latest = progress
            return state.reports
        }
        reports.forEach { $0(progress) }
    }

    /// Ends the work: no receiver hears of further progress.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.reports = OneOrMany()
        }
    }
}
