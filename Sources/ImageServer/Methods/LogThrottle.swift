/// Decides which lines of the log a client is told: at most so many in a second.
struct LogThrottle {
    private let most: Int
    private var start = Int.min / 2
    private var count = 0
    private var omitted = 0

    init(most: Int = 100) { self.most = most }

    /// How many lines were left out before this one; nil when it is left out itself.
    ///
    /// - Parameter now: Nanoseconds.
    mutating func admit(now: Int) -> Int? {
        if now - start >= 1_000_000_000 {
            start = now
            count = 0
        }
        guard count < most else {
            omitted += 1
            return nil
        }
        count += 1
        defer { omitted = 0 }
        return omitted
    }
}
