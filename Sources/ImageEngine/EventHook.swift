internal import Synchronization

/// Passes events on to the receiver of the moment. Callable from any thread.
final class EventHook<Event: Sendable>: Sendable {
    /// In a value of its own: a bare closure in a mutex is wrapped once more at every access.
    private struct Receiver: Sendable { let call: @Sendable (Event) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    /// Sets the receiver; `nil` for none.
    func set(_ receiver: (@Sendable (Event) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    /// Calls the receiver, outside of the lock.
    func report(_ event: Event) { receiver.withLock { $0 }?.call(event) }
}
