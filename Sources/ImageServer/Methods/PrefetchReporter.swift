internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// Tells a client how far its prefetch has come, at a bounded rate.
final class PrefetchReporter: Sendable {
    private struct State {
        var throttle = ProgressThrottle()
        var last: ImagePrefetcher.Progress?
        var lastSent = 0
    }

    private let call: Call
    private let tokens: ProgressTokens
    private let state = Mutex(State())

    init(call: Call, tokens: ProgressTokens) {
        self.call = call
        self.tokens = tokens
    }

    /// Announces the work.
    func begin(total: Int) {
        let start = ImagePrefetcher.Progress(completed: 0, skipped: 0, failed: 0, total: total)
        state.withLock { $0.last = start }
        send(start, kind: "begin", hasGrown: false)
    }

    /// Reports progress, unless that would be too much of it.
    func report(_ progress: ImagePrefetcher.Progress) {
        let now = monotonicNanoseconds()
        let isSent = state.withLock { state in
            state.last = progress
            guard state.throttle.admits(progress.settled, now: now) else { return false }
            state.lastSent = progress.settled
            return true
        }
        if isSent { send(progress, kind: "report", hasGrown: true) }
    }

    /// Announces the end; must be called before the response is sent.
    func end() {
        let (last, lastSent) = state.withLock { ($0.last, $0.lastSent) }
        if let last { send(last, kind: "end", hasGrown: last.settled > lastSent) }
    }

    private func send(_ progress: ImagePrefetcher.Progress, kind: String, hasGrown: Bool) {
        if let token = tokens.workDone {
            call.notify("$/progress") { writer in
                writer.object { params in
                    params.key("token")
                    token.write(to: &params)
                    params.key("value")
                    params.object { value in
                        value.field("kind", kind)
                        if kind == "begin" { value.field("title", "prefetch") }
                        value.field("message", "\(progress.settled) of \(progress.total) images")
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
