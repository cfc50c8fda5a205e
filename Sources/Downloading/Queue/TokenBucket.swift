/// How many things may start in a time: a plain value.
///
/// It fills evenly up to `burst` tokens; each start takes one. The classic token bucket, as Nuke's rate limiter (B-013).
struct TokenBucket: Sendable, Equatable {
    /// Tokens a second; 0 for no limit at all.
    let rate: Double
    /// The most tokens it holds; at least one.
    let burst: Double
    private var tokens: Double
    private var filledAt: Int

    /// A full bucket.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    init(rate: Double, burst: Int, at now: Int) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = Double(max(burst, 1))
        tokens = self.burst
        filledAt = now
    }

    /// How long, in nanoseconds, until there is a token; 0 when there is one.
    mutating func delay(at now: Int) -> Int {
        guard rate > 0 else { return 0 }
        fill(at: now)
        // What is missing by less than that is rounding.
        guard tokens < 1 - 1e-9 else { return 0 }
        let nanoseconds = (1 - tokens) / rate * 1e9
        return nanoseconds < 1e15 ? max(Int(nanoseconds.rounded(.up)), 1) : Int(1e15)
    }

    /// Takes a token; false when there is none.
    mutating func take(at now: Int) -> Bool {
        guard delay(at: now) == 0 else { return false }
        if rate > 0 { tokens -= 1 }
        return true
    }

    /// Whether it holds all it can.
    func isFull(at now: Int) -> Bool {
        var later = self
        later.fill(at: now)
        return rate == 0 || later.tokens >= burst
    }

    private mutating func fill(at now: Int) {
        guard now > filledAt else { return }
        tokens = min(burst, tokens + (Double(now) - Double(filledAt)) / 1e9 * rate)
        filledAt = now
    }
}
