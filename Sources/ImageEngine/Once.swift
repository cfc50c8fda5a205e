internal import Synchronization

/// A value that is taken once. Callable from any thread.
final class Once<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value?) { self.value = Mutex(value) }

    /// The value; nil when it has been taken.
    func take() -> Value? { value.withLock { $0.take() } }
}
