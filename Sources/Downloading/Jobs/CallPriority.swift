internal import Platform
internal import Synchronization

/// The priority of a request: a number that may change while the request waits.
///
/// 0…1 while a caller waits for the result, 0.5 by default; below 0 while nobody waits yet.
public final class CallPriority: ChangingPriority {
    private struct State {
        var value: Double
        /// The highest priority of other requests that wait for the same result.
        var floor = -Double.infinity
        var effective: Double { max(value, floor) }
        var observers = PriorityObservers()
    }

    /// The priority of work that nobody waits for, such as prefetching.
    public static let background = -1.0

    private static let arrivals = Atomic(0)

    /// The order in which these objects are created.
    public let arrival: Int
    private let state: Mutex<State>

    /// Creates a priority. NaN counts as 0.
    public init(_ value: Double) {
        arrival = Self.arrivals.add(1, ordering: .relaxed).newValue
        state = Mutex(State(value: value.isNaN ? 0 : value))
    }

    /// The current priority. Setting it notifies the observers.
    public var value: Double {
        get { state.withLock { $0.effective } }
        set { if !newValue.isNaN, change({ $0.value = newValue }) { notify() } }
    }

    /// The priority as it is now: ``value``.
    public var currentPriority: Double { value }

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
    public func notify() { state.withLock { $0.observers }.notify(of: self) }

    /// Notifies `observer`, which is kept, of changes until ``remove(_:_:)``.
    public func add(_ observer: any PriorityObserver, _ id: UInt64 = 0) {
        state.withLock { $0.observers.add(observer, id) }
    }

    /// Removes an observer.
    public func remove(_ observer: any PriorityObserver, _ id: UInt64 = 0) {
        state.withLock { $0.observers.remove(observer, id) }
    }
}

/// The priorities of all requests that wait for the same result. Knows the highest without visiting each of them.
///
/// Adding one, or removing one that is not the last of the highest, takes O(1). Removing the last of the highest takes
/// O(distinct priorities).
public struct PriorityTally: Sendable {
    private var highest = 0.0
    /// The numbers of requests with lower priorities. Mostly empty, and thousands of tallies may wait.
    private var lower: [Double: Int32] = [:]
    /// The number of requests with the highest priority; 0 when nobody waits.
    private var highestCount: Int32 = 0

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
