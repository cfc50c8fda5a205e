/// Limits the log lines that are sent to a client per second.
struct LogThrottle {
    private let most: Int
    private var start = Int.min / 2
    private var count = 0
    private var omitted = 0

    init(most: Int = 100) { self.most = most }

    /// The number of lines dropped before this one; `nil` when this one is dropped too.
    ///
    /// - Parameter now: The time in nanoseconds.
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
