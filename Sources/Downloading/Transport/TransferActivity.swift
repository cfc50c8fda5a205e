internal import Platform
internal import Synchronization

/// The activity of a transfer, by which the callers who share it check their limits.
final class TransferActivity: Sendable {
    private let running = Atomic(false)
    private let started = Atomic(0)
    private let received = Atomic(0)
    private let latest = Atomic(0)
    private let answer = Mutex<Answer?>(nil)

    /// The response whose body is being received.
    final class Answer: Sendable {
        let response: DownloadResponse
        /// The number of redirects that led to it.
        let redirects: Int

        fileprivate init(_ response: DownloadResponse, redirects: Int) {
            (self.response, self.redirects) = (response, redirects)
        }
    }

    /// The activity at one moment.
    struct State: Sendable, Equatable {
        /// `true` while the transfer waits for the server, and not for a slot or a delegate.
        var isRunning = true
        /// The number of requests sent.
        var starts = 0
        /// The number of received bytes, including headers.
        var bytes = 0
    }

    /// The current activity.
    var state: State {
        State(
            isRunning: running.load(ordering: .acquiring), starts: started.load(ordering: .relaxed),
            bytes: received.load(ordering: .relaxed))
    }

    /// The response. `nil`: its body has not begun.
    var head: Answer? { answer.withLock { $0 } }

    /// Records that the body of a response begins.
    func setAnswer(_ response: DownloadResponse, redirects: Int) {
        let head = Answer(response, redirects: redirects)
        answer.withLock { $0 = head }
    }

    /// The number of nanoseconds since the server last sent something.
    func silence(at now: Int) -> Int {
        running.load(ordering: .acquiring) ? max(0, now - latest.load(ordering: .relaxed)) : 0
    }

    /// Records that a request was sent.
    func start(at now: Int) {
        latest.store(now, ordering: .relaxed)
        started.add(1, ordering: .relaxed)
        running.store(true, ordering: .releasing)
    }

    /// Records received bytes.
    func received(_ count: Int, at now: Int) {
        latest.store(now, ordering: .relaxed)
        received.add(count, ordering: .relaxed)
    }

    /// Records that a request has ended.
    func stop() { running.store(false, ordering: .releasing) }
}
