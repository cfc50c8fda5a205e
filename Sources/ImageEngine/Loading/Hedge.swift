internal import Platform

/// Selects the next source of an image to start: a plain value.
///
/// The first source starts at once, the next one when the last has failed or has not answered for some time.
struct Hedge: Sendable {
    let count: Int
    private(set) var begun = 0
    private var running = 0

    init(count: Int) { self.count = count }

    /// Starts the next source; `nil` when there is none.
    mutating func begin() -> Int? {
        guard begun < count else { return nil }
        begun += 1
        running += 1
        return begun - 1
    }

    /// Starts the source after one that has not answered for some time; `nil` when it has been started already.
    mutating func overdue(_ source: Int) -> Int? { source + 1 == begun ? begin() : nil }

    /// Starts the next source after one has failed.
    ///
    /// - Returns: `nil` as `next` when there is none; `isOver` is `true` when none is running either.
    mutating func failed() -> (next: Int?, isOver: Bool) {
        running -= 1
        let next = begin()
        return (next, running == 0)
    }
}
