import Synchronization

/// What has come so far, from any thread.
public final class Gathered<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])

    /// Nothing yet.
    public init() {}

    /// Adds the next one.
    public func add(_ element: Element) { list.withLock { $0.append(element) } }

    /// All so far, in order.
    public var all: [Element] { list.withLock { $0 } }
}
