internal import Synchronization

/// Passes on how many downloads run to whoever wants to know at the moment. Callable from any thread; keeps the order.
final class ActivityHook: Sendable {
    private struct Receiver: Sendable { let call: @Sendable (Int) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    /// Sets who hears of it; nil for nobody.
    func set(_ receiver: (@Sendable (Int) -> Void)?) { self.receiver.withLock { $0 = receiver.map(Receiver.init) } }

    /// Tells the receiver.
    func report(_ running: Int) { receiver.withLock { $0 }?.call(running) }
}
