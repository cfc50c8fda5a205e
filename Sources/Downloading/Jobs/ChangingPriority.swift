/// A priority that may change while work waits. Observers are told that it changed and read it themselves, so that
/// concurrent changes end with the latest value.
public protocol ChangingPriority: AnyObject, Sendable {
    /// The priority that it has now.
    var currentPriority: Double { get }
    /// The position in the order of arrival, which decides among equal priorities.
    var arrival: Int { get }

    /// Notifies `observer`, which is kept, of changes until ``remove(_:_:)``.
    ///
    /// - Parameter id: Any number; one observer may have several.
    func add(_ observer: any PriorityObserver, _ id: UInt64)
    /// Removes an observer.
    func remove(_ observer: any PriorityObserver, _ id: UInt64)
}

/// Is told of changes of priorities.
public protocol PriorityObserver: AnyObject, Sendable {
    /// Called after a change, on the thread that made it.
    ///
    /// - Parameter id: The number under which it is observed.
    func priorityChanged(_ priority: any ChangingPriority, _ id: UInt64)
}

/// The observers of a priority.
struct PriorityObservers: Sendable {
    private struct Name: Hashable, Sendable {
        let observer: any PriorityObserver
        let id: UInt64

        static func == (one: Name, other: Name) -> Bool { one.observer === other.observer && one.id == other.id }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(observer))
            hasher.combine(id)
        }
    }

    private var names = OneOrMany<Name, Void>()

    /// Adds an observer under a number. Takes O(1).
    mutating func add(_ observer: any PriorityObserver, _ id: UInt64) {
        names[Name(observer: observer, id: id)] = ()
    }

    /// Removes the observer of a number. Takes O(1).
    mutating func remove(_ observer: any PriorityObserver, _ id: UInt64) {
        names[Name(observer: observer, id: id)] = nil
    }

    /// Notifies all, in no order.
    func notify(of priority: some ChangingPriority) {
        names.forEach { name, _ in name.observer.priorityChanged(priority, name.id) }
    }
}
