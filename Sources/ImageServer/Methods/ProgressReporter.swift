internal import ImageEngine
internal import JSONRPC

/// Progress that is sent to a client as `$/progress` or `notifications/progress`.
protocol ReportedProgress: Sendable {
    /// The amount that is done, which only grows.
    var amount: Int { get }
    /// The amount that is done in the end; `nil` when it is unknown.
    var total: Int? { get }
    /// The progress in words, for people.
    var words: String { get }
    /// The words for the end of cancelled work.
    var wordsWhenCancelled: String { get }

    /// Writes the amounts as members of the value of `$/progress`.
    func writeMembers(to value: inout JSONWriter)
}

/// Sends a client the progress of its request: begin, reports at a limited rate, end; nothing after the response.
final class ProgressReporter<Progress: ReportedProgress>: Sendable {
    private enum Kind: String {
        case begin, report, end
    }

    private let call: Call
    private let tokens: ProgressTokens
    private let reports: PacedReports<Progress>

    init(call: Call, tokens: ProgressTokens) {
        self.call = call
        self.tokens = tokens
        reports = PacedReports(amount: \.amount) { Self.send($0, .report, $0.words, to: call, tokens) }
    }

    /// Announces the work; its end is announced when the call ends, for whatever reason.
    ///
    /// - Parameter message: Words for the announcement; those of `start` when `nil`.
    func begin(title: String, message: String? = nil, _ start: Progress) {
        call.beforeEnd { [self] ending in
            reports.end { last, hasGrown in
                let (last, isCancelled) = (last ?? start, ending == .cancelled)
                // A client that cancels in the way of MCP no longer listens to that token.
                Self.send(
                    last, .end, isCancelled ? last.wordsWhenCancelled : last.words, isGrown: hasGrown && !isCancelled,
                    to: call, tokens)
            }
        }
        reports.begin {
            Self.send(start, .begin, title: title, message ?? start.words, isGrown: false, to: call, tokens)
        }
    }

    /// Records progress, which is sent at a limited rate.
    func report(_ progress: Progress) { reports.submit(progress) }

    private static func send(
        _ progress: Progress, _ kind: Kind, title: String? = nil, _ message: String, isGrown: Bool = true,
        to call: Call,
        _ tokens: ProgressTokens
    ) {
        if let token = tokens.workDone {
            call.notify("$/progress", isNeeded: kind != .report) { writer in
                writer.object { params in
                    params.key("token")
                    token.write(to: &params)
                    params.key("value")
                    params.object { value in
                        value.field("kind", kind.rawValue)
                        if let title { value.field("title", title) }
                        value.field("message", message)
                        switch kind {
                        case .begin: value.field("percentage", 0)
                        case .report: if let part = progress.percentage { value.field("percentage", part) }
                        case .end: break
                        }
                        progress.writeMembers(to: &value)
                    }
                }
            }
        }
        if let token = tokens.meta, isGrown {
            call.notify("notifications/progress", isNeeded: kind != .report) { writer in
                writer.object { params in
                    params.key("progressToken")
                    token.write(to: &params)
                    params.field("progress", progress.amount)
                    if let total = progress.total { params.field("total", total) }
                }
            }
        }
    }
}

extension ReportedProgress {
    /// The percentage as a whole number; `nil` when the total is unknown.
    fileprivate var percentage: Int? {
        guard let total, total > 0 else { return nil }
        return min(Int(100 * Double(amount) / Double(total)), 100)
    }
}

extension DownloadProgress: ReportedProgress {
    /// Nothing has been received.
    static let start = DownloadProgress(received: 0, total: nil)

    var amount: Int { received }
    var words: String {
        if received == 0, total == nil { return "nothing was downloaded" }
        return total.map { "\(received) of \($0) bytes" } ?? "\(received) bytes"
    }
    var wordsWhenCancelled: String { "cancelled" }

    func writeMembers(to value: inout JSONWriter) {
        value.field("receivedBytes", received)
        value.field("totalBytes", total)
    }
}

/// The progress of a prefetch.
struct PrefetchProgress: ReportedProgress {
    let counts: ImagePrefetcher.Progress

    var amount: Int { counts.completed + counts.skipped + counts.failed }
    var total: Int? { counts.total }
    var words: String { "\(amount) of \(counts.total) images" }
    var wordsWhenCancelled: String { "cancelled after " + words }

    func writeMembers(to value: inout JSONWriter) {
        value.field("completed", counts.completed)
        value.field("skipped", counts.skipped)
        value.field("failed", counts.failed)
        value.field("notStored", counts.notStored)
        value.field("total", counts.total)
    }
}
