public import Synchronization

/// Remembers what was made last and from what: most requests say the same as the one before, and those that wait share what
/// is made of that.
///
/// Not for texts of callers: equal ones may still differ in their bytes, and what one has said is kept until another says
/// something else.
///
/// Public, because the compiler makes code for a caller's own types only of what is: looking those up at run time costs more
/// than what is remembered.
///
/// Callable from any thread.
public final class LastValue<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let last = Mutex<(key: Key, value: Value)?>(nil)

    /// Nothing is remembered yet.
    @inlinable public init() {}

    /// What `make` makes of `key`, or made of an equal one the last time.
    @inline(__always) @inlinable public func value(for key: Key, make: () -> Value) -> Value {
        if let known = last.withLock({ $0 }), known.key == key { return known.value }
        let made = make()
        last.withLock { $0 = (key, made) }
        return made
    }
}
