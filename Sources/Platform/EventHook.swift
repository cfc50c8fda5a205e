internal import Synchronization

/// Passes events to the current receiver. Callable from any thread.
package final class EventHook<Event: Sendable>: Sendable {
    /// A wrapper around the closure: a bare closure in a mutex is wrapped again at every access.
    private struct Receiver: Sendable { let call: @Sendable (Event) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    package init() {}

    /// Sets the receiver; `nil` removes it.
    package func set(_ receiver: (@Sendable (Event) -> Void)?) {
        self.receiver.withLock { $0 = receiver.map(Receiver.init) }
    }

    /// Calls the receiver, outside the lock.
    package func report(_ event: Event) { receiver.withLock { $0 }?.call(event) }
}

extension EventHook<Void> {
    package func report() { report(()) }
}
