/// Decides when a cache is cleaned: a plain value.
///
/// Cleaning is due when the interval has passed since the last one, or sooner when the engine has come to rest after
/// work. Before that it is put off as long as there is work, but not for more than twice the interval.
package struct CleaningSchedule: Sendable {
    /// Seconds from one cleaning to the next; 0 for never.
    package let interval: Double
    /// Seconds without work after which the engine is at rest.
    package var rest = 10.0

    package enum Decision: Equatable, Sendable {
        case clean
        /// Ask again in so many seconds.
        case wait(Double)
        /// There is nothing to do until something is asked for.
        case sleep
    }

    private var lastClean: Double
    private var lastWork: Double
    private var work: Int
    private var workAtClean: Int

    /// A schedule that begins at `now`, in seconds of a clock that never goes back.
    package init(interval: Double, now: Double) {
        self.interval = interval
        (lastClean, lastWork, work, workAtClean) = (now, now, 0, 0)
    }

    /// Decides at `now`.
    ///
    /// - Parameter work: A count that grows with everything that is asked for.
    package mutating func decide(at now: Double, work: Int) -> Decision {
        guard interval > 0 else { return .sleep }
        if work != self.work {
            self.work = work
            lastWork = now
        }
        let isAtRest = now - lastWork >= rest
        let age = now - lastClean
        let hasWorked = self.work != workAtClean
        if isAtRest && (hasWorked || age >= interval) || age >= 2 * interval { return .clean }
        if !isAtRest { return .wait(min(rest - (now - lastWork), max(2 * interval - age, 0.1))) }
        // At rest and clean: what expires meanwhile can wait for the next round.
        return .wait(interval - age)
    }

    package mutating func cleaned(at now: Double) {
        lastClean = now
        workAtClean = work
    }
}
