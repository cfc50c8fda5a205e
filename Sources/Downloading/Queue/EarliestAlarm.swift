/// The moment of the earliest of the timers that are set. A later one that was set before counts no more when it rings: the
/// earlier one sets the next itself.
struct EarliestAlarm {
    private var moment: Int?

    /// Notes a moment; `false` when a timer for it, or for an earlier one, is set already.
    mutating func set(_ moment: Int) -> Bool {
        if let earliest = self.moment, earliest <= moment { return false }
        self.moment = moment
        return true
    }

    /// Notes that a timer has rung; `false` when it does not count any more.
    mutating func ring(at moment: Int) -> Bool {
        if self.moment != moment { return false }
        self.moment = nil
        return true
    }
}
