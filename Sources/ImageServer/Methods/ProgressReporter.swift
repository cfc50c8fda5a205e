internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// Tells a client how far its request has come: begin, reports at a bounded rate, end; nothing after the response.
final class ProgressReporter: Sendable {
    private struct State {
        var throttle = ProgressThrottle()
        var last: DownloadProgress?
        var lastSent = 0
        var hasEnded = false
    }

    private let call: Call
    private let tokens: ProgressTokens
    private let state = Mutex(State())

    init(call: Call, tokens: ProgressTokens) {
        self.call = call
        self.tokens = tokens
    }

    /// Announces the work.
    func begin(title: String, message: String) {
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

    /// Reports progress, unless that would be too much of it.
    func report(_ progress: DownloadProgress) {
        let now = monotonicNanoseconds()
        let isSent = state.withLock { state in
            // After a retry the count begins again; what has been told stays told.
            guard !state.hasEnded, progress.received >= state.last?.received ?? 0 else { return false }
            state.last = progress
            guard state.throttle.admits(progress.received, now: now) else { return false }
            state.lastSent = progress.received
            return true
        }
        if isSent { send(progress, kind: "report") }
    }

    /// Announces the end; must be called before the response is sent.
    func end() {
        let (last, lastSent) = state.withLock { state in
            state.hasEnded = true
            return (state.last ?? DownloadProgress(received: 0, total: nil), state.lastSent)
        }
        send(last, kind: "end", isGrown: last.received > lastSent)
    }

    private func send(_ progress: DownloadProgress, kind: String, isGrown: Bool = true) {
        if let token = tokens.workDone {
            call.notify("$/progress") { writer in
                Self.write(&writer, token) { value in
                    value.field("kind", kind)
                    value.field("message", Self.words(progress))
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
    /// Whole percents; nil when the total is unknown.
    fileprivate var percentage: Int? {
        guard let total, total > 0 else { return nil }
        return min(Int(100 * Double(received) / Double(total)), 100)
    }
}
