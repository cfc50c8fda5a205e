internal import Platform

/// Which of several sources of an image is to be begun next: a plain value.
///
/// The first is begun at once; the next when the last one begun has failed, or has not answered for a while.
struct Hedge: Sendable {
    /// How many sources there are.
    let count: Int
    /// How many have been begun.
    private(set) var begun = 0
    private var running = 0

    init(count: Int) { self.count = count }

    /// Begins the next source; nil if there is none.
    mutating func begin() -> Int? {
        guard begun < count else { return nil }
        begun += 1
        running += 1
        return begun - 1
    }

    /// Begins the source after one that has not answered for a while; nil if that has been begun already.
    mutating func overdue(_ source: Int) -> Int? { source + 1 == begun ? begin() : nil }

    /// Begins the next source after one has failed.
    ///
    /// - Returns: nil if there is none; `isOver` if none is under way either.
    mutating func failed() -> (next: Int?, isOver: Bool) {
        running -= 1
        let next = begin()
        return (next, running == 0)
    }
}
