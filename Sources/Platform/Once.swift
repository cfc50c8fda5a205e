internal import Synchronization

/// A value that is taken once. Callable from any thread.
package final class Once<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: Value?) { self.value = Mutex(value) }

    /// The value; nil when it has been taken.
    package func take() -> Value? { value.withLock { $0.take() } }
}
