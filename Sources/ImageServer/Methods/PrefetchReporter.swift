internal import ImageEngine
internal import JSONRPC

/// Sends a client the progress of its prefetch, at a limited rate.
final class PrefetchReporter: Sendable {
    private let call: Call
    private let tokens: ProgressTokens
    private let reports: PacedReports<ImagePrefetcher.Progress>

    init(call: Call, tokens: ProgressTokens) {
        self.call = call
        self.tokens = tokens
        reports = PacedReports(amount: \.settled) { Self.send($0, kind: "report", hasGrown: true, to: call, tokens) }
    }

    /// Announces the work; its end is announced when the call ends, for whatever reason.
    func begin(total: Int) {
        call.beforeEnd { [self] in end($0) }
        let start = ImagePrefetcher.Progress(completed: 0, skipped: 0, failed: 0, total: total)
        // Before `begin`: the end reports the last recorded progress, and may come between the two calls.
        reports.submit(start)
        reports.begin { Self.send(start, kind: "begin", hasGrown: false, to: call, tokens) }
    }

    /// Records progress, which is sent at a limited rate.
    func report(_ progress: ImagePrefetcher.Progress) { reports.submit(progress) }

    private func end(_ ending: Call.Ending) {
        reports.end { last, hasGrown in
            guard let last else { return }
            // A client that cancels in the way of MCP no longer listens to that token.
            Self.send(
                last, kind: "end", hasGrown: hasGrown && ending == .answered, isCancelled: ending == .cancelled,
                to: call,
                tokens)
        }
    }

    private static func send(
        _ progress: ImagePrefetcher.Progress, kind: String, hasGrown: Bool, isCancelled: Bool = false, to call: Call,
        _ tokens: ProgressTokens
    ) {
        if let token = tokens.workDone {
            call.notify("$/progress") { writer in
                writer.object { params in
                    params.key("token")
                    token.write(to: &params)
                    params.key("value")
                    params.object { value in
                        value.field("kind", kind)
                        if kind == "begin" { value.field("title", "prefetch") }
                        let words = "\(progress.settled) of \(progress.total) images"
                        value.field("message", isCancelled ? "cancelled after " + words : words)
                        if kind != "end" { value.field("percentage", progress.percentage) }
                        value.field("completed", progress.completed)
                        value.field("skipped", progress.skipped)
                        value.field("failed", progress.failed)
                        value.field("total", progress.total)
                    }
                }
            }
        }
        if let token = tokens.meta, hasGrown {
            call.notify("notifications/progress") { writer in
                writer.object { params in
                    params.key("progressToken")
                    token.write(to: &params)
                    params.field("progress", progress.settled)
                    params.field("total", progress.total)
                }
            }
        }
    }
}

extension ImagePrefetcher.Progress {
    fileprivate var settled: Int { completed + skipped + failed }
    fileprivate var percentage: Int { total > 0 ? 100 * settled / total : 0 }
}
