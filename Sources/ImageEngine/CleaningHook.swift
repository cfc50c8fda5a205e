internal import Synchronization

/// Passes reports of cleaning on to whoever wants them at the moment. Callable from any thread.
final class CleaningHook: Sendable {
    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (CleaningReport) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    /// Sets who hears of cleaning; nil for nobody.
    func set(_ receiver: (@Sendable (CleaningReport) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    /// Tells the receiver, outside of the lock.
    func report(_ report: CleaningReport) { receiver.withLock { $0 }?.call(report) }
}
