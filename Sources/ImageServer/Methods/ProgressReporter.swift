internal import ImageEngine
internal import JSONRPC

/// Sends a client the progress of its request: begin, reports at a limited rate, end; nothing after the response.
final class ProgressReporter: Sendable {
    private let call: Call
    private let tokens: ProgressTokens
    private let reports: PacedReports<DownloadProgress>

    init(call: Call, tokens: ProgressTokens) {
        self.call = call
        self.tokens = tokens
        reports = PacedReports(amount: \.received) { Self.send($0, kind: "report", to: call, tokens) }
    }

    /// Announces the work; its end is announced when the call ends, for whatever reason.
    func begin(title: String, message: String) {
        call.beforeEnd { [self] in end($0) }
        reports.begin {
            guard let token = tokens.workDone else { return }
            call.notify("$/progress") { writer in
                Self.write(&writer, token) { value in
                    value.field("kind", "begin")
                    value.field("title", title)
                    value.field("message", message)
                    value.field("percentage", 0)
                    value.field("receivedBytes", 0)
                    value.field("totalBytes", Int?.none)
                }
            }
        }
    }

    /// Records progress, which is sent at a limited rate.
    func report(_ progress: DownloadProgress) { reports.submit(progress) }

    private func end(_ ending: Call.Ending) {
        reports.end { last, hasGrown in
            // A client that cancels in the way of MCP no longer listens to that token.
            Self.send(
                last ?? DownloadProgress(received: 0, total: nil), kind: "end",
                isGrown: hasGrown && ending == .answered,
                isCancelled: ending == .cancelled, to: call, tokens)
        }
    }

    private static func send(
        _ progress: DownloadProgress, kind: String, isGrown: Bool = true, isCancelled: Bool = false, to call: Call,
        _ tokens: ProgressTokens
    ) {
        if let token = tokens.workDone {
            call.notify("$/progress") { writer in
                Self.write(&writer, token) { value in
                    value.field("kind", kind)
                    value.field("message", isCancelled ? "cancelled" : Self.words(progress))
                    if let percentage = progress.percentage, kind == "report" { value.field("percentage", percentage) }
                    value.field("receivedBytes", progress.received)
                    value.field("totalBytes", progress.total)
                }
            }
        }
        if let token = tokens.meta, isGrown {
            call.notify("notifications/progress") { writer in
                writer.object { params in
                    params.key("progressToken")
                    token.write(to: &params)
                    params.field("progress", progress.received)
                    if let total = progress.total { params.field("total", total) }
                }
            }
        }
    }

    private static func write(
        _ writer: inout JSONWriter, _ token: RequestID, _ value: (inout JSONWriter) -> Void
    ) {
        writer.object { params in
            params.key("token")
            token.write(to: &params)
            params.key("value")
            params.object(value)
        }
    }

    private static func words(_ progress: DownloadProgress) -> String {
        progress.total.map { "\(progress.received) of \($0) bytes" } ?? "\(progress.received) bytes"
    }
}

extension DownloadProgress {
    /// The percentage as a whole number; nil when the total is unknown.
    fileprivate var percentage: Int? {
        guard let total, total > 0 else { return nil }
        return min(Int(100 * Double(received) / Double(total)), 100)
    }
}
