internal import Platform
internal import Synchronization

/// Is told of changes of priorities.
public protocol PriorityObserver: AnyObject, Sendable {
    /// Called after a change, on the thread that made it.
    ///
    /// - Parameter id: The number under which it is observed.
    func priorityChanged(_ priority: CallPriority, _ id: UInt64)
}

/// The priority of a request: a number that may change while the request waits.
///
/// 0…1 while a caller waits for the result, 0.5 by default; below 0 while nobody waits yet. Observers are told that it
/// changed and read it themselves, so that concurrent changes end with the latest value.
public final class CallPriority: Sendable {
    private struct State {
        var value: Double
        /// The highest priority of other requests that wait for the same result.
        var floor = -Double.infinity
        var effective: Double { max(value, floor) }
        var observers = OneOrMany<Observation, any PriorityObserver>()
    }

    private struct Observation: Hashable {
        let observer: ObjectIdentifier
        let id: UInt64
    }

    /// The priority of work that nobody waits for, such as prefetching.
    public static let background = -1.0

    private static let arrivals = Atomic(0)

    /// The position of the request in the order of arrival: the order in which these objects are created.
    package let arrival: Int
    private let state: Mutex<State>

    /// Creates a priority. NaN counts as 0.
    public init(_ value: Double) {
        arrival = Self.arrivals.add(1, ordering: .relaxed).newValue
        state = Mutex(State(value: value.isNaN ? 0 : value))
    }

    /// Creates a separate priority with the current value of another and its position in the order of arrival.
    package init(_ other: CallPriority) {
        arrival = other.arrival
        state = Mutex(State(value: other.value))
    }

    /// The current priority. Setting it notifies the observers.
    public var value: Double {
        get { state.withLock { $0.effective } }
        set { if store(newValue) { notify() } }
    }

    /// Changes the value without notifying the observers. Returns `true` when it changed.
    package func store(_ value: Double) -> Bool { !value.isNaN && change { $0.value = value } }

    /// Raises the priority to at least `floor` while a more urgent request waits for this one. Does not notify the
    /// observers. Returns `true` when the priority changed.
    public func raise(to floor: Double?) -> Bool { change { $0.floor = floor ?? -.infinity } }

    private func change(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            let before = state.effective
            change(&state)
            return state.effective != before
        }
    }

    /// Notifies the observers.
    public func notify() {
        state.withLock { $0.observers }.forEach { $1.priorityChanged(self, $0.id) }
    }

    /// Notifies `observer`, which is kept, of changes until ``remove(_:_:)``.
    ///
    /// - Parameter id: Any number; one observer may have several.
    public func add(_ observer: any PriorityObserver, _ id: UInt64 = 0) {
        state.withLock { $0.observers[Observation(observer: ObjectIdentifier(observer), id: id)] = observer }
    }

    /// Removes an observer.
    public func remove(_ observer: any PriorityObserver, _ id: UInt64 = 0) {
        state.withLock { $0.observers[Observation(observer: ObjectIdentifier(observer), id: id)] = nil }
    }
}

/// The priorities of all requests that wait for the same result. Knows the highest without visiting each of them.
///
/// Adding one, or removing one that is not the last of the highest, takes O(1). Removing the last of the highest takes
/// O(distinct priorities).
public struct PriorityTally: Sendable {
    private var highest = 0.0
    /// The number of requests with the highest priority; 0 when nobody waits.
    private var highestCount = 0
    /// The numbers of requests with lower priorities. Mostly empty, and thousands of tallies may wait.
    private var lower: [Double: Int] = [:]

    /// The highest priority. `nil`: nobody waits.
    public var most: Double? { highestCount == 0 ? nil : highest }

    /// Creates an empty tally.
    public init() {}

    /// Adds a priority.
    public mutating func add(_ value: Double) {
        if highestCount > 0, value < highest {
            lower[value, default: 0] += 1
        } else if highestCount > 0, value == highest {
            highestCount += 1
        } else {
            if highestCount > 0 { lower[highest] = highestCount }
            (highest, highestCount) = (value, 1)
        }
    }

    /// Removes a priority that was added.
    public mutating func remove(_ value: Double) {
        if highestCount > 0, value == highest {
            highestCount -= 1
            guard highestCount == 0, let next = lower.keys.max() else { return }
            (highest, highestCount) = (next, lower.removeValue(forKey: next) ?? 0)
        } else if let count = lower[value] {
            lower[value] = count > 1 ? count - 1 : nil
        }
    }
}
