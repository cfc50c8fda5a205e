import Platform
import Synchronization

/// A number that tests count with from any task.
public final class Counter: Sendable {
    private let count = Atomic(0)

    /// A counter at zero.
    public init() {}

    /// The number.
    public var value: Int { count.load(ordering: .relaxed) }

    /// Adds one and returns the new number.
    @discardableResult
    public func add() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Does something as a thread does what it does in a row.
public func together(_ body: () throws -> Void) throws {
    var outcome: Result<Void, any Error> = .success(())
    Afterwards.gather { outcome = Result(catching: body) }
    try outcome.get()
}
