internal import ImageEngine
internal import JSONRPC
internal import Synchronization

/// Whether a request that waits behind others has had its turn.
final class Turn: Sendable {
    private let hasCome = Atomic(false)

    /// Notes that its turn has come.
    func come() { hasCome.store(true, ordering: .relaxed) }

    /// Fails a request whose turn has not come in so many seconds; what comes after that is limited by the engine.
    func limit(_ call: Call, _ url: String, _ deadline: Double?) {
        guard let deadline else { return }
        let task = Task { [self] in
            try await Task.sleep(for: .seconds(deadline))
            guard !hasCome.load(ordering: .relaxed) else { return }
            call.end(rpcError(ImageError.timedOut(url: url, option: "deadline", seconds: deadline)))
        }
        call.afterwards { task.cancel() }
    }
}
