internal import Platform
internal import Synchronization

/// How urgent something is: a number that may change while it is waited for (A-004, B-006, B-007).
///
/// 0…1 for what somebody waits for, 0.5 by default; below 0 for what nobody waits for yet. Observers are told that it
/// changed and read it themselves, so that changes which overtake each other end with the latest.
public final class CallPriority: Sendable {
    private struct State {
        var value: Double
        /// What others that wait for the same make of it.
        var floor = -Double.infinity
        var effective: Double { max(value, floor) }
        var lastToken: UInt64 = 0
        var observers = OneOrMany<UInt64, @Sendable () -> Void>()
    }

    /// The priority of what nobody waits for: prefetching.
    public static let background = -1.0

    private static let arrivals = Atomic(0)

    /// The place of the one who waits in the order in which they came: the order of making these.
    package let arrival: Int
    private let state: Mutex<State>

    /// A priority of `value`; what is no number counts as 0.
    public init(_ value: Double) {
        arrival = Self.arrivals.add(1, ordering: .relaxed).newValue
        state = Mutex(State(value: value.isNaN ? 0 : value))
    }

    /// A priority of its own with the value that another has now, in the same place in the order.
    package init(_ other: CallPriority) {
        arrival = other.arrival
        state = Mutex(State(value: other.value))
    }

    /// The priority now. Setting it tells the observers.
    public var value: Double {
        get { state.withLock { $0.effective } }
        set { if store(newValue) { notify() } }
    }

    /// Changes the value and tells nobody yet; returns whether it changed.
    package func store(_ value: Double) -> Bool {
        state.withLock { state in
            guard !value.isNaN else { return false }
            let before = state.effective
            state.value = value
            return state.effective != before
        }
    }

    /// Has it count as at least as urgent as `floor`, for somebody who is waits until this is done; tells nobody yet.
    ///
    /// - Returns: Whether that changed it.
    public func raise(to floor: Double?) -> Bool {
        state.withLock { state in
            let before = state.effective
            state.floor = floor ?? -.infinity
            return state.effective != before
        }
    }

    /// Tells the observers.
    public func notify() {
        state.withLock { $0.observers }.forEach { $0() }
    }

    /// Has `observer` told of changes until ``forget(_:)``.
    public func observe(_ observer: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastToken += 1
            state.observers[state.lastToken] = observer
            return state.lastToken
        }
    }

    /// Tells an observer nothing more.
    public func forget(_ token: UInt64) { state.withLock { $0.observers[token] = nil } }
}
