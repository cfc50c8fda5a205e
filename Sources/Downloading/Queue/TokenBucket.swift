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

    /// Creates a full bucket at `now`, in nanoseconds of a monotonic clock.
    init(rate: Double, burst: Int, at now: Int) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = Double(max(burst, 1))
        (tokens, filledAt) = (self.burst, now)
    }

    func hasLimits(of other: TokenBucket) -> Bool { (rate, burst) == (other.rate, other.burst) }

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

/// The limit of starts per time for each host.
///
/// Holds a ``TokenBucket`` for every host that started something recently. Full ones are dropped now and then, because
/// a new one is full too.
struct HostRate: Sendable, Equatable {
    /// The number of tokens per second and host. 0: no limit.
    let rate: Double
    let burst: Int
    private(set) var buckets: [String: TokenBucket] = [:]
    private var sweepCount = 1024

    init(rate: Double = 0, burst: Int = 1) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = burst
    }

    func hasLimits(of other: HostRate) -> Bool { (rate, burst) == (other.rate, other.burst) }

    /// The number of nanoseconds until a host may start something; 0 when it may now.
    mutating func delay(of host: String, at now: Int) -> Int {
        guard rate > 0 else { return 0 }
        return buckets[host]?.delay(at: now) ?? 0
    }

    mutating func countStart(of host: String, at now: Int) {
        guard rate > 0 else { return }
        if buckets.count >= sweepCount {
            buckets = buckets.filter { _, bucket in !bucket.isFull(at: now) }
            // Growing, so that the cost of a sweep is amortised however many hosts there are.
            sweepCount = max(1024, 2 * buckets.count)
        }
        _ = buckets[host, default: TokenBucket(rate: rate, burst: burst, at: now)].takeToken(at: now)
    }
}
