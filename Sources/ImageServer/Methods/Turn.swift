internal import ImageEngine
internal import JSONRPC
internal import Synchronization

/// The time that a request may take until somebody else sees to its deadline: while it waits behind others, and while it
/// waits for a download that holds no task.
final class Turn: Sendable {
    private let hasCome = Atomic(false)
    private let isLimited = Atomic(false)

    /// Notes that whoever does the work sees to the deadline from now on.
    func come() { hasCome.store(true, ordering: .relaxed) }

    /// Fails the request in so many seconds, unless its turn has come before. Done once, however often it is called.
    func limit(_ call: Call, _ url: String, _ deadline: Double?) {
        guard let deadline, !isLimited.exchange(true, ordering: .relaxed) else { return }
        let task = Task { [self] in
            try await Task.sleep(for: .seconds(deadline))
            guard !hasCome.load(ordering: .relaxed) else { return }
            call.end(rpcError(ImageError.timedOut(url: url, option: "deadline", seconds: deadline)))
        }
        call.afterwards { task.cancel() }
    }
}
