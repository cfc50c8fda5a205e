/// A token bucket, which limits the rate of starts.
///
/// It fills evenly up to `burst` tokens, and each start takes one, as in Nuke's rate limiter.
struct TokenBucket: Sendable, Equatable {
    /// The number of tokens added per second. 0: no limit.
    let rate: Double
    /// The capacity in tokens, at least one.
    let burst: Double
    private var tokens: Double
    private var filledAt: Int

    /// Creates a full bucket.
    ///
    /// - Parameter now: The time of a monotonic clock, in nanoseconds.
    init(rate: Double, burst: Int, at now: Int) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = Double(max(burst, 1))
        tokens = self.burst
        filledAt = now
    }

    /// The number of nanoseconds until a token is available; 0 when one is.
    mutating func delay(at now: Int) -> Int {
        guard rate > 0 else { return 0 }
        fill(at: now)
        // A smaller deficit is a rounding error.
        guard tokens < 1 - 1e-9 else { return 0 }
        let nanoseconds = (1 - tokens) / rate * 1e9
        return nanoseconds < 1e15 ? max(Int(nanoseconds.rounded(.up)), 1) : Int(1e15)
    }

    /// Takes a token. Returns `false` when none is available.
    mutating func takeToken(at now: Int) -> Bool {
        guard delay(at: now) == 0 else { return false }
        if rate > 0 { tokens -= 1 }
        return true
    }

    /// `true` when it holds as many tokens as it can.
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
