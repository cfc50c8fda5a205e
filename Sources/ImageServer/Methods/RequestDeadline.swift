internal import ImageEngine
internal import JSONRPC
internal import Synchronization

/// Enforces the deadline of a request while no task does: while it waits behind others, and while it waits for a
/// download without a task.
final class RequestDeadline: Sendable {
    private let isHandedOver = Atomic(false)
    private let isStarted = Atomic(false)

    /// Ends the enforcement here; the code that does the work enforces the deadline from now on.
    func handOver() { isHandedOver.store(true, ordering: .relaxed) }

    /// Fails the request after `deadline` seconds, unless ``handOver()`` is called before. Only the first call has an
    /// effect.
    func start(_ call: Call, _ url: String, _ deadline: Double?) {
        guard let deadline, !isStarted.exchange(true, ordering: .relaxed) else { return }
        let task = Task { [self] in
            try await Task.sleep(for: .seconds(deadline))
            guard !isHandedOver.load(ordering: .relaxed) else { return }
            call.end(rpcError(ImageError.timedOut(url: url, option: "deadline", seconds: deadline)))
        }
        call.onEnd { task.cancel() }
    }
}
