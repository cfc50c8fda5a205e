internal import Platform
internal import Synchronization

/// Whether a transfer is waiting for its server, and how much that has sent: what those who share it go by.
final class TransferActivity: Sendable {
    private let running = Atomic(false)
    private let started = Atomic(0)
    private let received = Atomic(0)
    private let latest = Atomic(0)
    private let answer = Mutex<Answer?>(nil)

    /// The answer whose body comes.
    final class Answer: Sendable {
        let response: DownloadResponse
        /// How many redirects led to it.
        let redirects: Int

        fileprivate init(_ response: DownloadResponse, redirects: Int) {
            (self.response, self.redirects) = (response, redirects)
        }
    }

    /// What is to be known of it at one time.
    struct State: Sendable, Equatable {
        /// Whether it waits for the server, and not for a turn or somebody's word.
        var isRunning = true
        /// How many requests it has sent.
        var starts = 0
        /// Bytes that have come, headers included.
        var bytes = 0
    }

    /// How it stands.
    var state: State {
        State(
            isRunning: running.load(ordering: .acquiring), starts: started.load(ordering: .relaxed),
            bytes: received.load(ordering: .relaxed))
    }

    /// What has been answered; nil as long as no body comes.
    var head: Answer? { answer.withLock { $0 } }

    /// A body comes.
    func note(_ response: DownloadResponse, redirects: Int) {
        let head = Answer(response, redirects: redirects)
        answer.withLock { $0 = head }
    }

    /// For how many nanoseconds its server has said nothing.
    func silence(at now: Int) -> Int {
        running.load(ordering: .acquiring) ? max(0, now - latest.load(ordering: .relaxed)) : 0
    }

    /// A request has been sent.
    func start(at now: Int) {
        latest.store(now, ordering: .relaxed)
        started.add(1, ordering: .relaxed)
        running.store(true, ordering: .releasing)
    }

    /// Bytes came.
    func beat(_ count: Int, at now: Int) {
        latest.store(now, ordering: .relaxed)
        received.add(count, ordering: .relaxed)
    }

    /// A request is over.
    func stop() { running.store(false, ordering: .releasing) }
}
